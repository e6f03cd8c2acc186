#pragma once

namespace zbs {

/// Text of schemas/openapi/zone.json and registry.json.
const char* zone_contract();
const char* registry_contract();

}  // namespace zbs

#pragma once

namespace zbs {

/// Text of schemas/openapi/zone.json, registry.json and node.json.
const char* zone_contract();
const char* registry_contract();
const char* node_contract();

}  // namespace zbs

#pragma once

namespace zbs {

/// OpenAPI documents of the zone, the registry and the node agent, which schemas/bundle.py merges.
const char* zone_contract();
const char* registry_contract();
const char* node_contract();

}  // namespace zbs

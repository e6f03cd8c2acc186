# Writes the documents of the services as C++: cmake -D FOLDER=... -D OUTPUT=... -P embed.cmake. FOLDER has zone.json, registry.json and node.json.
foreach(name zone registry node)
  file(READ ${FOLDER}/${name}.json ${name})
endforeach()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "schemas/contract.hpp"
namespace zbs {
const char* zone_contract() { return R"zbs_json(@zone@)zbs_json"; }
const char* registry_contract() { return R"zbs_json(@registry@)zbs_json"; }
const char* node_contract() { return R"zbs_json(@node@)zbs_json"; }
}  // namespace zbs
]])

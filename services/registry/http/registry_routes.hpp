#pragma once
#include "services/common/http/router.hpp"
#include "services/registry/domain/registry.hpp"

namespace zbs {

/// Routes of schemas/openapi/registry.json. `contract` is that document's text.
http::Router make_registry_routes(Registry& registry, std::string contract);

}  // namespace zbs

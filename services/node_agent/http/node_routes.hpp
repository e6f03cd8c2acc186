#pragma once
#include <string>

#include "services/common/authorisation/authorisation.hpp"
#include "services/common/http/router.hpp"
#include "services/common/ports/clock.hpp"
#include "services/node_agent/domain/node_service.hpp"
#include "services/node_agent/http/link_probe.hpp"

namespace zbs {

/// What the agent's handlers call. All of it lives on the domain's strand, and so do the handlers.
struct NodeServices {
    NodeService& node;
    InputStore& inputs;
    LinkProbe& probe;
    ProbeBudget& budget;  ///< of what other agents measure here
    const Clock& clock;
    Caller self;           ///< name of this agent
    Caller zone;           ///< the only one that may call, but for `getProbe`
    std::string contract;  ///< text of the OpenAPI document, schemas/openapi/node
};

/// Routes of schemas/openapi/node. `services` must outlive the router.
http::Router make_node_routes(NodeServices& services, http::RouterHooks hooks);

/// What every call passes before a handler sees it. Errors as `authorise` says.
Decision check_node_call(const NodeServices& services, Action action, const http::Call& call);
/// After that: whether an order of the zone that names its turn ("turn" in the query) is of a scheduler that another
/// has followed. Of other callers, and of what only reads, no turn counts. Errors: as `NodeService::take_turn`; a turn
/// that is no number, or none that a lease can have.
Result<void> check_turn(NodeServices& services, const http::Call& call);

}  // namespace zbs

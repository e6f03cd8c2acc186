#pragma once
#include <functional>
#include <memory>

#include "services/zone_scheduler/adapters/node/node_executor.hpp"
#include "services/zone_scheduler/assembly/leased_client.hpp"
#include "services/zone_scheduler/assembly/zone_core.hpp"
#include "services/zone_scheduler/program/credentials.hpp"
#include "services/zone_scheduler/program/storage.hpp"

namespace zbs::zone_program {

/// What runs steps on machines that have agents.
struct Nodes {
    std::unique_ptr<cpprest::HttpCaller> caller;  ///< agents live at private addresses, whatever may be said of peers
    std::unique_ptr<LeasedClient> client;
    std::unique_ptr<node::PieceReader> reader;
    std::unique_ptr<node::NodeExecutor> executor;

    /// Where agents are, as they register.
    void use(const NodeDirectory& directory);
    /// How one of them is made to probe another. `post` puts work on the domain's strand.
    NodeLinkSensor::Ask probe(const OrganisationName& organisation, node::NodeExecutor::Post post) const;
};

/// None where no machine has an agent. What `storage` has must outlive it: steps of this host are its executor's.
/// `lost`: as of LeasedClient.
std::optional<Nodes> make_nodes(ServiceHost& host, const ZoneSettings& settings, const StateFolder& state,
                                const Storage& storage, node::NodeExecutor::Post post,
                                std::function<void(const Error&)> lost, Log& log);

}  // namespace zbs::zone_program

#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/openssl/issuing/self_renewal.hpp"
#include "services/common/adapters/system/asio_clock.hpp"
#include "services/zone_scheduler/adapters/node/node_executor.hpp"
#include "services/zone_scheduler/assembly/leased_client.hpp"
#include "services/zone_scheduler/assembly/zone_core.hpp"
#include "services/zone_scheduler/program/credentials.hpp"
#include "services/zone_scheduler/program/edge.hpp"
#include "services/zone_scheduler/program/storage.hpp"

namespace zbs::zone_program {

/// What runs steps on machines that have agents.
struct Nodes {
    std::unique_ptr<cpprest::HttpCaller> caller;  ///< agents live at private addresses, whatever may be said of peers
    std::unique_ptr<LeasedClient> client;
    std::unique_ptr<node::PieceReader> reader;
    std::unique_ptr<node::NodeExecutor> executor;

    /// How one of them is made to probe another. `post` puts work on the domain's strand.
    NodeLinkSensor::Ask probe(const OrganisationName& organisation, node::NodeExecutor::Post post) const;
};

/// None where no machine has an agent. What `storage` has must outlive it: steps of this host are its executor's.
/// `directory`: the agents as they have registered; `lost`: as of LeasedClient.
std::optional<Nodes> make_nodes(ServiceHost& host, const ZoneSettings& settings, const StateFolder& state,
                                const Storage& storage, node::NodeExecutor::Directory directory,
                                node::NodeExecutor::Post post, std::function<void(const Error&)> lost, Log& log);

/// What the active scheduler of a zone is made of: its storage, what it calls others with, and the zone itself.
struct ActiveZone {
    Storage storage;
    std::unique_ptr<Allocations> allocations;
    std::unique_ptr<cpprest::HttpCaller> client;
    std::optional<Nodes> nodes;
    std::optional<system::BackgroundThreads> background;
    std::unique_ptr<ZoneCore> zone;
    std::unique_ptr<openssl::SelfRenewal> renewal;

    ActiveZone() = default;
    /// Answers that still come find nobody.
    ~ActiveZone();
    ActiveZone(const ActiveZone&) = delete;
    ActiveZone& operator=(const ActiveZone&) = delete;

    /// Makes the zone; nothing is served yet. All but `storage` have to outlive it. Errors: a Slurm that does not
    /// answer; the queue log's.
    static Result<std::unique_ptr<ActiveZone>> make(ServiceHost& host, ZoneSettings& settings, const StateFolder& state,
                                                    Storage storage, const std::string& config_path, Log& log);
    /// Takes up what the stores hold and begins. The settings have the zone's URL. Errors: the stores'.
    Result<void> begin(ServiceHost& host);
};

/// The storage has failed, or another has taken over: the storage holds the last good state, and nothing newer was sent
/// to anybody. Starting again recovers from there; going on, or trying once more, could not.
[[noreturn]] void end_at_once(Log& log, const Error& error, bool is_shared);

}  // namespace zbs::zone_program

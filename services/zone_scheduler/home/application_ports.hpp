#pragma once
#include <functional>
#include <string>
#include <vector>

#include "services/common/messages/peering.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/executor.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/storage/zone_store.hpp"
#include "services/common/ports/zone_transport.hpp"
#include "services/zone_scheduler/records/file_library.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"
#include "services/zone_scheduler/records/zone_observer.hpp"

namespace zbs {

struct ApplicationTrace;
class PeerService;
class DelegationService;

/// What a home works with; all must outlive it. A function that is left out: as where there is nothing of the kind.
struct ApplicationPorts {
    const ZoneConfig& config;
    Clock& clock;
    BackgroundWork& background;
    IdSource& ids;
    ZoneStore& store;
    Executor& executor;
    ZoneTransport& transport;
    PeerService& peers;
    Log& log;
    /// Receives events of applications and plans.
    ZoneObserver& observer = no_observer();
    std::function<void(const ApplicationTrace&)> step_observer{};  ///< receives each new application and each step
    /// Where users' delegations are, to show them to zones of other organisations; null: none is shown.
    DelegationService* delegations = nullptr;
    FileLibrary* files = nullptr;  ///< where the users' files and results are; null: none are taken
    /// As `ProfileLibrary::DigestOf`; empty: programs are known by their paths.
    std::function<std::string(const std::string& path)> program_digest{};
    /// The local account that a user's launcher runs as; empty: the zone's own.
    std::function<Result<AccountName>(const Caller&)> account_of{};
    /// The groups of a user for requests to other zones.
    std::function<std::vector<std::string>(const Caller&)> groups_of = [](const Caller&) {
        return std::vector<std::string>{};
    };
    std::function<bool(const Caller&)> is_blocked = [](const Caller&) { return false; };  ///< their applications end
    std::function<bool()> drains = [] { return false; };  ///< whether this zone takes no new work now
    /// Whether an organisation's conduct has cost it most of its trust: its zones are used last.
    std::function<bool(const OrganisationName&)> is_doubtful = [](const OrganisationName&) { return false; };
    /// Receives the conduct of an organisation's zones, at most once per part: held and ran it to a good end, or denied
    /// it while they owed it.
    std::function<void(const OrganisationName&, TrustEvent)> record_reputation = [](const OrganisationName&,
                                                                                    TrustEvent) {};
};

}  // namespace zbs

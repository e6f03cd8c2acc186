#pragma once
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/node.hpp"
#include "tests/simulation/user.hpp"

namespace zbs::simulation {

/// Looks on and says what must never be: "zone c gives processor 3 to two parts", with the ids.
class Checks {
  public:
    using Zones = std::map<std::string, const ZoneNode*>;
    using Liars = std::map<std::string, Duration>;  ///< when each last lied
    Checks(Timeline& time, const Jobs& jobs) : time_(time), jobs_(jobs) {}

    /// After every event, for a zone whose disk was written or that came or went.
    void look(const ZoneNode& zone);
    /// In calm weather: what a zone holds for others, their homes know of.
    void look_for_forgotten(const ZoneNode& zone, const Zones& homes);
    /// What a host answered.
    void served(const std::string& host, const http::Call& call, const http::Reply& reply);
    /// A home judges that a zone has broken its word.
    void judged(const std::string& home, const std::string& zone, const Liars& liars);
    void look_for_half_started(const ZoneNode& home, const User& user, const Zones& zones, const Liars& liars);
    void complaints(const User& user);
    /// A reserved start is moved by its home only, for which it takes other parts.
    void look_at_starts(const ZoneNode& home, const User& user);
    using Users = std::map<std::string, const User*>;  ///< by home zone
    /// The host of a zone is lost for good. Called before its processes are gone.
    void lost(const std::string& zone, const Zones& homes, const Users& users);
    /// What was lost with a zone ends within a minute, with a reason that names the zone, and leaves nothing behind.
    /// Other faults give all of them more time.
    void look_at_losses(const Zones& zones, const Users& users, Duration troubled_until);
    /// Once the world had time to come to rest.
    void at_rest(const ZoneNode& zone);
    void at_rest(const ZoneNode& home, const User& user, Duration calm_since);
    void jobs_at_rest();
    /// A zone could not start on what its disk has.
    void cannot_boot(const std::string& name, const Error& error) {
        fail("zone " + name + " cannot start again: " + error.message);
    }

    const std::optional<std::string>& violation() const { return violation_; }

  private:
    using Parts = std::vector<const PartRecord*>;
    void fail(std::string what) {
        if (!violation_) violation_ = std::move(what);
    }
    void check_processors(const ZoneNode& zone, const Parts& parts);
    void check_leases(const ZoneNode& zone, const Parts& parts);
    void check_starts(const ZoneNode& zone, const Parts& parts);
    void check_processes(const ZoneNode& zone, const Parts& parts);
    void check_completed(const ApplicationId& id, const ApplicationStatus& status);
    void check_calm(const ApplicationId& id, const ApplicationStatus& status);

    struct Hold {
        std::uint64_t life = 0;  ///< of the zone: a restart gives the full time again
        Duration since{};
    };
    struct Loss {  ///< of an application that was running
        std::string zone, home;
        ApplicationId id;
        Duration since{}, grace{};
        bool is_end_checked = false;
    };
    void check_end(const Loss& loss, const ApplicationStatus& status);
    void check_rest(const Loss& loss, const ApplicationStatus& status, const Zones& zones);
    void check_unbegun(const ApplicationId& id, const ApplicationStatus& status, int ranks);

    Timeline& time_;
    const Jobs& jobs_;
    std::vector<Loss> losses_;
    std::map<ApplicationId, std::string> unbegun_;  ///< with a part in that zone before their start, when it was lost
    std::set<std::string> lost_;                    ///< zones
    int processors_left_ = std::numeric_limits<int>::max();  ///< of zones that were not lost
    std::optional<std::string> violation_;
    std::map<PartId, Hold> holds_;
    struct Start {
        std::uint64_t life = 0;  ///< of the zone: after a restart it counts anew, by its wall clock
        Duration when{};
    };
    std::map<PartId, Start> starts_;           ///< of parts that were reserved
    std::map<PartId, Time> start_of_;          ///< of applications with a reserved start, by their first part
    std::map<PartId, std::uint64_t> made_in_;  ///< life of the zone in which a part was seen first
    std::map<PartId, Duration> forgotten_;     ///< since when
    std::map<std::pair<std::string, std::string>, std::uint64_t> token_of_;  ///< by zone and part
    std::map<std::pair<std::string, std::uint64_t>, std::string> part_of_;   ///< by zone and token
};

}  // namespace zbs::simulation

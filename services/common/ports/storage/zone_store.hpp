#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/application.hpp"
#include "services/common/messages/application_summary.hpp"
#include "services/common/messages/event.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/messages/profile.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/messages/staging.hpp"

namespace zbs {

/// A part as the zone that runs it remembers it.
struct PartRecord {
    Caller home_caller;  ///< who holds it: the home zone
    PartRequest request;
    PartStatus status;
    std::string operation;                 ///< of its launch; empty before
    std::vector<std::int32_t> processors;  ///< by rank, in the zone's own numbering
    std::vector<int> proxies;              ///< of its launch
    std::vector<MachineName> machines{};   ///< of its launch, by proxy
    bool profile = false;
    /// Once its processes have ended: why the site's own scheduler ended them; empty where it did not.
    std::optional<std::string> verdict{};
    AccountName account;  ///< its processes run in; empty: the zone's own
    /// Once launched: when. Before: when it is to start; none where that is as soon as home wishes.
    std::optional<Time> starts_at{};
    Time ended{};                            ///< once it has ended
    std::optional<Staging> staging{};        ///< files that home sends and wants back; none: home has asked for none
    std::optional<StagedResults> results{};  ///< once they are laid aside for home
    bool operator==(const PartRecord&) const = default;
};

/// One page of a list of applications, by their places, newest first.
struct ApplicationQuery {
    std::optional<Caller> owner;             ///< none: everybody's
    std::optional<ApplicationPlace> after;   ///< only what lies behind this place, be something there or not
    std::optional<Time> since{};             ///< only what was submitted then or later
    std::vector<ApplicationState> states{};  ///< only in one of these, each named once; empty: in any
    std::size_t limit = 100;
};

/// What is needed to remove one that has ended; whole records may hold megabytes.
struct EndedApplication {
    ApplicationId id;
    StepId launcher_step;  ///< empty where it had none
    bool operator==(const EndedApplication&) const = default;
};
struct EndedPart {
    PartId id;
    std::string operation;
    std::vector<int> proxies;
    bool operator==(const EndedPart&) const = default;
};

/// Where a zone keeps what it must not forget. Whole values in, whole values out. A failed call has changed nothing.
/// When what was written is durable is settled where the store is opened: with each call, or with a `Journal`'s commit.
class ZoneStore {
  public:
    virtual ~ZoneStore() = default;

    /// kConflict where the id exists or has existed. Its place in lists is settled here, and stays.
    virtual Result<void> insert(const Application& application) = 0;
    virtual Result<void> update(const ApplicationId& id, const ApplicationStatus& status) = 0;
    /// Those with something left to do (`is_open`), by id (oldest first).
    virtual Result<std::vector<Application>> load_open_applications() = 0;
    /// Cost: that of one row, however many there are; likewise `list_applications` for each row of its page, whatever
    /// it is asked.
    virtual Result<std::optional<Application>> find_application(const ApplicationId& id) = 0;
    virtual Result<std::vector<ApplicationSummary>> list_applications(const ApplicationQuery& query) = 0;
    /// How many are in each state: of those with something left to do, and of those that ended after `ended_after`.
    /// Without an `owner` everybody's. Cost: that of the rows that count, of everybody's.
    virtual Result<std::map<ApplicationState, std::size_t>> count_applications(const std::optional<Caller>& owner,
                                                                               Time ended_after) = 0;
    /// Those that ended before `time` and have nothing left to do, longest ago first.
    virtual Result<std::vector<EndedApplication>> ended_applications(Time time, std::size_t limit) = 0;
    /// Forgets all of it but that the id was used.
    virtual Result<void> remove(const ApplicationId& id) = 0;
    virtual Result<bool> was_removed(const ApplicationId& id) = 0;

    /// Inserts or replaces. kConflict where the id has been removed.
    virtual Result<void> save(const PartRecord& part) = 0;
    virtual Result<std::vector<PartRecord>> load_open_parts() = 0;  ///< not ended, by id
    virtual Result<std::optional<PartRecord>> find_part(const PartId& id) = 0;
    /// As of applications.
    virtual Result<std::vector<EndedPart>> ended_parts(Time time, std::size_t limit) = 0;
    /// Those that were launched and ended after `time`, the last one first. Cost: that of the rows it gives and of
    /// those between them that were not launched.
    virtual Result<std::vector<PartRecord>> recent_parts(Time time, std::size_t limit) = 0;
    virtual Result<void> remove(const PartId& id) = 0;
    virtual Result<bool> was_removed(const PartId& id) = 0;
    /// Adds an event with an id above all others. Of its application (or part) the newest `kMaxEventsOfOne` stay; with
    /// the record of the one it is about all go.
    virtual Result<void> append(const StateEvent& event) = 0;
    /// Cost: that of the rows it gives, and for an owner or an application of no others.
    virtual Result<std::vector<StateEvent>> events(const EventQuery& query) = 0;
    virtual Result<std::uint64_t> last_event() = 0;  ///< id; 0 where there is none

    /// A number that has never been returned before, not even before a restart.
    virtual Result<std::uint64_t> next_token() = 0;

    /// The wall clock when it was last believed; none where that was never noted.
    virtual Result<std::optional<Time>> believed_time() = 0;
    virtual Result<void> record_believed_time(Time now) = 0;

    virtual Result<void> save(const Peer& peer) = 0;
    virtual Result<std::vector<Peer>> load_peers() = 0;

    /// Removes those that have to give way (kMaxProfilesOfAKind, kMaxProfilesOfAnOwner). kConflict where the id exists.
    virtual Result<void> insert(const Profile& profile) = 0;
    /// Of this owner those with this program or, where it is not empty, this digest: newest first, at most `limit`.
    struct ProgramQuery {
        Caller owner;
        std::string program, digest;
        std::size_t limit = 200;
    };
    virtual Result<std::vector<ProfileSummary>> profiles_of(const ProgramQuery& query) = 0;
    virtual Result<std::vector<ProfileSummary>> list_profiles(const Caller& owner) = 0;  ///< newest first, at most 1000
    /// None where there is no such profile.
    virtual Result<std::optional<Caller>> profile_owner(const ProfileId& id) = 0;
    virtual Result<std::optional<Profile>> load_profile(const Caller& owner, const ProfileId& id) = 0;
};

}  // namespace zbs

#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/base/ids.hpp"
#include "algorithms/base/time.hpp"
#include "algorithms/base/words.hpp"
#include "algorithms/model/task_graph.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/common/messages/names/name_types.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/messages/staging.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs {

enum class ApplicationState {
    kAccepted,
    kPlanned,
    kHeld,
    kCommitted,
    kLaunching,
    kRunning,
    kCompleted,
    kFailed,
    kCancelled,
    kRejected,
};
constexpr auto words_of(ApplicationState) {
    return std::array{"accepted", "planned",   "held",   "committed", "launching",
                      "running",  "completed", "failed", "cancelled", "rejected"};
}
constexpr bool is_final(ApplicationState s) { return s >= ApplicationState::kCompleted; }

/// Free text for people: one line of at most 200 characters.
inline bool is_comment(std::string_view text) {
    constexpr std::ptrdiff_t kMaxCharacters = 200;
    const auto begins_one = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
    return !text.empty() && is_one_line(text) && std::ranges::count_if(text, begins_one) <= kMaxCharacters;
}

/// ScheduleApplication: what the user asks of the home scheduler. The client makes `id` and keeps it before it sends.
struct ApplicationRequest {
    ApplicationId id;
    std::string name{};     ///< for people; empty: none
    std::string comment{};  ///< as `is_comment` wants it; empty: none
    int ranks = 1;
    std::vector<std::string> argv;                                 ///< program and arguments; never passes a shell
    std::string directory;                                         ///< absolute working directory of every rank
    std::vector<std::pair<std::string, std::string>> environment;  ///< of every rank, sorted by name
    Duration walltime{};
    std::optional<ApplicationModel> model;  ///< overrides the stored profile
    /// Level-1 heuristic: auto, hier, multilevel, metis, global, block, round-robin, random.
    std::string mapper = "auto";
    std::uint64_t seed = 1;
    std::vector<ZoneName> zones;  ///< only these; empty = any
    std::string partition{};      ///< only machines in a partition of this name; empty: any
    bool profile = true;          ///< record this run
    bool use_profile = true;      ///< plan with the stored profile, where there is one
    Launcher launcher = Launcher::kMpich;
    Staging staging{};              ///< files that go with it and come back; its inputs are at home already
    int priority = kUsualPriority;  ///< where zones share processors by priority
    std::optional<int> share{};     ///< of each processor, per cent, where zones share them by shares
    Duration grace{};               ///< between SIGTERM and SIGKILL, as far as each zone gives it
    int overcommit = 1;             ///< ranks that may share a processor, as far as each zone allows it
    bool operator==(const ApplicationRequest&) const = default;
};

/// Why a zone got, or did not get, a share.
struct ZoneVerdict {
    ZoneName zone;
    int processors = 0;  ///< offered
    int ranks = 0;       ///< placed there
    std::string reason;
    /// When its share (of a zone without one: as much as it could take) may start: after the first time if what runs
    /// there ends as early as others before it, by the second in any case unless others take it; none where it never
    /// could. From the time of the answer on.
    struct StartRange {
        Duration from{};
        Duration to{};
        bool operator==(const StartRange&) const = default;
    };
    std::optional<StartRange> start{};
    int overcommit = 1;  ///< ranks that share a processor there
    bool operator==(const ZoneVerdict&) const = default;
};

/// A plan is data: it can be shown without changing anything.
struct ApplicationPlan {
    std::string profile;  ///< "request", "none", or the id of the stored profile, of several the newest
    std::vector<std::vector<TaskIndex>> clusters;  ///< tasks that stay together
    std::vector<ZoneName> zone_of_cluster;
    std::vector<ZoneName> zone_of_rank;
    std::vector<ZoneVerdict> zones;  ///< every zone asked
    int round = 1;                   ///< 1 + re-plans after refusals
    Duration start_in{};             ///< common start of all parts, from the time of the plan on; 0 = now
    bool queued = false;             ///< its only zone starts it in its turn; then `start_in` is what can be expected
    /// Bytes crossing zones, where a profile is known: this plan, and what the baselines would give on the same
    /// capacities.
    std::optional<double> crossing_bytes;
    std::optional<double> crossing_bytes_block;  ///< blocks of consecutive ranks (no profile)
    std::optional<double> crossing_bytes_round_robin;
    std::string learned{};  ///< what was made of stored profiles, or why nothing could be; for people, may be empty
    std::string digest{};   ///< of the program's file then, see `Profile::digest`
    std::optional<Duration> predicted{};  ///< run time, where earlier runs give one
    bool operator==(const ApplicationPlan&) const = default;
};

struct ApplicationPart {
    PartId id;
    ZoneName zone;
    std::vector<TaskIndex> ranks;      ///< ascending
    PartStatus status;                 ///< as last heard
    std::optional<PartId> replaces{};  ///< the part there that it takes the place of
    bool queued = false;               ///< its zone gives it processors when its queue discipline says so
    int overcommit = 1;                ///< ranks that share a processor there
    bool operator==(const ApplicationPart&) const = default;
};

struct StateChange {
    ApplicationState state = ApplicationState::kAccepted;
    Time at{};
    bool operator==(const StateChange&) const = default;
};

/// What a zone was asked for an application, and what came of it.
struct ApplicationEvent {
    Time at{};
    Time last{};  ///< of the same question with the same answer, `times` in a row
    int times = 1;
    int round = 1;  ///< of planning
    ZoneName zone;
    std::string what;    ///< capacity, hold, commit, ready, launch, status, release
    std::string answer;  ///< for people, at most `kMaxEventText` bytes
    bool ok = false;     ///< as home wished
    bool operator==(const ApplicationEvent&) const = default;
};
inline constexpr std::size_t kMaxEventText = 300;
/// Events kept of one application; the oldest give way.
inline constexpr std::size_t kMaxEvents = 400;

/// All that changes in the life of an application.
struct ApplicationStatus {
    ApplicationState state = ApplicationState::kAccepted;
    std::string reason;            ///< for people: why it failed, was rejected or waits
    std::optional<int> exit_code;  ///< 128 + n where a signal n ended it
    std::vector<StateChange> history;
    std::optional<ApplicationPlan> plan;
    std::vector<ApplicationPart> parts;
    std::vector<ApplicationPart> releasing;  ///< parts of failed rounds that still have to be given back
    StepId launcher_step;                    ///< empty before launch
    bool cancel_requested = false;
    std::string cancelled_by{};              ///< the operator who did, empty: its owner
    std::string stop_reason;                 ///< why the job is being stopped; empty = it is not
    std::optional<ProfileId> profile;        ///< what this run left
    std::optional<Time> start{};             ///< common start that is reserved; none: as soon as all is held
    std::optional<Time> queue_start{};       ///< while a part waits in a queue: its start, as its zone expected it last
    std::vector<ApplicationEvent> events{};  ///< by time
    std::optional<StagedResults> results{};  ///< once it has ended: what is at home of what it left
    bool operator==(const ApplicationStatus&) const = default;
};

/// Adds an event; one that says what the last of this zone and kind said only counts up.
void add_event(std::vector<ApplicationEvent>& events, ApplicationEvent event);

struct Application {
    Caller owner;
    ApplicationRequest request;
    ApplicationStatus status;
    bool operator==(const Application&) const = default;
};

/// A place in the order of a list of applications: the zone's clock when it took one, then the id.
struct ApplicationPlace {
    Time submitted{};
    ApplicationId id;
    auto operator<=>(const ApplicationPlace&) const = default;
};

/// One row of a list of applications.
struct ApplicationSummary {
    ApplicationId id;
    Caller owner;
    std::string name;  ///< what its owner calls it; empty: nothing
    ApplicationState state = ApplicationState::kAccepted;
    int ranks = 1;
    std::string program;          ///< argv[0]
    std::vector<ZoneName> zones;  ///< of its parts, sorted, each once
    std::string reason;
    Time submitted{};  ///< on the zone's clock; never changes
    std::optional<int> exit_code;
    std::optional<Time> started{};         ///< when its ranks ran in every zone
    std::optional<Time> ended{};           ///< when it came to its last state
    std::optional<Time> expected_start{};  ///< while it waits, as far as it is known
    std::string waits_for{};               ///< in a queue: `QueueOutlook::waits_for`
    std::uint64_t results_left_out = 0;    ///< that were asked for and did not come home
    bool operator==(const ApplicationSummary&) const = default;
};

inline ApplicationSummary summary_of(const Application& application) {
    const ApplicationStatus& status = application.status;
    ApplicationSummary row{.id = application.request.id,
                           .owner = application.owner,
                           .name = application.request.name,
                           .state = status.state,
                           .ranks = application.request.ranks,
                           .program = application.request.argv.empty() ? std::string{} : application.request.argv[0],
                           .reason = status.reason,
                           .submitted = status.history.empty() ? Time{} : status.history.front().at,
                           .exit_code = status.exit_code};
    if (status.results) row.results_left_out = status.results->left_out;
    for (const ApplicationPart& part : status.parts) row.zones.push_back(part.zone);
    for (const StateChange& change : status.history) {
        if (change.state == ApplicationState::kRunning) row.started = change.at;
        if (is_final(change.state)) row.ended = change.at;
    }
    if (status.state < ApplicationState::kLaunching) {
        row.expected_start = status.start;
        for (const ApplicationPart& part : status.parts) {
            if (!part.status.queue) continue;
            row.expected_start = status.queue_start;
            row.waits_for = part.status.queue->waits_for;
        }
    }
    std::sort(row.zones.begin(), row.zones.end());
    row.zones.erase(std::unique(row.zones.begin(), row.zones.end()), row.zones.end());
    return row;
}

inline ApplicationPlace place_of(const ApplicationSummary& row) { return {row.submitted, row.id}; }

/// Whether there is still something to do for it: it has not ended, or a zone may still hold a part of it.
inline bool is_open(const ApplicationStatus& status) { return !is_final(status.state) || !status.releasing.empty(); }

/// When it came to its state; the epoch where it has no history.
inline Time changed_at(const ApplicationStatus& status) {
    return status.history.empty() ? Time{} : status.history.back().at;
}

}  // namespace zbs

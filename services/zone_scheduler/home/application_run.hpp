#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "services/zone_scheduler/home/application_service.hpp"

/// What the source files of ApplicationService share; nobody else includes it.
namespace zbs {

inline constexpr Duration kReleaseRetry = std::chrono::seconds{1};
/// Longest reason that goes with a release, bytes.
inline constexpr std::size_t kMaxReason = 1'000;

/// What zones may start apart: clocks run at different speeds, and messages take time.
inline constexpr Duration kClockDrift = std::chrono::seconds{1};
/// How long after its start a reservation may still become ready, of the time that zones keep it for a launch.
inline constexpr int kSlipShare = 3;

/// Whether asking again with the same id may help.
inline bool is_passing(const Error& error) {
    return error.code == ErrorCode::kTimeout || error.code == ErrorCode::kUnavailable ||
           error.code == ErrorCode::kTooManyRequests;
}

inline constexpr const char* kRefusedBefore = "refused or did not answer in an earlier round";
inline constexpr const char* kWaitsInQueue = "waiting in the queue of its zone";

/// Whether a part of it is without processors until it is its turn.
bool waits_in_queue(const ApplicationStatus& status);

/// Whether files of the application go to this part's zone, and come from there: where it shares no file system.
bool needs_files(const ZoneConfig& config, const ApplicationRequest& request, const ApplicationPart& part);

struct ApplicationRun;
/// Adds to the events of an application: an answer of `zone` to `what`.
void record_answer(ApplicationRun& run, Time at, const ZoneName& zone, const char* what, bool ok,
                   const std::string& answer);

/// One application at work. What is not in `app` can be lost without harm.
struct ApplicationRun {
    Application app;
    std::optional<ApplicationModel> model;
    std::optional<ProfileLibrary::Choice> choice;  // what is learnt of its program
    Duration chosen{};                             // steady time of that
    std::set<ZoneName> excluded;                   // zones that refused in this series of plans
    int round = 1;
    int pending = 0;  // answers outstanding in this phase
    ZoneName failed_zone;
    std::string failed_reason;
    bool swaps = false;  // new parts are held in place of reserved ones
    struct Backoff {
        Duration until{};  // steady time
        int times = 0;
    };
    std::map<ZoneName, Backoff> backoffs;  // zones that offered an earlier start and then refused it
    bool was_denied = false;               // the zone refused for good, not for want of processors
    int denials = 0;                       // rounds that failed so
    bool needs_all = false;                // without the zones that have failed a launch the others could never hold it
    ZoneBackoff launch_backoff;            // zones that have not started their part of it
    bool launch_given_up = false;          // its launcher is being ended
    struct Promise {
        Duration until{};  // steady time, as far as we know surely
        Duration asked{};  // steady time
        Time asked_by_wall{};
    };
    std::map<PartId, Promise> obligations;  // what zones have promised us
    struct QueuePlace {
        ApplicationStatus status;
        std::map<PartId, Promise> obligations;
    };
    std::optional<QueuePlace> place;  // in a queue: where it goes back to if the zone that it is to leave for refuses
    Duration deadline{};              // steady time
    Duration start{};                 // steady time: of a reservation
    bool awaits_start = false;        // a timer for it is set
    bool turn_asked = false;          // the zone whose queue it waits in has been asked
    Duration asked_elsewhere{};       // steady time
    bool awaits_planning = false;     // in a cycle
    bool may_overtake = false;        // the last cycle found that it could start before others that wait
    bool has_turn = false;            // planned; its zones have not answered all holds
    bool busy = false;                // a phase with outstanding answers is under way
    bool launched = false;            // every zone has started its part
    bool launching = false;           // launcher and parts are being started; nothing else starts them
    Duration polled{};                // steady time at which the zones were last asked during the launch
    bool watching = false;            // the loop watch -> ask_how_it_ended -> finish is under way
    std::string must_stop;            // why it has to be stopped, where that could not be stored yet
    bool releasing = false;
    bool release_waits = false;              // a timer for the next try is set
    std::optional<Duration> launcher_until;  ///< steady time: it is stopped then, because the application is
    std::optional<Duration> deserted_since;  // steady time: all parts have ended, the launcher has not
    Duration weigh_at{};                     // steady time: how much output there is is looked at again
    Duration release_retry = kReleaseRetry;
    std::set<PartId> asked;      // part_status outstanding
    std::set<PartId> silent;     // whose zones did not answer when they were asked last
    std::size_t next_asked = 0;  // part, once the launcher has ended
    std::optional<ApplicationModel> profile;
    std::set<PartId> staged;               // have all their files
    std::map<PartId, Duration> windows;    // launch windows of their zones, as far as we know
    std::set<PartId> brought;              // all their results are here
    std::optional<Time> ended;             // when the launcher was first seen to have ended
    bool end_unknown = false;              // that was in an earlier life of this zone
    std::optional<StagedResults> results;  // brought home
};

}  // namespace zbs

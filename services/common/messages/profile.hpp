#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/ids.hpp"
#include "algorithms/base/time.hpp"
#include "algorithms/model/task_graph.hpp"
#include "services/common/messages/names/identity.hpp"

namespace zbs {

/// Of one program, argument class and number of ranks so many complete profiles are kept, and as many of runs that were
/// cut short; the oldest give way. More than `learning::kMergedRuns`, so that what gives way counts no longer.
inline constexpr std::size_t kMaxProfilesOfAKind = 8;
/// Of one owner; the oldest give way.
inline constexpr std::size_t kMaxProfilesOfAnOwner = 1'000;

/// A model of a finished run, or an imported one, in the home zone's store.
struct Profile {
    ProfileId id;
    Caller owner;
    std::optional<ApplicationId> application;  ///< none: imported
    Time at{};
    ApplicationModel model;  ///< model.program is argv[0] as submitted
    std::string digest{};  ///< SHA-256 of the program's file, 64 hexadecimal digits; empty where home could not read it
    std::string arguments{};              ///< their class, see learning::argument_class
    std::optional<Duration> predicted{};  ///< run time, as predicted before the run
    std::optional<Duration> measured{};   ///< of a run that ended by itself
    bool operator==(const Profile&) const = default;
};

/// All but the model.
struct ProfileSummary {
    ProfileId id;
    std::optional<ApplicationId> application;
    Time at{};
    std::string program;
    int ranks = 0;
    bool complete = true;
    std::string digest{};
    std::string arguments{};
    std::optional<Duration> predicted{};
    std::optional<Duration> measured{};
    UnseenCalls unseen{};  ///< as in the model
    bool operator==(const ProfileSummary&) const = default;
};
ProfileSummary summary_of(const Profile& profile);

/// How far predictions of the run times of one program, argument class and number of ranks were off.
struct PredictionError {
    int runs = 0;       ///< with a prediction and a measurement; the newest count most
    double mean = 0;    ///< 0.1: runs take 10 % longer than predicted
    double spread = 1;  ///< factor by which they usually differ from that
    double last = 0;    ///< as mean
    bool operator==(const PredictionError&) const = default;
};

/// A row of the list of profiles.
struct ProfileRow {
    ProfileSummary profile;
    std::optional<PredictionError> error{};  ///< of its kind, as of now
    bool operator==(const ProfileRow&) const = default;
};

/// A model made elsewhere that an owner wants to plan with.
struct ProfileImport {
    ProfileId id;                   ///< made by the client, so that a repeat changes nothing
    std::vector<std::string> argv;  ///< as the program will be submitted
    ApplicationModel model;
    std::optional<Duration> measured{};
    bool operator==(const ProfileImport&) const = default;
};

}  // namespace zbs

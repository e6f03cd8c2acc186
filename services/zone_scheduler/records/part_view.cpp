#include "services/zone_scheduler/records/part_view.hpp"

#include <algorithm>
#include <map>

#include "services/common/messages/limits.hpp"
#include "services/common/messages/steps/lost_machine.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/common/messages/steps/rank_end.hpp"

namespace zbs {
namespace {

/// In the folder of a machine's first step: a byte for each rank there that returned from MPI_Finalize.
constexpr const char* kFinalizedFile = ".zbs-profile.json.finalized";

std::string outside_reason(const PartStatus& part, bool asked) {
    if (part.reason.empty()) return {};
    switch (part.state) {
        case PartState::kExpired:
            return "the hold was not committed in time";
        case PartState::kReleased:
            if (!part.reason.starts_with(kWalltimeReason)) return "given back";
            asked = false;  // later: the walltime had ended it
            [[fallthrough]];
        case PartState::kFailed:
        case PartState::kRunning:
            if (asked) return "stops because its home asked for it";
            if (part.reason.starts_with(kWalltimeReason)) {  // home's own; so is what its ranks were at
                const std::string own = part.reason.substr(0, part.reason.find(kBeforeWalltimeReason));
                return std::string(kWalltimeReason) + " reached in zone " + part.zone +
                       own.substr(std::min(own.find(": "), own.size())) +
                       (part.first_end ? std::string(kBeforeWalltimeReason) + describe(*part.first_end, {}) : "");
            }
            if (part.reason.starts_with(kTakenBackReason))
                return std::string(kTakenBackReason) + " by zone " + part.zone;
            if (part.reason.starts_with(kLostMachineReason))  // without its name
                return std::string(kLostMachineReason) + " in zone " + part.zone;
            if (part.reason.starts_with(kLostSupervisorReason))
                return std::string(kLostSupervisorReason) + " in zone " + part.zone;
            if (part.reason.starts_with(kFolderReason))  // without the amount
                return std::string(kFolderReason) + " in zone " + part.zone;
            if (part.reason.starts_with(kStoppedReason)) return std::string(kStoppedReason) + " in zone " + part.zone;
            if (part.reason.starts_with(kNotBegunReason)) return part.reason;  // home's own folder or program
            if (part.first_end) return describe(*part.first_end, {});
            return "zone " + part.zone + " could not start it, or its processes did not end well; ask its operator";
        default:
            return "ended by zone " + part.zone;
    }
}

}  // namespace

PartStatus outside_view(PartStatus inside, bool asked) {
    struct Alias {
        MachineName name;
        std::map<std::int32_t, std::int32_t> processors;
    };
    std::map<MachineName, Alias> aliases;
    for (RankPlace& place : inside.assignment) {
        Alias& alias = aliases[place.machine];
        if (alias.name.empty()) alias.name = MachineName("n" + std::to_string(aliases.size() - 1));
        const auto next = static_cast<std::int32_t>(alias.processors.size());
        place.machine = alias.name;
        place.processor = alias.processors.emplace(place.processor, next).first->second;
    }
    inside.reason = outside_reason(inside, asked);
    return inside;
}

std::vector<StepId> step_ids(const std::string& operation, const std::vector<int>& proxies) {
    std::vector<StepId> steps;
    for (const int proxy : proxies) steps.emplace_back(operation + "-p" + std::to_string(proxy));
    return steps;
}

std::string ranks_at_walltime(StepFiles& files, const std::vector<StepId>& steps, std::size_t ranks) {
    constexpr std::uint64_t kMaxBytes = 64;
    std::size_t finalized = 0;
    bool is_at_work = false;  ///< a rank that finalized because of the walltime leaves its byte, too
    std::string unusual;
    for (const StepId& step : steps) {
        if (const Result<std::string> marks = files.read(step, kFinalizedFile, 0, limits::kMaxRanks))
            finalized += marks->size();
        is_at_work = is_at_work || files.read(step, std::string(own_files::kAtWork), 0, kMaxBytes).has_value();
        const Result<std::string> found = files.read(step, std::string(own_files::kUnusual), 0, kMaxBytes);
        if (found && unusual.empty()) unusual = describe_finding(*found);
    }
    if (ranks > 0 && finalized >= ranks && !is_at_work) return std::string(kNoneExitsReason);
    return unusual.empty() ? "" : ": " + unusual;
}

Error no_such_part(const PartId& id) {
    return {ErrorCode::kNotFound, "no part " + to_string(id) + " of yours is here", {}};
}

std::string results_shelf(const PartId& part) { return "part+" + to_string(part); }
std::string results_shelf(const ApplicationId& application) { return "application+" + to_string(application); }

std::string of_size(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace zbs

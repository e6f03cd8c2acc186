#include "services/node_agent/domain/work_meter.hpp"

#include <algorithm>
#include <utility>

namespace zbs {
namespace {

constexpr double kIoBytesPerSecond = 256 * 1024;
constexpr std::uint64_t kBytesOfAWait = 64 * 1024;
constexpr double kSliceSeconds = 0.2;   ///< what the threshold of communication is for
constexpr double kMinProcessor = 0.01;  ///< that a step uses which does something

/// Sums over what lives now become smaller when something ends.
std::uint64_t growth(std::uint64_t before, std::uint64_t now) { return now > before ? now - before : 0; }

}  // namespace

void WorkMeter::observe(const StepUsage& usage, std::uint64_t suspension_switches, Duration now) {
    const std::optional<Look> before = std::exchange(last_, Look{usage, suspension_switches, now});
    if (!before || now <= before->at) return;
    const double seconds = to_seconds(now - before->at);
    const std::uint64_t bytes =
        growth(before->usage.read_bytes, usage.read_bytes) + growth(before->usage.written_bytes, usage.written_bytes);
    const std::uint64_t explained = bytes / kBytesOfAWait + growth(before->suspension_switches, suspension_switches);
    const std::uint64_t waits = growth(explained, growth(before->usage.voluntary_switches, usage.voluntary_switches));
    const double communications =
        static_cast<double>(waits) / std::max(usage.processes, 1) * kSliceSeconds / std::max(seconds, kSliceSeconds);
    const gang::SliceEvidence evidence =
        gang::evidence_of({.blocked_on_io = static_cast<double>(bytes) >= kIoBytesPerSecond * seconds,
                           .communications = static_cast<std::int32_t>(std::min(communications, 1e6))});
    const bool computes = to_seconds(usage.cpu - before->usage.cpu) >= kMinProcessor * seconds;
    if (evidence.computation && !computes) return;
    belief_ = gang::update_bayesian(belief_, evidence, gang::kMembershipFloor);
    has_seen_ = true;
}

std::optional<StepWork> WorkMeter::work() const {
    if (!has_seen_) return std::nullopt;
    switch (gang::class_of(belief_.f)) {
        case gang::TaskClass::kComputation:
            return StepWork::kComputation;
        case gang::TaskClass::kIo:
            return StepWork::kIo;
        case gang::TaskClass::kCommunication:
            return StepWork::kCommunication;
        case gang::TaskClass::kUndecided:
            break;
    }
    return StepWork::kMixed;
}

}  // namespace zbs

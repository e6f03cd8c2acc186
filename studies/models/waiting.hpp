#pragma once
#include <cstdint>

#include "algorithms/base/time.hpp"

namespace zbs::gang {

/// The network by two of LogP's parameters; gap and processors are not needed here. Whole nanoseconds, for published
/// overheads are fractions of a microsecond.
struct NetworkCost {
    std::int64_t latency_ns = 10'000;  ///< L
    std::int64_t overhead_ns = 8'750;  ///< o, at the sender and again at the receiver
};
/// How long a request and its answer take on an idle network, 2 L + 4 o [DaSilva2000, section 8.3]: spinning so long
/// is the least that keeps tasks coordinated which already are. Rounded up.
Duration baseline_spin(const NetworkCost& network);
/// Processor time of one send or one receive, rounded up.
Duration message_overhead(const NetworkCost& network);
Duration message_latency(const NetworkCost& network);

/// How a task that runs in its own slice waits for a message or a barrier.
enum class WaitMode : std::uint8_t {
    kSpin,           ///< until it is there
    kSpinThenBlock,  ///< for the baseline time, then leave the processor to others
    kBlock,          ///< leave it at once
};
struct SpinSituation {
    bool io_task_here = false;        ///< a task classified as I/O intensive or interactive lives on this processor
    bool io_task_ready = false;       ///< one of those is ready
    Duration slice_after_baseline{};  ///< what will be left of the slice when the baseline time is over
};
/// Spin control [DaSilva2000, section 8.3]: waiting is given up only where an I/O task can make use of at least
/// `worthwhile` (delta of the paper: more than two context switches, four in its experiments).
WaitMode spin_control(const SpinSituation& situation, Duration worthwhile);

}  // namespace zbs::gang

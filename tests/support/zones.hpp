#pragma once
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/model/workload.hpp"
#include "algorithms/model/zone_state.hpp"

namespace zbs::test {

/// A zone in the middle of its work. Its clock stands at `kNow`; durations count from there.
///     zone(4).running(9, 3, 5s).queued(1, 4, 9s).queued(2, 1, 5s)
class ZoneBuilder {
  public:
    static constexpr Time kNow{std::chrono::seconds{1'000'000}};

    explicit ZoneBuilder(std::int32_t processors) : state_({.processors = processors}) {}

    /// A job that holds `processors` and ends `remaining` from now, as far as anybody knows.
    ZoneBuilder& running(std::int64_t id, std::int32_t processors, Duration remaining);
    struct Waiting {
        Duration waited{};
        std::int32_t priority = 0;
    };
    /// A job behind those queued already.
    ZoneBuilder& queued(std::int64_t id, std::int32_t processors, Duration walltime, const Waiting& waiting);
    ZoneBuilder& queued(std::int64_t id, std::int32_t processors, Duration walltime) {
        return queued(id, processors, walltime, Waiting{});
    }

    const ZoneState& state() const { return state_; }
    ZoneSnapshot snapshot() const { return state_.snapshot(); }

  private:
    ZoneState state_;
};
inline ZoneBuilder zone(std::int32_t processors) { return ZoneBuilder(processors); }

/// A job of a hand-made workload, in seconds.
struct PlainJob {
    int submit = 0;
    int processors = 1;
    int walltime = 1;
    int runtime = 0;  ///< 0: as long as the walltime
    int priority = 0;
};
/// The jobs in the order given, which must be that of submission, numbered from 1.
Workload workload(int processors, std::initializer_list<PlainJob> jobs);

/// The start of every job in whole seconds when `workload` is replayed under the policy of that name.
std::vector<int> starts_under(const std::string& policy,
                              const std::vector<std::pair<std::string, std::string>>& options,
                              const Workload& workload);

/// What random_workload draws from; every number is uniform.
struct RandomWorkload {
    std::uint64_t seed = 1;
    std::int32_t processors = 16;
    std::size_t jobs = 60;
    std::int32_t widest = 16;
    int longest = 100;     ///< run time, seconds
    int gap = 20;          ///< largest time between two submissions, seconds; many are 0
    int overestimate = 4;  ///< largest walltime / run time; a third of the jobs know their run time exactly
    std::int32_t users = 3;
};
Workload random_workload(const RandomWorkload& options);

}  // namespace zbs::test

#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/checks.hpp"
#include "tests/simulation/node.hpp"

namespace zbs::simulation {

/// The faults of a world: crashes in the middle of things, restarts, services that are stopped and wake up stale,
/// partitions, bad lines, slow disks, clocks that jump, processes that die, peers that answer nonsense.
class Storm {
  public:
    Storm(Timeline& time, Chronicle& chronicle, Network& network, Jobs& jobs, Rng rng, Checks& checks)
        : time_(time), chronicle_(chronicle), network_(network), jobs_(jobs), rng_(rng), checks_(checks) {}

    void add(Node& node) {
        nodes_.push_back(&node);
        node.on_end([this, &node] { ended(node); });
    }
    /// Begins now; at `end` everything is mended at once.
    void rage_until(Duration end);
    /// Since when all is well; none while it is not.
    /// Whose answers and calls were ever bent, and when last.
    const Checks::Liars& liars() const { return liars_; }
    std::optional<Duration> calm_since() const { return over_ ? std::optional(end_) : std::nullopt; }
    int crashes() const { return crashes_; }
    int partitions() const { return partitions_; }

  private:
    void strike();
    void crash(Node& node);
    void ended(Node& node);
    void finish_crash(Node& node);
    void fail_disk(Node& node);
    void boot(Node& node);
    void stop_for_a_while(Node& node);
    void divide();
    void bad_lines();
    void slow_disk(Node& node);
    void jump(Node& node);
    void bend(Node& node);
    void mend();
    Node& any() { return *nodes_[rng_.below(nodes_.size())]; }
    Duration between(Duration low, Duration high) {
        return low +
               Duration{static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>((high - low).count()) + 1))};
    }

    Timeline& time_;
    Chronicle& chronicle_;
    Network& network_;
    Jobs& jobs_;
    Rng rng_;
    Checks& checks_;
    std::vector<Node*> nodes_;
    Duration end_{};
    Checks::Liars liars_;
    bool over_ = false;
    int crashes_ = 0;
    int partitions_ = 0;
};

}  // namespace zbs::simulation

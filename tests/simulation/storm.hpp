#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/checks.hpp"
#include "tests/simulation/node.hpp"
#include "tests/simulation/storm_plan.hpp"

namespace zbs::simulation {

/// The faults of a world, as a plan describes them.
class Storm {
  public:
    Storm(const StormPlan& plan, Timeline& time, Chronicle& chronicle, Network& network, Jobs& jobs, Rng rng,
          Checks& checks)
        : plan_(plan),
          time_(time),
          chronicle_(chronicle),
          network_(network),
          jobs_(jobs),
          rng_(rng),
          checks_(checks),
          strikes_(plan.entries.size()) {}

    void add(Node& node) {
        nodes_.push_back(&node);
        node.on_end([this, &node] { ended(node, disk_failed_); });
    }
    /// Begins now; at its end everything is mended at once.
    void rage();
    /// All users submit so many applications.
    std::function<void(int applications)> on_burst;
    /// The host of that zone is lost for good.
    std::function<void(const std::string& zone)> on_loss;
    bool is_lost(const std::string& host) const { return lost_.contains(host); }
    /// Until when other faults than a loss may have an effect at the latest, of those that struck so far.
    Duration troubled_until() const { return troubled_until_; }
    /// Whose answers and calls were ever bent, and when last.
    const Checks::Liars& liars() const { return liars_; }
    /// Since when all is well; none while it is not.
    std::optional<Duration> calm_since() const { return over_ ? std::optional(end_) : std::nullopt; }
    int crashes() const { return crashes_; }
    int partitions() const { return partitions_; }

  private:
    void strike();
    /// One of the entries whose phase it is, by weight; null where there is none.
    const StormEntry* choose();
    void strike(const StormFault& fault);
    void crash(Node& node, const StormFault& fault);
    void ended(Node& node, const StormFault& fault);
    void finish_crash(Node& node, const StormFault& fault);
    void fail_disk(Node& node);
    void boot(Node& node);
    void stop_for_a_while(Node& node, const StormFault& fault);
    void lose(Node& node);
    void divide(const StormFault& fault);
    void bad_lines(const StormFault& fault);
    void slow_disk(Node& node, const StormFault& fault);
    void jump(Node& node, const StormFault& fault);
    void bend(Node& node, const StormFault& fault);
    void mend();
    bool is_registry(const Node& node) const { return &node == nodes_.front(); }
    Node& any() { return *nodes_[rng_.below(nodes_.size())]; }
    Node& any_of(const StormFault& fault);
    Duration as_long_as(const StormFault& fault) { return between(fault.least, fault.most); }
    Duration between(Duration low, Duration high) {
        return low +
               Duration{static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>((high - low).count()) + 1))};
    }

    const StormPlan& plan_;
    Timeline& time_;
    Chronicle& chronicle_;
    Network& network_;
    Jobs& jobs_;
    Rng rng_;
    Checks& checks_;
    /// How long a service is away whose disk has failed.
    const StormFault disk_failed_{.least = std::chrono::milliseconds{200}, .most = std::chrono::seconds{120}};
    std::vector<Node*> nodes_;
    std::vector<int> strikes_;  ///< of each entry
    Duration begin_{}, end_{};
    Duration troubled_until_{};
    std::set<std::string> lost_;
    Checks::Liars liars_;
    bool over_ = false;
    int crashes_ = 0;
    int partitions_ = 0;
};

}  // namespace zbs::simulation

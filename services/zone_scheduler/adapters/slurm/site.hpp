#pragma once
#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/time.hpp"

namespace zbs::slurm {

/// Release of Slurm, as 22.5 for "slurm-wlm 22.05.8".
struct Version {
    int major = 0;
    int minor = 0;
    auto operator<=>(const Version&) const = default;
};

struct Partition {
    std::string name;
    bool is_default = false;
    std::string fault;                     ///< why it takes no jobs ("state DRAIN"); empty where it does
    std::optional<Duration> max_walltime;  ///< of one job; none = unlimited
    std::optional<int> max_nodes;          ///< of one job; none = unlimited
    std::vector<std::string> nodes;
    bool operator==(const Partition&) const = default;
};

struct Node {
    std::string name;
    int processors = 0;
    std::string fault;   ///< why it runs no new jobs ("drained: disk failing"); empty where it does, now or later
    int allocated = 0;   ///< processors that jobs have, whoever's
    std::string host{};  ///< that it runs on, where Slurm reports one; several nodes may be on one, for tests
    bool operator==(const Node&) const = default;
};

/// What of a cluster's settings concerns who uses it.
struct ClusterSettings {
    std::string name;
    Duration remembers{};  ///< for how long an ended job can be asked about (MinJobAge)
    Duration kill_wait{};  ///< between SIGTERM and SIGKILL where a job is cancelled (KillWait)
    bool operator==(const ClusterSettings&) const = default;
};

/// A cluster as Slurm reports it: enough to make machines of a zone of it and to know the limits of one job.
struct Site {
    Version version;
    ClusterSettings settings;
    std::vector<Partition> partitions;  ///< in Slurm's order
    std::vector<Node> nodes;            ///< each once, in Slurm's order
};

}  // namespace zbs::slurm

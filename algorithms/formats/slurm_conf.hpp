#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs::formats {

struct SlurmPartition {
    std::string name;
    std::optional<std::int64_t> max_time_s;  ///< no job runs longer; none: not limited
    bool operator==(const SlurmPartition&) const = default;
};

/// A machine as its slurm.conf describes it.
struct SlurmMachine {
    static constexpr std::int64_t kMaxProcessors = 100'000'000;

    std::int64_t processors = 0;             ///< CPUs of all nodes, except those that are for the future
    std::vector<SlurmPartition> partitions;  ///< in the order of the file
    bool operator==(const SlurmMachine&) const = default;
};

/// Reads the lines NodeName and PartitionName; all others are passed over, and included files are not read. Linear.
/// Errors, kInvalidArgument, have `SOURCE:LINE` as pointer: a value that cannot be read, no node at all, more than
/// SlurmMachine::kMaxProcessors.
Result<SlurmMachine> read_slurm_conf(std::string_view text, std::string_view source);

/// A time limit as Slurm writes it, in seconds: "90" (minutes), "90:30", "1:30:30", "2-12", "2-12:00", "2-12:00:30"; 0
/// for UNLIMITED and INFINITE. Nothing where it is none of these.
std::optional<std::int64_t> parse_slurm_time(std::string_view text);

/// Whether they are the same but for the case of ASCII letters, as Slurm compares its keywords.
bool is_same_keyword(std::string_view a, std::string_view b);

}  // namespace zbs::formats

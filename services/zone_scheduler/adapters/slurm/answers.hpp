#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/zone_scheduler/adapters/slurm/allocation.hpp"
#include "services/zone_scheduler/adapters/slurm/site.hpp"

/// Readers of what Slurm's commands print, each with the arguments that make a command print it so. Times are asked for
/// as Unix seconds (SLURM_TIME_FORMAT=%s). All are strict: a text that is not understood is an error with its place
/// ("squeue:3"), never half an answer.
namespace zbs::slurm {

/// "slurm-wlm 22.05.8", of `sinfo --version`.
Result<Version> parse_version(std::string_view text);

/// `UNLIMITED`, `MM`, `MM:SS`, `[D-]HH:MM:SS`; none = unlimited.
Result<std::optional<Duration>> parse_time_limit(std::string_view text);

/// Of `scontrol show config`.
Result<ClusterSettings> parse_settings(std::string_view text);
/// Of `scontrol show partition --oneliner`.
Result<std::vector<Partition>> parse_partitions(std::string_view text);

inline constexpr const char* kNodeFormat = "%N|%c|%T|%C|%E";
/// Of `sinfo --noheader --Node --format=kNodeFormat`.
Result<std::vector<Node>> parse_nodes(std::string_view text);
/// Of `sinfo --json` up to Slurm 22.05, `scontrol --json show nodes` from 23.02 on.
Result<std::vector<Node>> parse_nodes_json(std::string_view text);

/// One line of squeue.
struct JobLine {
    std::string name;
    std::uint32_t job = 0;
    std::string state, reason, user, partition, reservation, comment;
    std::optional<Time> start, end;
    std::vector<std::string> nodes;
    bool operator==(const JobLine&) const = default;
};
inline constexpr const char* kJobFormat = "%A|%T|%u|%P|%S|%e|%N|%j|%v|%r|%k";
/// Of `squeue --noheader --states=all --format=kJobFormat`.
Result<std::vector<JobLine>> parse_jobs(std::string_view text);

/// How far a job in this state is. Errors: a word that no known release of Slurm has.
Result<Phase> phase_of(std::string_view state);

/// Processors per node of the job called `name`, of `scontrol show job --details --oneliner NUMBER`; empty where it has
/// none. What its owner may write into it (a comment) is not taken for an answer of Slurm.
Result<std::vector<NodeShare>> parse_shares(std::string_view text, std::string_view name);

/// Slurm's number of a job that was submitted, of `sbatch --parsable`: "7" or "7;cluster".
Result<std::uint32_t> parse_submitted(std::string_view text);

}  // namespace zbs::slurm

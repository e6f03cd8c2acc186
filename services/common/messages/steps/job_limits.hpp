#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs {

/// Variables of a job's environment by which its owner sets the umask and the soft limits of her ranks.
inline constexpr const char* kUmaskVariable = "ZBS_UMASK";
inline constexpr const char* kLimitsVariable = "ZBS_ULIMIT";

/// Octal, 0 to 777. Errors: kInvalidArgument.
Result<unsigned> parse_umask(std::string_view text);

/// A soft limit of a process, by the name of its option of `ulimit` in words.
struct JobLimit {
    std::string name;                    ///< one of job_limit_names()
    std::optional<std::uint64_t> value;  ///< none: unlimited
    bool operator==(const JobLimit&) const = default;
};
const std::vector<std::string>& job_limit_names();

/// "stack=unlimited,nofile=4096,memlock=64M": a number may end with K, M or G (1024 each). Errors: kInvalidArgument.
Result<std::vector<JobLimit>> parse_job_limits(std::string_view text);

/// What is wrong with the name of a variable for ranks; empty if nothing is. A shell starts each rank: it passes on
/// names of letters, digits and '_' only, and sets some variables itself, as zones and MPI launchers do.
std::string environment_name_fault(std::string_view name);

/// Whether a shell sets this variable itself: its value for ranks is not the one that was given.
bool is_set_by_shells(std::string_view name);

/// Whether this variable belongs to the zone, to the MPI launcher or to the commands of ZBS: a job around this one may
/// have set it, and ranks get the value of their own zone and launcher, or none.
bool is_set_by_zones(std::string_view name);

}  // namespace zbs

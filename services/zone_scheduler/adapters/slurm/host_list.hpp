#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs::slurm {

/// Whether Slurm's commands would take `name` as one node's name and nothing else.
bool is_node_name(std::string_view name);

/// The names that a list as "n[1-3,7],rack[0-1]x[08-10]" stands for, in its order. Empty, "(null)" and "None" are no
/// names. Errors: kInvalidArgument with the place; kTooLarge beyond limits::kMaxSlurmNodes.
Result<std::vector<std::string>> parse_host_list(std::string_view text);

/// The names joined by commas, which every command of Slurm takes.
std::string write_host_list(const std::vector<std::string>& names);

}  // namespace zbs::slurm

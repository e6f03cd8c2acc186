#pragma once
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs::cli {

/// The model that files hold: augmented ASCII logs of one run, its rank files or traces, or one model. Errors name the
/// file, and the place in it.
Result<ApplicationModel> read_profile_source(const std::vector<std::string>& paths);

/// A model for people: sums, and the matrix.
void describe_model(const ApplicationModel& model);

}  // namespace zbs::cli

#pragma once
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/model/task_graph.hpp"
#include "client/api/application_answer.hpp"
#include "client/calls/repeated_call.hpp"
#include "client/cli/context.hpp"
#include "services/common/messages/application.hpp"

/// Applications as people read them.
namespace zbs::cli {

using client::ApplicationView;
/// Local time with milliseconds.
std::string clock_text(Time time);
/// Local time in seconds; "-" where there is none.
std::string time_text(const std::optional<Time>& time);
/// "ana" of the reader's own organisation, else the whole URI.
std::string user_text(const std::string& uri, const Caller& reader);
/// "2 results that were asked for did not come back".
std::string left_out_text(std::uint64_t count);
/// One row per application of a home zone's list. Whose it is stands in tables for operators only: others see their
/// own. `now`: until when those that run have run, by the zone's clock; none: by this host's.
Listing applications_of(const std::vector<ApplicationView>& applications, const Caller& reader,
                        const std::optional<Time>& now = {});
/// Whether it has started and not ended, so that the time it has run depends on the clock.
bool runs_still(const ApplicationView& application);
/// How long it has run, as of `now` where it runs still; none where it has not started.
std::optional<Duration> elapsed_of(const ApplicationView& application, Time now);
/// "0-3,7".
std::string ranks_text(const std::vector<TaskIndex>& ranks);
/// `planned`: when the plan was made; what it expects counts from then on. None: now.
void describe_plan(std::ostream& out, const ApplicationPlan& plan, const std::optional<Time>& planned = {});
/// When each zone could start its share.
Listing starts_of(const ApplicationPlan& plan);
/// What every zone was asked and answered, by time.
Listing events_of(const std::vector<ApplicationEvent>& events);
/// Rank matrix of the profile, rows and columns grouped by the zones of the plan.
void draw_plan_matrix(std::ostream& out, const ApplicationPlan& plan, const TaskGraph& graph);
using client::is_ended;
/// What a part that waits in a zone's queue can expect, on one line.
std::string queue_text(const client::QueueView& outlook);
/// The least time to save that a zone gives to this application, if that is less than asked for; else empty.
std::string grace_text(const ApplicationView& view);
/// What a command that waited for this application exits with.
int code_of_end(const ApplicationView& view);

}  // namespace zbs::cli

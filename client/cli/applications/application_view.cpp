#include "client/cli/applications/application_view.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <ostream>

#include "algorithms/base/duration_text.hpp"
#include "algorithms/base/text.hpp"
#include "services/common/adapters/system/wall_clock.hpp"

namespace zbs::cli {

using codec::Json;

std::string clock_text(Time time) {
    const std::int64_t us = to_microseconds(time);
    const std::time_t seconds = static_cast<std::time_t>(us / 1'000'000);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    char text[48];
    const std::size_t end = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    std::snprintf(text + end, sizeof text - end, ".%03d", static_cast<int>(us % 1'000'000 / 1'000));
    return text;
}

std::string time_text(const std::optional<Time>& time) {
    return time ? clock_text(*time).substr(0, sizeof "2026-11-28 14:05:00" - 1) : "-";
}

std::string user_text(const std::string& uri, const Caller& reader) {
    const std::optional<Caller> owner = parse_identity(uri);
    return owner && owner->is_user_of(reader.organisation) ? owner->name : uri;
}

std::string left_out_text(std::uint64_t count) {
    return std::to_string(count) + (count == 1 ? " result that was" : " results that were") +
           " asked for did not come back";
}

bool runs_still(const ApplicationView& application) { return application.started && !application.ended; }

std::optional<Duration> elapsed_of(const ApplicationView& application, Time now) {
    if (!application.started) return std::nullopt;
    const Duration elapsed = application.ended.value_or(now) - *application.started;
    return std::max<Duration>(Duration{0}, std::chrono::floor<std::chrono::seconds>(elapsed));
}

namespace {

/// What a part that waits in a queue waits for, behind a text.
std::string wait_text(const std::string& waits_for) {
    if (waits_for == "turn") return "; others are before it, or too few processors are free";
    if (waits_for == "reservation") return "; what is free now is reserved from a time on before it could end";
    if (waits_for == "right") return "; you may not have as many processors there now";
    return {};
}

Cell elapsed_cell(const ApplicationView& application, Time now) {
    const std::optional<Duration> elapsed = elapsed_of(application, now);
    if (!elapsed) return "-";
    return {format_duration(*elapsed), to_seconds(*elapsed)};
}

/// The program's code, or that of 'zbs wait' where it alone shows that results are missing.
Cell exit_cell(const ApplicationView& application) {
    if (!application.exit_code) return "-";
    return *application.exit_code == 0 && application.results_left_out > 0 ? kIncomplete : *application.exit_code;
}

/// As short as it is clear at `now`: "14:05" today, "11-28 14:05" this year.
std::string short_time_text(Time time, Time now) {
    const std::string text = clock_text(time).substr(0, sizeof "2026-11-28 14:05" - 1), today = clock_text(now);
    if (text.starts_with(today.substr(0, sizeof "2026-11-28" - 1))) return text.substr(sizeof "2026-11-28");
    if (text.starts_with(today.substr(0, sizeof "2026-" - 1))) return text.substr(sizeof "2026-" - 1);
    return text;
}

/// Of what waits, until when and for what.
std::string reason_text(const ApplicationView& application, Time now) {
    const std::string until =
        application.expected_start ? "until " + short_time_text(*application.expected_start, now) : "";
    std::string reason = application.reason + wait_text(application.waits_for);
    if (application.results_left_out > 0)
        reason += (reason.empty() ? "" : "; ") + left_out_text(application.results_left_out);
    return until + (until.empty() || reason.empty() ? "" : ": ") + reason;
}

}  // namespace

Listing applications_of(const std::vector<ApplicationView>& applications, const Caller& reader,
                        const std::optional<Time>& now) {
    listing::Column reason("REASON");
    reason.explains = true;
    // Wide is what 80 columns have no room for.
    Listing listing{"applications",
                    {"ID",
                     {"USER", "owner", reader.kind != CallerKind::kOperator},
                     "NAME",
                     "STATE",
                     "RANKS",
                     "PROGRAM",
                     "ZONES",
                     {"EXIT", "exit_code"},
                     {"SUBMITTED", "submitted_us"},
                     {"STARTED", "started_us", true},
                     {"ENDED", "ended_us", true},
                     "ELAPSED",
                     {"EXPECTED START", "expected_start_us", true},
                     reason,
                     {"PATH", true}}};
    const Time until = now.value_or(system::wall_clock());
    for (const ApplicationView& application : applications) {
        listing.items.push_back(application.item);
        listing.rows.push_back(
            {application.id, user_text(application.owner, reader), application.name, application.state,
             application.ranks, std::filesystem::path(application.program).filename().string(),
             application.zones.empty() ? "-" : joined(application.zones, ","), exit_cell(application),
             time_text(application.submitted), time_text(application.started), time_text(application.ended),
             elapsed_cell(application, until), time_text(application.expected_start), reason_text(application, until),
             application.program});
    }
    return listing;
}

std::string ranks_text(const std::vector<TaskIndex>& ranks) {
    std::string text;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t j = i;
        while (j + 1 < ranks.size() && ranks[j + 1] == ranks[j] + 1) ++j;
        text += (text.empty() ? "" : ",") + std::to_string(ranks[i]);
        if (j > i) text += (j == i + 1 ? "," : "-") + std::to_string(ranks[j]);
        i = j + 1;
    }
    return text;
}

void describe_plan(std::ostream& out, const ApplicationPlan& plan, const std::optional<Time>& planned) {
    if (plan.profile == "none") {
        out << "plan: no profile of this program and size is known; blocks of consecutive ranks\n";
        if (!plan.learned.empty()) out << "  " << printable(plan.learned) << "\n";
    } else if (plan.profile == "request") {
        out << "plan: made from the model given with the request\n";
    } else {
        out << "plan: made from profile " << plan.profile << ", which an earlier run left"
            << (plan.learned.empty() ? "" : ": " + printable(plan.learned)) << "\n";
    }
    if (plan.predicted) out << "  predicted run time: " << format_duration(*plan.predicted) << "\n";
    for (std::size_t c = 0; c < plan.clusters.size(); ++c) {
        std::vector<TaskIndex> members = plan.clusters[c];
        std::sort(members.begin(), members.end());
        out << "  cluster {" << ranks_text(members) << "} -> zone " << printable(plan.zone_of_cluster[c]) << "\n";
    }
    // Said later, "in 5m" would be wrong: it counts from the time of the plan.
    const std::string at = planned ? "planned at " + clock_text(*planned).substr(0, 19) + " to start in " : "";
    const std::string start_in = plan.start_in > Duration{0} ? format_duration(plan.start_in) : "";
    if (plan.queued)
        out << "  waits in the queue of its zone"
            << (start_in.empty() ? "" : ", " + (planned ? at : "expected to start in ") + start_in) << "\n";
    else if (!start_in.empty())
        out << "  common start: " << (planned ? at : "in ") << start_in << "\n";
    for (const ZoneVerdict& zone : plan.zones) {
        if (zone.ranks == 0)
            out << "  zone " << printable(zone.zone) << " left out: " << printable(zone.reason) << "\n";
    }
    if (plan.crossing_bytes) {
        out << "  bytes between zones: " << human_bytes(*plan.crossing_bytes) << " with this plan, "
            << human_bytes(plan.crossing_bytes_block.value_or(0)) << " without a profile (blocks), "
            << human_bytes(plan.crossing_bytes_round_robin.value_or(0)) << " round robin\n";
    }
}

Listing starts_of(const ApplicationPlan& plan) {
    const auto text = [](const std::optional<ZoneVerdict::StartRange>& start) -> std::string {
        if (!start) return "-";
        if (start->to == Duration{0}) return "now";
        if (start->from == start->to) return "in " + format_duration(start->to);
        return "in " + format_duration(start->from) + " to " + format_duration(start->to);
    };
    Listing listing{"zones", {"ZONE", "OFFERED", "RANKS", "COULD START"}};
    for (const ZoneVerdict& zone : plan.zones)
        listing.rows.push_back(
            {zone.zone.str(), std::to_string(zone.processors), std::to_string(zone.ranks), text(zone.start)});
    return listing;
}

Listing events_of(const std::vector<ApplicationEvent>& events) {
    Listing listing{"events", {"TIME", "ROUND", "ZONE", "ASKED FOR", "OK", "ANSWER"}};
    for (const ApplicationEvent& event : events) {
        const std::string times = event.times > 1 ? " (" + std::to_string(event.times) + " times)" : "";
        listing.rows.push_back({clock_text(event.at), std::to_string(event.round), event.zone.str(), event.what,
                                event.ok ? "yes" : "no", event.answer + times});
    }
    return listing;
}

void draw_plan_matrix(std::ostream& out, const ApplicationPlan& plan, const TaskGraph& graph) {
    if (plan.zone_of_rank.size() != static_cast<std::size_t>(graph.task_count())) return;
    std::vector<TaskIndex> order(plan.zone_of_rank.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<TaskIndex>(i);
    const auto zone = [&](TaskIndex rank) -> const std::string& {
        return plan.zone_of_rank[static_cast<std::size_t>(rank)];
    };
    std::stable_sort(order.begin(), order.end(), [&](TaskIndex a, TaskIndex b) { return zone(a) < zone(b); });
    std::vector<std::size_t> blocks;
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < order.size(); ++i) {
        labels.push_back("zone " + zone(order[i]));
        if (i > 0 && zone(order[i]) == zone(order[i - 1])) labels.back().clear();
        if (i + 1 == order.size() || zone(order[i]) != zone(order[i + 1])) blocks.push_back(i + 1);
    }
    out << draw_matrix(graph, order, blocks, labels);
}

std::string queue_text(const client::QueueView& outlook) {
    std::string text = outlook.place ? "place " + std::to_string(*outlook.place) + ", " : "";
    text += outlook.start_in ? "expected to start in " + format_duration(*outlook.start_in) : "start not known yet";
    if (outlook.promised_in) text += ", promised in " + format_duration(*outlook.promised_in);
    return text + wait_text(outlook.waits_for);
}

std::string grace_text(const ApplicationView& view) {
    const Duration asked = view.grace.value_or(Duration{0});
    Duration least = asked;
    std::string zone;
    for (const client::PartView& part : view.parts) {
        if (part.grace.value_or(asked) >= least) continue;
        least = *part.grace;
        zone = part.zone;
    }
    if (zone.empty()) return {};
    return format_duration(least) + " in zone " + printable(zone) + ", which gives no more (" + format_duration(asked) +
           " asked for)";
}

int code_of_end(const ApplicationView& view) {
    if (view.state == "rejected") return kRejected;
    if (view.state == "completed") return view.results_left_out > 0 ? kIncomplete : kOk;
    const int code = view.exit_code.value_or(0);
    return code != 0 ? code : kFailed;
}

}  // namespace zbs::cli

#include "client/cli/applications/application_view.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <ostream>

#include "algorithms/base/duration_text.hpp"
#include "services/common/adapters/system/wall_clock.hpp"

namespace zbs::cli {

using codec::Json;

std::string text_of(const Json& json, const char* key) {
    const auto at = json.find(key);
    return at != json.end() && at->is_string() ? at->get<std::string>() : std::string{};
}

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

std::string time_text(const Json& json, const char* key) {
    const auto at = json.find(key);
    if (at == json.end() || !at->is_number_integer()) return "-";
    const std::time_t seconds = static_cast<std::time_t>(at->get<std::int64_t>() / 1'000'000);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    return text;
}

std::string user_text(const std::string& uri, const Caller& reader) {
    const std::optional<Caller> owner = parse_identity(uri);
    return owner && owner->is_user_of(reader.organisation) ? owner->name : uri;
}

std::string left_out_text(std::uint64_t count) {
    return std::to_string(count) + (count == 1 ? " result that was" : " results that were") +
           " asked for did not come back";
}

bool runs_still(const Json& application) {
    return application.contains("started_us") && !application.contains("ended_us");
}

std::optional<Duration> elapsed_of(const Json& application, Time now) {
    if (!application.contains("started_us")) return std::nullopt;
    const Time started = time_from_microseconds(application.value("started_us", std::int64_t{0}));
    const Time ended = time_from_microseconds(application.value("ended_us", to_microseconds(now)));
    return std::max<Duration>(Duration{0}, std::chrono::floor<std::chrono::seconds>(ended - started));
}

namespace {

/// What a part that waits in a queue waits for, behind a text.
std::string wait_text(const std::string& waits_for) {
    if (waits_for == "turn") return "; others are before it, or too few processors are free";
    if (waits_for == "reservation") return "; what is free now is reserved from a time on before it could end";
    if (waits_for == "right") return "; you may not have as many processors there now";
    return {};
}

Cell elapsed_cell(const Json& application, Time now) {
    const std::optional<Duration> elapsed = elapsed_of(application, now);
    if (!elapsed) return "-";
    return {format_duration(*elapsed), to_seconds(*elapsed)};
}

std::uint64_t left_out_of(const Json& application) { return application.value("results_left_out", std::uint64_t{0}); }

/// The program's code, or that of 'zbs wait' where it alone shows that results are missing.
Cell exit_cell(const Json& application) {
    if (!application.contains("exit_code")) return "-";
    const int code = application.value("exit_code", 0);
    return code == 0 && left_out_of(application) > 0 ? kIncomplete : code;
}

/// As short as it is clear at `now`: "14:05" today, "11-28 14:05" this year.
std::string short_time_text(Time time, Time now) {
    const std::string text = clock_text(time).substr(0, sizeof "2026-11-28 14:05" - 1), today = clock_text(now);
    if (text.starts_with(today.substr(0, sizeof "2026-11-28" - 1))) return text.substr(sizeof "2026-11-28");
    if (text.starts_with(today.substr(0, sizeof "2026-" - 1))) return text.substr(sizeof "2026-" - 1);
    return text;
}

/// Of what waits, until when and for what.
std::string reason_text(const Json& application, Time now) {
    const auto start = application.find("expected_start_us");
    const std::string until = start == application.end() || !start->is_number_integer()
                                  ? ""
                                  : "until " + short_time_text(time_from_microseconds(start->get<std::int64_t>()), now);
    std::string reason = text_of(application, "reason") + wait_text(text_of(application, "waits_for"));
    if (const std::uint64_t count = left_out_of(application); count > 0)
        reason += (reason.empty() ? "" : "; ") + left_out_text(count);
    return until + (until.empty() || reason.empty() ? "" : ": ") + reason;
}

}  // namespace

Listing applications_of(const Json& applications, const Caller& reader, const std::optional<Time>& now) {
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
                     {"PATH", true}},
                    {},
                    applications};
    const Time until = now.value_or(system::wall_clock());
    for (const Json& item : listing.items) {
        std::string zones;
        for (const Json& name : item.value("zones", Json::array()))
            zones += (zones.empty() ? "" : ",") + name.get<std::string>();
        const std::string program = text_of(item, "program");
        listing.rows.push_back({text_of(item, "id"), user_text(text_of(item, "owner"), reader), text_of(item, "name"),
                                text_of(item, "state"), item.value("ranks", 0),
                                std::filesystem::path(program).filename().string(), zones.empty() ? "-" : zones,
                                exit_cell(item), time_text(item, "submitted_us"), time_text(item, "started_us"),
                                time_text(item, "ended_us"), elapsed_cell(item, until),
                                time_text(item, "expected_start_us"), reason_text(item, until), program});
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

std::optional<Time> planned_at(const Json& view) {
    std::optional<Time> at;
    const Json history = view.value("history", Json::array());
    for (std::size_t i = 0; i < history.size(); ++i) {
        // A plan that went straight back to committed was given up for the one before.
        const bool is_given_up = i + 1 < history.size() && text_of(history[i + 1], "state") == "committed";
        if (text_of(history[i], "state") == "planned" && !is_given_up && history[i].contains("at_us"))
            at = time_from_microseconds(history[i].value("at_us", std::int64_t{0}));
    }
    return at;
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
    Listing listing{"zones", {"ZONE", "OFFERED", "RANKS", "COULD START"}, {}, Json::array()};
    for (const ZoneVerdict& zone : plan.zones)
        listing.rows.push_back(
            {zone.zone, std::to_string(zone.processors), std::to_string(zone.ranks), text(zone.start)});
    return listing;
}

Listing events_of(const std::vector<ApplicationEvent>& events) {
    Listing listing{"events", {"TIME", "ROUND", "ZONE", "ASKED FOR", "OK", "ANSWER"}, {}, Json::array()};
    for (const ApplicationEvent& event : events) {
        const std::string times = event.times > 1 ? " (" + std::to_string(event.times) + " times)" : "";
        listing.rows.push_back({clock_text(event.at), std::to_string(event.round), event.zone, event.what,
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

std::string queue_text(const Json& outlook) {
    const auto in = [&](const char* key) { return format_duration(seconds_to_duration(outlook.value(key, 0.0))); };
    std::string text = outlook.contains("place") ? "place " + std::to_string(outlook.value("place", 0)) + ", " : "";
    text += outlook.contains("start_in_s") ? "expected to start in " + in("start_in_s") : "start not known yet";
    if (outlook.contains("promised_in_s")) text += ", promised in " + in("promised_in_s");
    return text + wait_text(text_of(outlook, "waits_for"));
}

std::string grace_text(const Json& view) {
    const double asked = view.value("grace_s", 0.0);
    double least = asked;
    std::string zone;
    for (const Json& part : view.value("parts", Json::array())) {
        const double given = part.value("grace_s", asked);
        if (given >= least) continue;
        least = given;
        zone = text_of(part, "zone");
    }
    if (zone.empty()) return {};
    return format_duration(seconds_to_duration(least)) + " in zone " + printable(zone) + ", which gives no more (" +
           format_duration(seconds_to_duration(asked)) + " asked for)";
}

int code_of_end(const Json& view) {
    const std::string state = text_of(view, "state");
    if (state == "rejected") return kRejected;
    const auto code = view.find("exit_code");
    const int value = code != view.end() && code->is_number_integer() ? code->get<int>() : 0;
    if (state == "completed") return view.value("results_left_out", std::uint64_t{0}) > 0 ? kIncomplete : kOk;
    return value != 0 ? value : kFailed;
}

}  // namespace zbs::cli

#include "client/api/application_answer.hpp"

#include <limits>

#include "services/common/codec/json/reply_view.hpp"

namespace zbs::client {
namespace {

using codec::Json;
using codec::ReplyView;

std::optional<Time> instant_in(const ReplyView& view, const char* key) {
    return view.any(key).is_number_integer() ? std::optional(time_from_microseconds(view.integer(key))) : std::nullopt;
}

std::optional<Duration> seconds_in(const ReplyView& view, const char* key) {
    return view.any(key).is_number() ? std::optional(seconds_to_duration(view.number(key))) : std::nullopt;
}

std::uint64_t count_in(const ReplyView& view, const char* key) {
    return view.any(key).is_number_unsigned() ? view.any(key).get<std::uint64_t>() : 0;
}

std::optional<int> code_in(const ReplyView& view, const char* key) {
    return view.any(key).is_number_integer() ? std::optional(static_cast<int>(view.integer(key))) : std::nullopt;
}

QueueView decode_queue_view(const ReplyView& view) {
    QueueView queue{std::nullopt, seconds_in(view, "start_in_s"), seconds_in(view, "promised_in_s"),
                    view.text("waits_for")};
    if (view.has("place")) queue.place = view.integer("place");
    return queue;
}

PartView decode_part_view(const Json& item) {
    const ReplyView view(item);
    PartView part{view.text("zone"), view.text("state"),         view.text("reason"), view.text("work"), {},
                  std::nullopt,      seconds_in(view, "grace_s")};
    for (const Json& rank : view.array("ranks"))
        if (rank.is_number_unsigned() && rank <= std::numeric_limits<TaskIndex>::max())
            part.ranks.push_back(rank.get<TaskIndex>());
    if (view.has("queue")) part.queue = decode_queue_view(view.object("queue"));
    return part;
}

/// The time of the last plan. One that went straight back to committed was given up for the one before.
std::optional<Time> planned_at(const ReplyView& view) {
    std::optional<Time> at;
    const Json& history = view.array("history");
    for (std::size_t i = 0; i < history.size(); ++i) {
        const ReplyView change(history[i]);
        const bool is_given_up = i + 1 < history.size() && ReplyView(history[i + 1]).text("state") == "committed";
        if (change.text("state") == "planned" && !is_given_up && change.has("at_us")) at = instant_in(change, "at_us");
    }
    return at;
}

}  // namespace

ApplicationView decode_application_view(const Json& answer) {
    const ReplyView view(answer);
    ApplicationView application{.id = view.text("id"),
                                .name = view.text("name"),
                                .comment = view.text("comment"),
                                .partition = view.text("partition"),
                                .owner = view.text("owner"),
                                .state = view.text("state"),
                                .reason = view.text("reason"),
                                .program = view.text("program"),
                                .directory = view.text("directory"),
                                .waits_for = view.text("waits_for"),
                                .profile = view.text("profile"),
                                .argv = view.texts("argv"),
                                .zones = view.texts("zones"),
                                .result_notes = view.texts("result_notes"),
                                .ranks = view.integer("ranks"),
                                .exit_code = code_in(view, "exit_code"),
                                .cancel_requested = view.boolean("cancel_requested"),
                                .results_left_out = count_in(view, "results_left_out"),
                                .submitted = instant_in(view, "submitted_us"),
                                .started = instant_in(view, "started_us"),
                                .ended = instant_in(view, "ended_us"),
                                .expected_start = instant_in(view, "expected_start_us"),
                                .reserved_start = instant_in(view, "start_us"),
                                .planned = planned_at(view),
                                .grace = seconds_in(view, "grace_s"),
                                .parts = {},
                                .plan = view.any("plan"),
                                .item = answer};
    for (const Json& part : view.array("parts")) application.parts.push_back(decode_part_view(part));
    return application;
}

ApplicationListView decode_application_list(const Json& answer) {
    const ReplyView view(answer);
    ApplicationListView list{{}, view.text("next")};
    for (const Json& item : view.array("applications")) list.applications.push_back(decode_application_view(item));
    return list;
}

LogIndexView decode_log_index(const Json& answer) {
    const ReplyView view(answer);
    LogIndexView index{{}, view.boolean("complete")};
    for (const Json& item : view.array("files")) {
        const ReplyView file(item);
        index.files.push_back({file.text("rank"), file.text("stream"), count_in(file, "bytes")});
    }
    return index;
}

Json result_items(const Json& answer) { return ReplyView(answer).array("files"); }

std::vector<std::string> decode_profile_ids(const Json& answer) {
    std::vector<std::string> ids;
    for (const Json& item : ReplyView(answer).array("profiles")) ids.push_back(ReplyView(item).text("id"));
    return ids;
}

}  // namespace zbs::client

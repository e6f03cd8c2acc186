#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/common/messages/application.hpp"

/// What a zone answers about applications, for commands that show them. As with `zone_view` any value is accepted.
namespace zbs::client {

/// What a part that waits in a zone's queue can expect.
struct QueueView {
    std::optional<std::int64_t> place;
    std::optional<Duration> start_in, promised_in;
    std::string waits_for;
};
struct PartView {
    std::string zone, state, reason, work;
    std::vector<TaskIndex> ranks;
    std::optional<QueueView> queue;
    std::optional<Duration> grace;  ///< that the zone gives
};
/// One of a list, the answer to `GET /v1/applications/{id}`, or its explanation; what an answer lacks is empty.
struct ApplicationView {
    std::string id, name, comment, partition, owner, state, reason, program, directory, waits_for;
    std::string profile;  ///< that the run left
    std::vector<std::string> argv, zones, result_notes;
    std::int64_t ranks = 0;
    std::optional<int> exit_code;
    bool cancel_requested = false;
    std::uint64_t results_left_out = 0;
    std::optional<Time> submitted, started, ended, expected_start, reserved_start;
    std::optional<Time> planned;    ///< the last plan
    std::optional<Duration> grace;  ///< asked for
    std::vector<PartView> parts;
    codec::Json plan;  ///< null: there is none
    codec::Json item;  ///< as it was sent
};
ApplicationView decode_application_view(const codec::Json& answer);

/// A page of `GET /v1/applications`.
struct ApplicationListView {
    std::vector<ApplicationView> applications;
    std::string next;  ///< `after` of the next page; empty: this is the last
};
ApplicationListView decode_application_list(const codec::Json& answer);

/// Answer to `GET /v1/applications/{id}/logs`.
struct LogIndexView {
    struct File {
        std::string rank, stream;
        std::uint64_t bytes = 0;
    };
    std::vector<File> files;
    bool complete = false;  ///< they grow no more
};
LogIndexView decode_log_index(const codec::Json& answer);

/// Items of the files in the answer to `GET /v1/applications/{id}/results`.
codec::Json result_items(const codec::Json& answer);
/// The ids in the answer to `GET /v1/profiles`.
std::vector<std::string> decode_profile_ids(const codec::Json& answer);

}  // namespace zbs::client

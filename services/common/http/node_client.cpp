#include "services/common/http/node_client.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "services/common/codec/node_codec.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::http {
namespace {

using codec::Json;
using std::chrono::milliseconds;

constexpr milliseconds kNodeDeadline{5'000};
constexpr milliseconds kNodeStartDeadline{15'000};  ///< the agent waits up to 5 s for the program
constexpr milliseconds kProbeDeadline{8'000};       ///< the agent gives up after 5 s
constexpr std::size_t kMaxSteps = 200;              ///< in one address, whose length is bounded

std::string step_path(const StepId& step_id) { return "/v1/steps/" + encode_percent(step_id); }

Result<void> check_status(const Result<HttpAnswer>& answer) {
    if (!answer) return answer.error();
    if (answer->try_later)
        return Error{ErrorCode::kUnavailable, read_problem(answer->status, answer->body).message, {}};
    if (answer->status < 200 || answer->status > 299) return read_problem(answer->status, answer->body);
    return {};
}

Error bad_answer(const std::string& url, const std::string& what) {
    return {ErrorCode::kUnavailable, url + " answered with a bad message: " + what, {}};
}

/// The report of this step and of no other.
std::function<Result<StepReport>(const Json&)> decode_report_of(const StepId& step_id) {
    return [step_id](const Json& json) -> Result<StepReport> {
        Result<StepReport> report = codec::decode_step_report(json);
        if (report && report->step_id != step_id) return invalid("is another step than " + step_id, "/operation");
        return report;
    };
}

/// Of exactly the steps that were asked for, in order; of any where none were named.
std::function<Result<StepPage>(const Json&)> decode_page_of(const std::vector<StepId>& step_ids) {
    return [step_ids](const Json& json) -> Result<StepPage> {
        Result<StepPage> page = codec::decode_step_page(json);
        if (!page || step_ids.empty()) return page;
        if (!std::ranges::equal(page->steps, step_ids, {}, &StepReport::step_id))
            return invalid("are not the steps that were asked for", "/steps");
        return page;
    };
}

/// Of the way to this node and to no other.
std::function<Result<ProbeReport>(const Json&)> decode_probe_of(const MachineName& node) {
    return [node](const Json& json) -> Result<ProbeReport> {
        Result<ProbeReport> report = codec::decode_probe_report(json);
        if (report && report->node != node) return invalid("is another node than " + node, "/node");
        return report;
    };
}

/// Of the table with this number and of no other.
std::function<Result<bool>(const Json&)> decode_number_of(std::uint64_t number) {
    return [number](const Json& json) -> Result<bool> {
        const Result<std::uint64_t> used = codec::decode_number(json);
        if (!used) return used.error();
        if (*used != number) return invalid("is another than was sent", "/number");
        return true;
    };
}

std::function<void(Result<bool>)> without_value(std::function<void(Result<void>)> respond) {
    return [respond = std::move(respond)](const Result<bool>& done) {
        respond(done ? Result<void>{} : Result<void>(done.error()));
    };
}

}  // namespace

NodeClient::NodeClient(HttpClient& client, ServiceAddress node, std::function<void(std::function<void()>)> post)
    : client_(client), node_(std::move(node)), post_(std::move(post)) {}

template <class T, class Decode>
void NodeClient::send(HttpCall call, Decode decode, Respond<T> respond) const {
    client_.call(std::move(call), [post = post_, decode = std::move(decode), url = node_.url,
                                   respond = std::move(respond)](const Result<HttpAnswer>& answer) {
        const auto read = [&]() -> Result<T> {
            if (auto good = check_status(answer); !good) return good.error();
            const Result<Json> json = codec::parse(answer->body);
            if (!json) return bad_answer(url, "no JSON");
            Result<T> value = decode(*json);
            if (!value) return bad_answer(url, text_with_place(value.error()));
            return value;
        };
        post([result = read(), respond]() mutable { respond(std::move(result)); });
    });
}

void NodeClient::start(const StepSpec& spec, Respond<StepReport> respond) const {
    send<StepReport>({node_, "PUT", step_path(spec.step_id), codec::dump(codec::encode(spec)), kNodeStartDeadline},
                     decode_report_of(spec.step_id), std::move(respond));
}

void NodeClient::stop(const StepId& step_id, Duration grace, Respond<StepReport> respond) const {
    send<StepReport>(
        {node_, "POST", step_path(step_id) + "/stop", codec::dump(codec::encode_step_stop(grace)), kNodeDeadline},
        decode_report_of(step_id), std::move(respond));
}

void NodeClient::statuses(const StepQuery& query, Respond<StepPage> respond) const {
    if (query.step_ids.size() > kMaxSteps) {
        post_([respond = std::move(respond)] {
            respond(Error{ErrorCode::kTooLarge, "ask for at most " + std::to_string(kMaxSteps) + " steps", {}});
        });
        return;
    }
    const auto wait = std::min<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(query.wait).count(),
                                             limits::kMaxNodeWaitSeconds);
    std::string path = "/v1/steps?since=" + std::to_string(query.since) + "&wait_s=" + std::to_string(wait);
    for (std::size_t i = 0; i < query.step_ids.size(); ++i)
        path += (i == 0 ? "&operations=" : ",") + encode_percent(query.step_ids[i]);
    send<StepPage>({node_, "GET", std::move(path), {}, kNodeDeadline + milliseconds{wait * 1'000}},
                   decode_page_of(query.step_ids), std::move(respond));
}

void NodeClient::list(const StepId& step_id, const std::string& prefix, Respond<std::vector<StepFile>> respond) const {
    send<std::vector<StepFile>>(
        {node_, "GET", step_path(step_id) + "/files?prefix=" + encode_percent(prefix), {}, kNodeDeadline},
        codec::decode_step_files, std::move(respond));
}

void NodeClient::read(const StepId& step_id, const std::string& file, std::uint64_t offset, std::size_t limit,
                      Respond<std::string> respond) const {
    HttpCall call{node_,
                  "GET",
                  step_path(step_id) + "/files/" + encode_percent(file) + "?offset=" + std::to_string(offset) +
                      "&limit=" + std::to_string(limit),
                  {},
                  kNodeDeadline};
    client_.call(std::move(call), [post = post_, url = node_.url, limit,
                                   respond = std::move(respond)](const Result<HttpAnswer>& answer) {
        const auto read = [&]() -> Result<std::string> {
            if (auto good = check_status(answer); !good) return good.error();
            if (answer->body.size() > limit) return bad_answer(url, "more bytes than were asked for");
            return answer->body;
        };
        post([result = read(), respond]() mutable { respond(std::move(result)); });
    });
}

void NodeClient::remove(const StepId& step_id, std::size_t at_most, Respond<StepRemoval> respond) const {
    send<StepRemoval>(
        {node_, "DELETE", step_path(step_id) + "?at_most=" + std::to_string(at_most), {}, kNodeStartDeadline},
        codec::decode_step_removal, std::move(respond));
}

void NodeClient::find_input(const std::string& digest, Respond<FilePresence> respond) const {
    send<FilePresence>({node_, "GET", "/v1/files/" + digest, {}, kNodeDeadline},
                       std::bind_front(codec::decode_presence_of, digest), std::move(respond));
}

void NodeClient::put_input(const std::string& digest, const FileChunk& chunk, Respond<FilePresence> respond) const {
    send<FilePresence>({node_, "PUT", "/v1/files/" + digest, codec::dump(codec::encode(chunk)), kNodeStartDeadline},
                       std::bind_front(codec::decode_presence_of, digest), std::move(respond));
}

void NodeClient::set_slices(const SliceColumn& column, Respond<void> respond) const {
    send<bool>({node_, "PUT", "/v1/slices", codec::dump(codec::encode(column)), kNodeDeadline},
               decode_number_of(column.number), without_value(std::move(respond)));
}

void NodeClient::set_shares(const ShareTable& table, Respond<void> respond) const {
    send<bool>({node_, "PUT", "/v1/shares", codec::dump(codec::encode(table)), kNodeDeadline},
               decode_number_of(table.number), without_value(std::move(respond)));
}

void NodeClient::probe(const ProbeRequest& request, Respond<ProbeReport> respond) const {
    send<ProbeReport>({node_, "POST", "/v1/probe", codec::dump(codec::encode(request)), kProbeDeadline},
                      decode_probe_of(request.node), std::move(respond));
}

}  // namespace zbs::http

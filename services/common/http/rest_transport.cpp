#include "services/common/http/rest_transport.hpp"

#include <algorithm>
#include <atomic>

#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/codec/site_codec.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/registry.hpp"

namespace zbs::http {
namespace {

using codec::Json;

constexpr std::chrono::milliseconds kAskDeadline{5'000};
constexpr std::chrono::milliseconds kLaunchDeadline{15'000};
/// Of half a MiB: links of some 20 KB/s are fast enough.
constexpr std::chrono::milliseconds kPieceDeadline{40'000};

class RestTransport : public ZoneTransport {
  public:
    explicit RestTransport(RestTransportOptions options) : options_(std::move(options)) {}

    void ask_capacity(const ServiceAddress& to, const CapacityRequest& request,
                      zbs::Respond<Capacity> respond) override {
        HttpCall call{to, "POST", "/v1/capacity", dump(codec::encode(request)), kAskDeadline};
        if (request.application) call.trace = traces().of(*request.application);
        send(std::move(call), codec::decode_capacity, std::move(respond));
    }
    void hold_part(const ServiceAddress& to, const PartRequest& request, zbs::Respond<PartStatus> respond) override {
        if (options_.traces != nullptr) options_.traces->record(request.id, request.application);
        send(about(request.id, {to, "POST", "/v1/parts", dump(codec::encode(request)), kLaunchDeadline}),
             decode_hold(request), std::move(respond));
    }
    void commit_part(const ServiceAddress& to, const PartId& id, std::uint64_t token,
                     zbs::Respond<PartStatus> respond) override {
        send(about(id, {to, "POST", path(id) + "/commit", dump(codec::encode_commit(token)), kAskDeadline}),
             decode_status_of(id), std::move(respond));
    }
    void launch_part(const ServiceAddress& to, const PartId& id, const LaunchRequest& request,
                     zbs::Respond<PartStatus> respond) override {
        send(about(id, {to, "POST", path(id) + "/launch", dump(codec::encode(request)), kLaunchDeadline}),
             decode_status_of(id), std::move(respond));
    }
    void part_status(const ServiceAddress& to, const PartId& id, zbs::Respond<PartStatus> respond) override {
        send(about(id, {to, "GET", path(id), {}, kAskDeadline}), decode_status_of(id), std::move(respond));
    }
    void release_part(const ServiceAddress& to, const PartId& id, const std::string& reason,
                      zbs::Respond<PartStatus> respond) override {
        send(about(id, {to,
                        "DELETE",
                        path(id) + "?reason=" + encode_percent(codec::bounded(reason, 1'000)),
                        {},
                        kAskDeadline}),
             decode_status_of(id), std::move(respond));
    }
    void part_profile(const ServiceAddress& to, const PartId& id, zbs::Respond<ApplicationModel> respond) override {
        send(
            about(id, {to, "GET", path(id) + "/profile", {}, kLaunchDeadline}),
            [](const Json& json) { return codec::decode_model(json); }, std::move(respond));
    }
    void stage_part(const ServiceAddress& to, const PartId& id, const StagingRequest& request,
                    zbs::Respond<StagingStatus> respond) override {
        send(
            about(id, {to, "PUT", path(id) + "/staging", dump(codec::encode(request)), kLaunchDeadline}),
            [files = request.staging.inputs](const Json& json) -> Result<StagingStatus> {
                Result<StagingStatus> status = codec::decode_staging_status(json);
                if (!status) return status;
                const bool same = std::equal(files.begin(), files.end(), status->files.begin(), status->files.end(),
                                             [](const StagedFile& a, const FilePresence& b) {
                                                 return a.digest == b.digest && b.have <= a.size;
                                             });
                if (!same) return invalid("is not among the announced files", "/files");
                return status;
            },
            std::move(respond));
    }
    void put_part_file(const ServiceAddress& to, const PartId& id, const std::string& digest, const FileChunk& chunk,
                       zbs::Respond<FilePresence> respond) override {
        send(about(id, {to, "PUT", path(id) + "/files/" + digest, dump(codec::encode(chunk)), kPieceDeadline}),
             std::bind_front(codec::decode_presence_of, digest), std::move(respond));
    }
    void part_results(const ServiceAddress& to, const PartId& id, zbs::Respond<StagedResults> respond) override {
        send(
            about(id, {to, "GET", path(id) + "/results", {}, kLaunchDeadline}),
            [](const Json& json) { return codec::decode_staged_results(json); }, std::move(respond));
    }
    void part_result(const ServiceAddress& to, const PartId& id, const std::string& name, std::uint64_t offset,
                     zbs::Respond<FileChunk> respond) override {
        send(
            about(id, {to,
                       "GET",
                       path(id) + "/results/" + encode_percent(name) + "?offset=" + std::to_string(offset),
                       {},
                       kPieceDeadline}),
            [offset](const Json& json) -> Result<FileChunk> {
                Result<FileChunk> chunk = codec::decode_file_chunk(json);
                if (chunk && chunk->offset != offset) return invalid("is not the piece asked for", "/offset");
                return chunk;
            },
            std::move(respond));
    }
    void request_peering(const ServiceAddress& to, const PeeringRequest& request,
                         zbs::Respond<PeeringAnswer> respond) override {
        send({to, "POST", "/v1/peerings", dump(codec::encode(request)), kAskDeadline}, codec::decode_peering_answer,
             std::move(respond));
    }
    void fetch_trust(const ServiceAddress& to, zbs::Respond<TrustStatement> respond) override {
        send({to, "GET", "/v1/trust", {}, kAskDeadline}, codec::decode_trust_statement, std::move(respond));
    }
    void probe(const ServiceAddress& to, ProbeSize size, zbs::Respond<std::size_t> respond) override {
        HttpCall call{to, "GET", size == ProbeSize::kSmall ? "/livez" : "/openapi.json", {}, kAskDeadline};
        options_.client->call(
            std::move(call), [post = options_.post, respond = std::move(respond)](const Result<HttpAnswer>& answer) {
                Result<std::size_t> size_of = answer ? Result<std::size_t>(answer->body.size()) : answer.error();
                if (answer && (answer->status < 200 || answer->status > 299))
                    size_of = read_problem(answer->status, answer->body);
                post([size_of = std::move(size_of), respond] { respond(size_of); });
            });
    }
    void enrol(const ServiceAddress& to, const std::string& code, const SignedText& entry,
               zbs::Respond<ZoneLease> respond) override {
        send({to, "POST", "/v1/enrolments", dump(codec::encode(codec::EntryOffer{code, entry})), kLaunchDeadline},
             codec::decode_zone_lease, std::move(respond));
    }
    void publish(const ServiceAddress& to, const SignedText& entry, zbs::Respond<ZoneLease> respond) override {
        send({to, "POST", "/v1/zones", dump(codec::encode(codec::EntryOffer{{}, entry})), kLaunchDeadline},
             codec::decode_zone_lease, std::move(respond));
    }
    void renew(const ServiceAddress& to, const ZoneName& zone, zbs::Respond<ZoneLease> respond) override {
        send({to, "PUT", "/v1/zones/" + zone, {}, kAskDeadline}, codec::decode_zone_lease, std::move(respond));
    }
    void leave(const ServiceAddress& to, const ZoneName& zone, zbs::Respond<ZoneLease> respond) override {
        send({to, "DELETE", "/v1/zones/" + zone, {}, kAskDeadline}, codec::decode_zone_lease, std::move(respond));
    }
    void list_zones(const ServiceAddress& to, const ZoneQuery& query, zbs::Respond<ZonePage> respond) override {
        std::string text =
            "/v1/zones?limit=" + std::to_string(query.limit > 0 ? query.limit : limits::kMaxZonesPerPage);
        if (!query.category.empty()) text += "&category=" + encode_percent(query.category);
        if (query.interface_version > 0) text += "&interface=" + std::to_string(query.interface_version);
        if (!query.after.empty()) text += "&after=" + encode_percent(query.after);
        if (query.leases) text += "&leases=true";
        send({to, "GET", text, {}, kAskDeadline}, codec::decode_zone_page, std::move(respond));
    }

  private:
    static std::string dump(const Json& json) { return codec::dump(json); }
    const TraceBook& traces() const {
        static const TraceBook kNone;
        return options_.traces != nullptr ? *options_.traces : kNone;
    }
    /// The call, which belongs to the trace of this part's application.
    HttpCall about(const PartId& id, HttpCall call) const {
        call.trace = traces().of(id);
        return call;
    }
    static std::string path(const PartId& id) { return "/v1/parts/" + to_string(id); }

    /// The state of this part and of no other.
    static std::function<Result<PartStatus>(const Json&)> decode_status_of(const PartId& id) {
        return [id](const Json& json) -> Result<PartStatus> {
            Result<PartStatus> status = codec::decode_part_status(json);
            if (status && status->id != id) return invalid("is another part than " + to_string(id), "/id");
            return status;
        };
    }
    /// Of a hold: the ranks that were asked for, not more of them on a processor than asked for.
    static std::function<Result<PartStatus>(const Json&)> decode_hold(const PartRequest& request) {
        return [decode = decode_status_of(request.id), ranks = request.ranks, queued = request.queued,
                overcommit = request.overcommit](const Json& json) -> Result<PartStatus> {
            Result<PartStatus> status = decode(json);
            if (!status || status->state != PartState::kHeld) return status;
            if (queued && status->queue && status->assignment.empty()) return status;  // in line for them
            if (!is_assignment_of(status->assignment, ranks, overcommit))
                return invalid("is not of the ranks that were asked for, or puts more than " +
                                   std::to_string(overcommit) + " of them on a processor",
                               "/assignment");
            return status;
        };
    }

    /// Sends, decodes and brings the answer to the strand. What the other side says is checked like any input.
    template <class T, class Decode>
    void send(HttpCall call, Decode decode, zbs::Respond<T> respond) {
        const std::string url = call.to.url;
        const bool to_self = call.to.who == options_.self;
        const auto is_cut = std::make_shared<std::atomic<bool>>(false);
        call.on_cut = [is_cut] { *is_cut = true; };
        std::function<void(const Result<HttpAnswer>&)> answered =
            [post = options_.post, decode, url, who = call.to.who, bad_answer = options_.bad_answer,
             cut_answer = options_.cut_answer, now = options_.now, clock_seen = options_.clock_seen,
             sent = options_.now(), is_cut, respond = std::move(respond)](const Result<HttpAnswer>& answer) {
                bool is_bad = !answer && answer.error().code == ErrorCode::kTooLarge;
                Result<T> result = read<T>(answer, decode, url, is_bad);
                post([result = std::move(result), date = answer ? answer->date : std::nullopt, is_bad, who, bad_answer,
                      cut_answer, now, clock_seen, sent, is_cut, respond]() mutable {
                    if (date) clock_seen(who, clock_ahead(*date, sent, now()));
                    if (is_bad) bad_answer(who, result.error());
                    if (*is_cut) cut_answer(who, result.error());
                    respond(std::move(result));
                });
            };
        if (to_self) return ask_self(call, std::move(answered));
        options_.client->call(std::move(call), std::move(answered));
    }

    void ask_self(const HttpCall& call, std::function<void(const Result<HttpAnswer>&)> answered) {
        Result<Call> own = read_call(call, options_.self);
        if (!own) return answered(own.error());
        options_.own(*std::move(own), [answered = std::move(answered)](Reply reply) {
            answered(HttpAnswer{reply.status, std::move(reply.body), {}, false});
        });
    }

    template <class T, class Decode>
    static Result<T> read(const Result<HttpAnswer>& answer, const Decode& decode, const std::string& url,
                          bool& is_bad) {
        if (!answer) return answer.error();
        if (answer->try_later) {  // as a service that is down: it did nothing, and is asked again
            return Error{ErrorCode::kUnavailable, url + ": " + read_problem(answer->status, answer->body).message, {}};
        }
        if (answer->status < 200 || answer->status > 299) return read_problem(answer->status, answer->body);
        const Result<Json> json = codec::parse(answer->body);
        is_bad = !json;
        if (!json) return Error{ErrorCode::kUnavailable, url + " answered with text that is no JSON", {}};
        Result<T> value = decode(*json);
        is_bad = !value;
        if (!value)
            return Error{ErrorCode::kUnavailable,
                         url + " answered with a bad message: " + http::text_with_place(value.error()),
                         {}};
        return value;
    }

    RestTransportOptions options_;
};

}  // namespace

std::unique_ptr<ZoneTransport> make_rest_transport(RestTransportOptions options) {
    return std::make_unique<RestTransport>(std::move(options));
}

}  // namespace zbs::http

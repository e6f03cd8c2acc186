#include "services/common/adapters/cpprest/zone_transport.hpp"

#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::cpprest {
namespace {

using codec::Json;

constexpr std::chrono::milliseconds kAskDeadline{5'000};
constexpr std::chrono::milliseconds kLaunchDeadline{15'000};

class RestTransport : public ZoneTransport {
  public:
    RestTransport(Caller self, std::function<void(std::function<void()>)> post)
        : caller_(std::move(self), limits::kMaxReplyBytes), post_(std::move(post)) {}

    void ask_capacity(const std::string& url, const CapacityRequest& request, Respond<Capacity> respond) override {
        send({url, "POST", "/v1/capacity", dump(codec::encode(request)), kAskDeadline}, codec::decode_capacity,
             std::move(respond));
    }
    void hold_part(const std::string& url, const PartRequest& request, Respond<PartStatus> respond) override {
        send({url, "POST", "/v1/parts", dump(codec::encode(request)), kLaunchDeadline}, decode_status,
             std::move(respond));
    }
    void commit_part(const std::string& url, const PartId& id, std::uint64_t token,
                     Respond<PartStatus> respond) override {
        send({url, "POST", path(id) + "/commit", dump(codec::encode_commit(token)), kAskDeadline}, decode_status,
             std::move(respond));
    }
    void launch_part(const std::string& url, const PartId& id, const LaunchRequest& request,
                     Respond<PartStatus> respond) override {
        send({url, "POST", path(id) + "/launch", dump(codec::encode(request)), kLaunchDeadline}, decode_status,
             std::move(respond));
    }
    void part_status(const std::string& url, const PartId& id, Respond<PartStatus> respond) override {
        send({url, "GET", path(id), {}, kAskDeadline}, decode_status, std::move(respond));
    }
    void release_part(const std::string& url, const PartId& id, const std::string& reason,
                      Respond<PartStatus> respond) override {
        send({url, "DELETE", path(id) + "?reason=" + escape(reason), {}, kAskDeadline}, decode_status,
             std::move(respond));
    }
    void part_profile(const std::string& url, const PartId& id, Respond<ApplicationModel> respond) override {
        send(
            {url, "GET", path(id) + "/profile", {}, kLaunchDeadline},
            [](const Json& json) { return codec::decode_model(json); }, std::move(respond));
    }
    void request_peering(const std::string& url, const PeeringRequest& request,
                         Respond<PeeringAnswer> respond) override {
        send({url, "POST", "/v1/peerings", dump(codec::encode(request)), kAskDeadline}, codec::decode_peering_answer,
             std::move(respond));
    }
    void publish(const std::string& url, const ZoneEntry& entry, Respond<ZoneEntry> respond) override {
        send({url, "POST", "/v1/zones", dump(codec::encode(entry)), kAskDeadline}, decode_entry, std::move(respond));
    }
    void renew(const std::string& url, const std::string& zone, Respond<ZoneEntry> respond) override {
        send({url, "PUT", "/v1/zones/" + zone, {}, kAskDeadline}, decode_entry, std::move(respond));
    }
    void leave(const std::string& url, const std::string& zone, Respond<ZoneEntry> respond) override {
        send({url, "DELETE", "/v1/zones/" + zone, {}, kAskDeadline}, decode_entry, std::move(respond));
    }
    void list_zones(const std::string& url, const ZoneQuery& query, Respond<std::vector<ZoneEntry>> respond) override {
        std::string text = "/v1/zones?";
        if (!query.category.empty()) text += "category=" + escape(query.category) + "&";
        if (query.interface_version > 0) text += "interface=" + std::to_string(query.interface_version);
        send({url, "GET", text, {}, kAskDeadline}, codec::decode_zone_entries, std::move(respond));
    }

  private:
    static std::string dump(const Json& json) { return codec::dump(json); }
    static std::string path(const PartId& id) { return "/v1/parts/" + to_string(id); }
    static Result<PartStatus> decode_status(const Json& json) { return codec::decode_part_status(json); }
    static Result<ZoneEntry> decode_entry(const Json& json) { return codec::decode_zone_entry(json); }

    static std::string escape(const std::string& text) {
        constexpr char kHex[] = "0123456789ABCDEF";
        std::string out;
        for (const char c : text.substr(0, 1'000)) {
            const auto byte = static_cast<unsigned char>(c);
            if (std::isalnum(byte) || c == '-' || c == '.' || c == '_') {
                out += c;
            } else {
                out += {'%', kHex[byte >> 4], kHex[byte & 15]};
            }
        }
        return out;
    }

    /// Sends, decodes and brings the answer to the strand. What the other side says is checked like any input.
    template <class T, class Decode>
    void send(HttpCall call, Decode decode, Respond<T> respond) {
        const std::string url = call.url;
        caller_.call(std::move(call), [post = post_, decode, url,
                                       respond = std::move(respond)](const Result<HttpAnswer>& answer) {
            post([result = read<T>(answer, decode, url), respond]() mutable { respond(std::move(result)); });
        });
    }
    template <class T, class Decode>
    static Result<T> read(const Result<HttpAnswer>& answer, const Decode& decode, const std::string& url) {
        if (!answer) return answer.error();
        if (answer->status < 200 || answer->status > 299) return http::read_problem(answer->status, answer->body);
        const Result<Json> json = codec::parse(answer->body);
        if (!json) return Error{ErrorCode::kUnavailable, url + " answered with text that is no JSON", {}};
        Result<T> value = decode(*json);
        if (!value)
            return Error{ErrorCode::kUnavailable,
                         url + " answered with a bad message: " + value.error().pointer + " " + value.error().message,
                         {}};
        return value;
    }

    HttpCaller caller_;
    std::function<void(std::function<void()>)> post_;
};

}  // namespace

std::unique_ptr<ZoneTransport> make_zone_transport(Caller self, std::function<void(std::function<void()>)> post) {
    return std::make_unique<RestTransport>(std::move(self), std::move(post));
}

}  // namespace zbs::cpprest

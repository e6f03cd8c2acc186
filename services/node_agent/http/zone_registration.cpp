#include "services/node_agent/http/zone_registration.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "services/common/codec/node_codec.hpp"
#include "services/common/http/reply.hpp"

namespace zbs {
namespace {

constexpr std::chrono::milliseconds kDeadline{5'000};

Result<NodeLease> read_lease(const Result<HttpAnswer>& answer, const MachineName& node) {
    if (!answer) return answer.error();
    if (answer->status < 200 || answer->status > 299) return http::read_problem(answer->status, answer->body);
    const Result<codec::Json> json = codec::parse(answer->body);
    if (!json) return json.error();
    Result<NodeLease> lease = codec::decode_node_lease(*json);
    if (lease && lease->node != node) return invalid("is another node than " + node, "/node");
    return lease;
}

/// Says no more than that nobody takes calls there.
bool is_silence(const Error& error) {
    return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout;
}

/// The zone's schedulers, and which of them took the last registration. On the domain's strand.
struct Schedulers : std::enable_shared_from_this<Schedulers> {
    HttpClient& client;
    std::vector<ServiceAddress> zones;
    std::function<void(std::function<void()>)> post;
    std::size_t current = 0;

    Schedulers(HttpClient& c, std::vector<ServiceAddress> z, std::function<void(std::function<void()>)> p)
        : client(c), zones(std::move(z)), post(std::move(p)) {}

    struct Question {
        MachineName node;
        std::string body;
        std::function<void(Result<NodeLease>)> respond;
        std::size_t asked = 0;
        std::optional<Error> error;
    };
    void ask(Question question) {
        HttpCall call{zones[current], "PUT", "/v1/nodes/" + question.node, question.body, kDeadline};
        client.call(std::move(call), [self = shared_from_this(),
                                      question = std::move(question)](const Result<HttpAnswer>& answer) mutable {
            Result<NodeLease> lease = read_lease(answer, question.node);
            self->post([self, lease = std::move(lease), question = std::move(question)]() mutable {
                self->answered(lease, std::move(question));
            });
        });
    }
    void answered(const Result<NodeLease>& lease, Question question) {
        if (lease) return question.respond(lease);
        if (!question.error || is_silence(*question.error)) question.error = lease.error();
        current = (current + 1) % zones.size();
        if (++question.asked == zones.size()) return question.respond(*question.error);
        ask(std::move(question));
    }
};

}  // namespace

ZoneSession::Send make_registration_sender(HttpClient& client, std::vector<ServiceAddress> zones,
                                           std::function<void(std::function<void()>)> post) {
    ZBS_EXPECTS(!zones.empty());
    return [schedulers = std::make_shared<Schedulers>(client, std::move(zones), std::move(post))](
               const NodeRegistration& registration, std::function<void(Result<NodeLease>)> respond) {
        schedulers->ask({.node = registration.description.name,
                         .body = codec::dump(codec::encode(registration)),
                         .respond = std::move(respond)});
    };
}

}  // namespace zbs

#include "services/node_agent/http/zone_registration.hpp"

#include <chrono>
#include <utility>

#include "services/common/codec/node_codec.hpp"
#include "services/common/http/reply.hpp"

namespace zbs {
namespace {

constexpr std::chrono::milliseconds kDeadline{5'000};

Result<NodeLease> read_lease(const Result<HttpAnswer>& answer, const std::string& node) {
    if (!answer) return answer.error();
    if (answer->status < 200 || answer->status > 299) return http::read_problem(answer->status, answer->body);
    const Result<codec::Json> json = codec::parse(answer->body);
    if (!json) return json.error();
    Result<NodeLease> lease = codec::decode_node_lease(*json);
    if (lease && lease->node != node) return invalid("is another node than " + node, "/node");
    return lease;
}

}  // namespace

ZoneSession::Send make_registration_sender(HttpClient& client, ServiceAddress zone,
                                           std::function<void(std::function<void()>)> post) {
    return [&client, zone = std::move(zone), post = std::move(post)](const NodeRegistration& registration,
                                                                     std::function<void(Result<NodeLease>)> respond) {
        const std::string node = registration.description.name;
        client.call({zone, "PUT", "/v1/nodes/" + node, codec::dump(codec::encode(registration)), kDeadline},
                    [post, node, respond = std::move(respond)](const Result<HttpAnswer>& answer) {
                        post([lease = read_lease(answer, node), respond] { respond(lease); });
                    });
    };
}

}  // namespace zbs

#include "tests/simulation/liar.hpp"

#include <utility>

#include "services/common/codec/message_codec.hpp"

namespace zbs::simulation {
namespace {

std::optional<PartStatus> read_part(const std::string& body) {
    const auto json = codec::parse(body);
    if (!json) return std::nullopt;
    Result<PartStatus> status = codec::decode_part_status(*json);
    if (!status) return std::nullopt;
    return *std::move(status);
}

void deny(http::Reply& reply) {
    reply.status = 409;
    reply.content_type = "application/problem+json";
    reply.body =
        R"({"type":"about:blank","title":"Conflict","status":409,"detail":"never heard of it","code":"conflict"})";
}

}  // namespace

void Liar::bend(const http::Call& call, http::Reply& reply) {
    if (call.caller().kind != CallerKind::kZone || rng_.below(3) != 0) return;
    const bool accepted = reply.status >= 200 && reply.status < 300;
    const bool of_part = call.path.starts_with("/v1/parts");
    switch (rng_.below(10)) {
        case 0:
            reply.body = "{";
            return;
        case 1:
            reply.status = 500;
            return;
        case 2:
            std::swap(reply.body, before_);  // yesterday's answer, to another question
            return;
        case 3:
            reply.body = R"({"state":7})";
            return;
        case 4: {
            const std::size_t digit = reply.body.find_first_of("0123456789");
            if (digit != std::string::npos) reply.body[digit] = static_cast<char>('0' + rng_.below(10));
            return;
        }
        case 5:
            reply.status = 404;
            return;
        case 6:
            if (call.method == "POST" && call.path == "/v1/parts" && !accepted) return forge_hold(call, reply);
            return;
        case 7:
            if (of_part && call.method == "POST" && accepted) deny(reply);  // of what it has done
            return;
        case 8:
            if (call.path == "/v1/capacity" && accepted) forge_windows(reply);
            return;
        default:
            if (of_part && accepted) change_part(reply);
            return;
    }
}

/// All it has at once though it is in use, or nothing for an hour though it is free.
void Liar::forge_windows(http::Reply& reply) {
    const auto json = codec::parse(reply.body);
    if (!json) return;
    Result<Capacity> capacity = codec::decode_capacity(*json);
    if (!capacity) return;
    const bool boasts = rng_.below(2) == 0;
    const StartWindow all{.after = boasts ? Duration{0} : std::chrono::hours{1},
                          .expected = {},
                          .processors = capacity->total_processors,
                          .speed_sum = static_cast<double>(capacity->total_processors),
                          .speed_mean = 1};
    capacity->windows = {all};
    capacity->processors = boasts ? capacity->total_processors : 0;
    reply.body = codec::dump(codec::encode(*capacity));
}

/// As if it had as many processors as were asked for.
void Liar::forge_hold(const http::Call& call, http::Reply& reply) {
    const auto json = codec::parse(call.body);
    if (!json) return;
    const Result<PartRequest> request = codec::decode_part_request(*json);
    if (!request) return;
    PartStatus held{.id = request->id, .zone = "liar", .state = PartState::kHeld, .token = 1 + rng_.below(1'000)};
    held.expires_in = std::chrono::seconds{30};
    held.starts_in = request->start_in;
    std::int32_t processor = 100;
    for (const TaskIndex rank : request->ranks) held.assignment.push_back({rank, "m0", processor++});
    reply.status = 201;
    reply.content_type = "application/json";
    reply.body = codec::dump(codec::encode(held));
}

/// Another id, yesterday's token, a state that it is not in, or a later start.
void Liar::change_part(http::Reply& reply) {
    std::optional<PartStatus> part = read_part(reply.body);
    if (!part) return;
    const std::optional<PartStatus> other = std::exchange(last_, part);
    switch (rng_.below(5)) {
        case 0:
            if (other) part->id = other->id;
            break;
        case 1:
            part->token = other ? other->token : part->token + 1;
            break;
        case 2:
            part->state = static_cast<PartState>(rng_.below(7));
            break;
        case 3:
            part->ready = !part->ready;
            break;
        default:
            part->starts_in += std::chrono::minutes{1 + static_cast<int>(rng_.below(10))};
            break;
    }
    reply.body = codec::dump(codec::encode(*part));
}

void Liar::bend(http::Call& call) {
    const std::size_t token = call.body.find("\"token\":");
    if (token == std::string::npos || rng_.below(3) != 0) return;
    call.body.insert(token + 8, "1");  // somebody else's token
}

}  // namespace zbs::simulation

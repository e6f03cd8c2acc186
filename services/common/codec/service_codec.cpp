#include "services/common/codec/service_codec.hpp"

#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

std::string text_or_empty(const Json& json, const char* key) {
    if (!json.is_object()) return {};
    const auto at = json.find(key);
    return at != json.end() && at->is_string() ? at->get<std::string>() : std::string{};
}

Json encode_caller(const WhoAmI& caller) {
    return {
        {"name", caller.name}, {"via_proxy", caller.via_proxy}, {"limited", caller.limited}, {"serial", caller.serial}};
}

WhoAmI read_caller(JsonReader& in) {
    return {in.text("name", 256), in.boolean("via_proxy"), in.boolean("limited"), in.text("serial", 64)};
}

}  // namespace

Json encode(const Health& health) {
    Json json = {{"status", health.status}};
    if (!health.reason.empty()) json["reason"] = health.reason;
    return json;
}

Health decode_health(const Json& json) { return {text_or_empty(json, "status"), text_or_empty(json, "reason")}; }

Json encode(const Problem& problem) {
    Json json = {{"type", "urn:zbs:problem:" + problem.code},
                 {"title", problem.code},
                 {"status", problem.status},
                 {"detail", problem.detail},
                 {"code", problem.code}};
    if (!problem.pointer.empty())
        json["errors"] = Json::array({{{"pointer", problem.pointer}, {"detail", problem.complaint}}});
    return json;
}

Problem decode_problem(const Json& json) {
    Problem problem{0, text_or_empty(json, "code"), text_or_empty(json, "detail")};
    if (!json.is_object()) return problem;
    if (const auto status = json.find("status"); status != json.end() && status->is_number_integer())
        problem.status = status->get<int>();
    if (const auto errors = json.find("errors"); errors != json.end() && errors->is_array() && !errors->empty()) {
        problem.pointer = text_or_empty(errors->front(), "pointer");
        problem.complaint = text_or_empty(errors->front(), "detail");
    }
    return problem;
}

WhoAmI who_is(const PeerIdentity& peer) {
    return {to_uri(peer.name()), peer.via_proxy(), peer.via_limited_proxy(), peer.serial()};
}

Json encode(const WhoAmIInZone& who) {
    Json json = encode_caller(who.caller);
    json["groups"] = who.groups;
    json["zone"] = who.zone;
    return json;
}

Result<WhoAmIInZone> decode_whoami_in_zone(const Json& json) {
    JsonReader in(json);
    WhoAmIInZone who{read_caller(in), in.texts("groups", limits::kMaxGroups, 64 * limits::kMaxGroups),
                     in.text("zone", 256)};
    return in.finish(std::move(who));
}

Json encode(const WhoAmIInRegistry& who) {
    Json json = encode_caller(who.caller);
    json["enrolled"] = who.enrolled;
    json["registry"] = who.registry;
    return json;
}

Result<WhoAmIInRegistry> decode_whoami_in_registry(const Json& json) {
    JsonReader in(json);
    WhoAmIInRegistry who{read_caller(in), in.boolean("enrolled"), in.text("registry", 256)};
    return in.finish(std::move(who));
}

}  // namespace zbs::codec

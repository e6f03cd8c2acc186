#include "services/common/codec/service_codec.hpp"

#include "services/common/codec/json/reply_view.hpp"
#include "services/common/codec/node_codec.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

Json encode_caller(const WhoAmI& caller) {
    return {
        {"name", caller.name}, {"via_proxy", caller.via_proxy}, {"limited", caller.limited}, {"serial", caller.serial}};
}

}  // namespace

Json encode(const Health& health) {
    Json json = {{"status", health.status}};
    if (!health.reason.empty()) json["reason"] = health.reason;
    return json;
}

Health decode_health(const Json& json) {
    const ReplyView health(json);
    return {health.text("status"), health.text("reason")};
}

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
    const ReplyView view(json);
    Problem problem{static_cast<int>(view.integer("status")), view.text("code"), view.text("detail")};
    if (const Json& errors = view.array("errors"); !errors.empty()) {
        const ReplyView first(errors.front());
        problem.pointer = first.text("pointer");
        problem.complaint = first.text("detail");
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

Json encode(const WhoAmIInRegistry& who) {
    Json json = encode_caller(who.caller);
    json["enrolled"] = who.enrolled;
    json["registry"] = who.registry;
    return json;
}

Json encode_is_ready(const std::string& role) {
    Json json = {{"ready", true}};
    if (!role.empty()) json["role"] = role;
    return json;
}

Json encode_checked_settings(std::size_t settings, const std::vector<std::string>& files,
                             const std::vector<std::string>& notes) {
    return {{"settings", settings}, {"files", files}, {"notes", notes}};
}

Json encode_folder(const std::string& folder) { return {{"folder", folder}}; }

Json encode_identity(const std::string& name, const std::string& folder) {
    return {{"name", name}, {"folder", folder}};
}

Json encode(const MadeZone& made) {
    return {{"name", made.name},
            {"folder", made.folder},
            {"bundle", made.bundle},
            {"fingerprint", made.fingerprint},
            {"imported", made.imported},
            {"can_issue", made.can_issue},
            {"has_operator", made.has_operator}};
}

Json encode_node_identity(const std::string& name, const std::string& folder, const std::string& zone) {
    return {{"name", name}, {"folder", folder}, {"zone", zone}};
}

Json encode_machine(const NodeDescription& machine, const NodeLoad& load) {
    return {{"description", encode(machine)}, {"load", encode(load)}};
}

Json encode_registry(const ServiceAddress& registry) {
    return {{"registry", to_uri(registry.who)}, {"url", registry.url}};
}

Json encode_backup(Json backup, const std::string& file) {
    backup["file"] = file;
    return backup;
}

Json encode_restored_zone(std::uint64_t first_token, int steps_put_aside, Json files) {
    files["first_token"] = first_token;
    files["steps_put_aside"] = steps_put_aside;
    return files;
}

Json encode_restored_registry(std::uint64_t closed_tokens, const std::vector<RemovedFromRegistry>& removed,
                              Json files) {
    Json rows = Json::array();
    for (const RemovedFromRegistry& one : removed)
        rows.push_back(one.zone.empty() ? Json{{"organisation", one.organisation}} : Json{{"zone", one.zone}});
    files["closed_tokens"] = closed_tokens;
    files["removed"] = std::move(rows);
    return files;
}

Json encode_moved(const std::vector<std::pair<std::string, std::int64_t>>& tables, const std::string& kept) {
    Json rows = Json::array();
    for (const auto& [table, count] : tables) rows.push_back({{"table", table}, {"rows", count}});
    return {{"tables", std::move(rows)}, {"kept", kept}};
}

}  // namespace zbs::codec

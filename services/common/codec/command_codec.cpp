#include "services/common/codec/command_codec.hpp"

#include "services/common/codec/node_codec.hpp"

namespace zbs::codec {

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

#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/common/messages/node.hpp"
#include "services/common/messages/registry.hpp"

/// Documents that commands of services print. What a command of one service only prints is in its folder.
namespace zbs::codec {

/// The answer of `ready`; `role` of a zone's scheduler, empty: none.
Json encode_is_ready(const std::string& role = {});
/// Settings that `config check` found good: how many, in which files, and what there is to note.
Json encode_checked_settings(std::size_t settings, const std::vector<std::string>& files,
                             const std::vector<std::string>& notes);
/// The folder of keys that was changed.
Json encode_folder(const std::string& folder);
/// An identity, by URI or name, and the folder that it is in.
Json encode_identity(const std::string& name, const std::string& folder);
/// What `init` of a zone has made or imported.
struct MadeZone {
    std::string name, folder, bundle, fingerprint;
    bool imported = false, can_issue = false, has_operator = false;
};
Json encode(const MadeZone& made);
/// The identity of a node agent, and its zone.
Json encode_node_identity(const std::string& name, const std::string& folder, const std::string& zone);
/// The machine of a node agent, as it is now.
Json encode_machine(const NodeDescription& machine, const NodeLoad& load);
/// The registry that a zone enrols in.
Json encode_registry(const ServiceAddress& registry);
/// `backup` as it was written into `file`.
Json encode_backup(Json backup, const std::string& file);
/// A zone's database that goes on from a backup: the first token, and steps that the backup does not know.
Json encode_restored_zone(std::uint64_t first_token, int steps_put_aside, Json files = Json::object());
Json encode_restored_registry(std::uint64_t closed_tokens, const std::vector<RemovedFromRegistry>& removed, Json files);
/// Tables with their rows that were moved, and the file that was kept.
Json encode_moved(const std::vector<std::pair<std::string, std::int64_t>>& tables, const std::string& kept);

}  // namespace zbs::codec

#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/common/messages/node.hpp"
#include "services/common/messages/registry.hpp"

/// Messages that every service sends.
/// Documents that commands of services print. What a command of one service only prints is in its folder.
namespace zbs::codec {

/// The answer of `/livez`, `/healthz` and `/readyz`.
struct Health {
    static constexpr std::string_view kOk = "ok", kStandby = "standby";
    std::string status{kOk};
    std::string reason{};  ///< why a scheduler that stands by could not take over; empty: it could
    bool operator==(const Health&) const = default;
};
Json encode(const Health& health);
/// Any value is accepted, also that of a newer service: a member that is absent or no text is empty.
Health decode_health(const Json& json);

/// A refusal, as RFC 9457 has it.
struct Problem {
    int status = 0;
    std::string code;         ///< the word of an ErrorCode
    std::string detail;       ///< a sentence
    std::string pointer{};    ///< of the field at fault; empty: none
    std::string complaint{};  ///< about that field
    bool operator==(const Problem&) const = default;
};
Json encode(const Problem& problem);
/// Any value is accepted, because it may come from a proxy: a member that is absent or of another type is empty.
Problem decode_problem(const Json& json);

/// The caller, as a service sees it.
struct WhoAmI {
    std::string name;  ///< a URI; of an anonymous caller the empty one
    bool via_proxy = false;
    bool limited = false;
    std::string serial{};  ///< of its certificate; empty: none
};
WhoAmI who_is(const PeerIdentity& peer);
struct WhoAmIInZone {
    WhoAmI caller;
    std::vector<std::string> groups;
    std::string zone;  ///< a URI
};
Json encode(const WhoAmIInZone& who);
struct WhoAmIInRegistry {
    WhoAmI caller;
    bool enrolled = false;
    std::string registry;  ///< a URI
};
Json encode(const WhoAmIInRegistry& who);

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

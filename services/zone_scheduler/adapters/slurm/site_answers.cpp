// Slurm's reports of the cluster itself: release, settings, partitions, nodes.
#include <algorithm>
#include <array>
#include <set>

#include "services/common/codec/json/json.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/printable.hpp"
#include "services/zone_scheduler/adapters/slurm/answers.hpp"
#include "services/zone_scheduler/adapters/slurm/fields.hpp"
#include "services/zone_scheduler/adapters/slurm/host_list.hpp"

namespace zbs::slurm {
namespace {

constexpr std::int64_t kMaxDays = 100'000;

/// Words of a state after which a node takes no new job, in the spelling of any command that prints it.
constexpr std::array kUnusable = {"DOWN",        "DRAIN",         "DRAINED",     "DRAINING",      "ERROR",
                                  "FAIL",        "FAILING",       "FUTURE",      "INVAL",         "INVALID",
                                  "INVALID_REG", "MAINT",         "MAINTENANCE", "NO_RESPOND",    "NOT_RESPONDING",
                                  "PERFCTRS",    "POWERING_DOWN", "REBOOT",      "REBOOT_ISSUED", "REBOOT_REQUESTED",
                                  "REBOOT^",     "UNKNOWN",       "UNK"};
/// Those after which it does, or will by itself.
constexpr std::array kUsable = {
    "ALLOC",      "ALLOCATED", "BLOCKED", "CLOUD",   "COMPLETING",   "DYNAMIC_FUTURE", "DYNAMIC_NORM",
    "IDLE",       "MIX",       "MIXED",   "PLANNED", "POWERED_DOWN", "POWERING_UP",    "POWER_UP",
    "POWER_DOWN", "RESERVED",  "RES",     "NPC",     "UNDRAIN",      "DRAIN_CLEARED",  "POWER_DRAIN"};

std::string upper(std::string_view text) {
    std::string made(text);
    for (char& c : made)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return made;
}
bool is_among(const auto& words, const std::string& word) {
    return std::any_of(words.begin(), words.end(), [&](const char* known) { return word == known; });
}

/// Why a node in these states takes no jobs; empty where it does. A word that is not known counts against it.
std::string fault_of(const std::vector<std::string>& states, std::string_view reason) {
    std::string fault;
    for (const std::string& state : states) {
        if (is_among(kUsable, upper(state))) continue;
        std::string word = printable_text(state, 40);
        if (!is_among(kUnusable, upper(state))) word += " (not a known state)";
        fault += (fault.empty() ? "" : ", ") + word;
    }
    if (!fault.empty() && !reason.empty() && reason != "none") fault += ": " + printable_text(reason, 200);
    return fault;
}

/// The signs that sinfo puts behind a state.
std::optional<std::string> word_of_sign(char sign) {
    switch (sign) {
        case '*':
            return "not_responding";
        case '~':
            return "powered_down";
        case '#':
            return "powering_up";
        case '!':
            return "power_down";
        case '%':
            return "powering_down";
        case '$':
            return "maint";
        case '@':
            return "reboot_requested";
        case '^':
            return "reboot_issued";
        case '-':
            return "planned";
        default:
            return std::nullopt;
    }
}

std::vector<std::string> states_of(std::string_view text) {
    std::vector<std::string> states;
    while (!text.empty()) {
        const auto word = word_of_sign(text.back());
        if (!word) break;
        states.push_back(*word);
        text.remove_suffix(1);
    }
    states.insert(states.begin(), std::string(text));
    return states;
}

/// A number of a setting, as in "300 sec".
std::optional<Duration> seconds_of(std::string_view text) {
    const auto number = number_of(text.substr(0, text.find(' ')), limits::kMaxWalltimeSeconds);
    if (!number) return std::nullopt;
    return std::chrono::seconds{*number};
}

Error bad_json(const std::string& pointer, const char* what) {
    return {ErrorCode::kUnavailable,
            std::string("Slurm's list of nodes is not understood: ") + what + "; is this release of Slurm a known one?",
            pointer};
}

/// A number, or as 23.02 and later write it: {"set": true, "infinite": false, "number": 4}.
std::optional<std::int64_t> json_number(const codec::Json& json) {
    const codec::Json& value = json.is_object() && json.contains("number") ? json["number"] : json;
    if (!value.is_number_integer()) return std::nullopt;
    return value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX ? INT64_MAX : value.get<std::int64_t>();
}

/// One word or several.
bool add_states(const codec::Json& node, const char* key, std::vector<std::string>& states) {
    if (!node.contains(key)) return true;
    const codec::Json& value = node[key];
    if (value.is_string()) {
        states.push_back(value.get<std::string>());
        return true;
    }
    if (!value.is_array()) return false;
    for (const codec::Json& word : value) {
        if (!word.is_string()) return false;
        states.push_back(word.get<std::string>());
    }
    return true;
}

Result<Node> read_node(const codec::Json& json, const std::string& pointer) {
    if (!json.is_object() || !json.contains("name") || !json["name"].is_string())
        return bad_json(pointer + "/name", "no name");
    Node node{.name = json["name"].get<std::string>()};
    if (!is_node_name(node.name)) return bad_json(pointer + "/name", "not a name of a node");
    const auto cpus = json.contains("cpus") ? json_number(json["cpus"]) : std::nullopt;
    if (!cpus || *cpus < 0 || *cpus > limits::kMaxNodeProcessors)
        return bad_json(pointer + "/cpus", "no number of processors");
    node.processors = static_cast<int>(*cpus);
    const auto allocated = json.contains("alloc_cpus") ? json_number(json["alloc_cpus"]) : std::nullopt;
    if (!allocated || *allocated < 0 || *allocated > limits::kMaxNodeProcessors)
        return bad_json(pointer + "/alloc_cpus", "no number of processors");
    node.allocated = static_cast<int>(*allocated);
    std::vector<std::string> states;
    if (!add_states(json, "state", states) || !add_states(json, "state_flags", states) || states.empty())
        return bad_json(pointer + "/state", "no state");
    const bool has_reason = json.contains("reason") && json["reason"].is_string();
    if (json.contains("hostname") && json["hostname"].is_string())
        node.host = printable_text(json["hostname"].get_ref<const std::string&>(), 255);
    node.fault = fault_of(states, has_reason ? json["reason"].get_ref<const std::string&>() : std::string_view{});
    return node;
}

}  // namespace

Result<Version> parse_version(std::string_view text) {
    const std::size_t digits = text.find_first_of("0123456789");
    const auto parts = digits == std::string_view::npos ? std::nullopt : split(text.substr(digits), '.', 3);
    if (!parts) return not_understood("sinfo --version", 1, text);
    const auto major = number_of((*parts)[0], 1'000), minor = number_of((*parts)[1], 1'000);
    if (!major || !minor) return not_understood("sinfo --version", 1, text);
    return Version{static_cast<int>(*major), static_cast<int>(*minor)};
}

Result<std::optional<Duration>> parse_time_limit(std::string_view text) {
    const Error fault = not_understood("scontrol", 1, text);
    if (text == "UNLIMITED" || text == "INFINITE") return std::optional<Duration>{};
    std::int64_t days = 0;
    const std::size_t dash = text.find('-');
    if (dash != std::string_view::npos) {
        const auto number = number_of(text.substr(0, dash), kMaxDays);
        if (!number) return fault;
        days = *number;
        text.remove_prefix(dash + 1);
    }
    std::vector<std::int64_t> fields;
    for (std::string_view rest = text; fields.size() < 3;) {
        const std::size_t colon = rest.find(':');
        const auto number = number_of(rest.substr(0, colon), 1'000'000'000);
        if (!number) return fault;
        fields.push_back(*number);
        if (colon == std::string_view::npos) break;
        rest.remove_prefix(colon + 1);
        if (fields.size() == 3) return fault;
    }
    if (dash != std::string_view::npos && fields.size() != 3) return fault;
    const std::int64_t hours = fields.size() == 3 ? fields[0] : 0;
    const std::int64_t minutes = fields.size() == 3 ? fields[1] : fields[0];
    const std::int64_t seconds = fields.size() >= 2 ? fields.back() : 0;
    return std::optional<Duration>{std::chrono::seconds{((days * 24 + hours) * 60 + minutes) * 60 + seconds}};
}

Result<ClusterSettings> parse_settings(std::string_view text) {
    ClusterSettings settings;
    std::set<std::string_view> seen;
    const std::vector<std::string_view> lines = lines_of(text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto pair = split(lines[i], '=', 2);
        if (!pair) continue;
        const std::string_view name = trimmed((*pair)[0]), value = trimmed((*pair)[1]);
        if (name != "ClusterName" && name != "MinJobAge" && name != "KillWait") continue;
        if (!seen.insert(name).second) return not_understood("scontrol show config", i + 1, lines[i]);
        if (name == "ClusterName") {
            settings.name = printable_text(value, 64);
            continue;
        }
        const auto time = seconds_of(value);
        if (!time) return not_understood("scontrol show config", i + 1, lines[i]);
        (name == "MinJobAge" ? settings.remembers : settings.kill_wait) = *time;
    }
    if (seen.size() != 3) return not_understood("scontrol show config", lines.size() + 1, "");
    return settings;
}

Result<std::vector<Partition>> parse_partitions(std::string_view text) {
    constexpr const char* kCommand = "scontrol show partition";
    std::vector<Partition> partitions;
    const std::vector<std::string_view> lines = lines_of(text);
    if (lines.size() == 1 && lines[0].starts_with("No partitions")) return partitions;
    if (lines.size() > limits::kMaxSlurmPartitions)
        return Error{ErrorCode::kTooLarge,
                     "the cluster has more than " + std::to_string(limits::kMaxSlurmPartitions) + " partitions",
                     {}};
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto name = word_of(lines[i], "PartitionName"), state = word_of(lines[i], "State"),
                   is_default = word_of(lines[i], "Default"), max_time = word_of(lines[i], "MaxTime"),
                   max_nodes = word_of(lines[i], "MaxNodes"), nodes = word_of(lines[i], "Nodes");
        if (!name || name->empty() || name->starts_with('-') || !state || !is_default || !max_time || !max_nodes ||
            !nodes)
            return not_understood(kCommand, i + 1, lines[i]);
        Partition partition{.name = printable_text(*name, 64), .is_default = *is_default == "YES"};
        if (*state != "UP") partition.fault = "state " + printable_text(*state, 40);
        Result<std::optional<Duration>> limit = parse_time_limit(*max_time);
        if (!limit) return not_understood(kCommand, i + 1, lines[i]);
        partition.max_walltime = *limit;
        if (*max_nodes != "UNLIMITED") {
            const auto number = number_of(*max_nodes, INT32_MAX);
            if (!number) return not_understood(kCommand, i + 1, lines[i]);
            partition.max_nodes = static_cast<int>(*number);
        }
        Result<std::vector<std::string>> names = parse_host_list(*nodes);
        if (!names)
            return Error{names.error().code, names.error().message,
                         std::string(kCommand) + ":" + std::to_string(i + 1)};
        partition.nodes = *std::move(names);
        partitions.push_back(std::move(partition));
    }
    return partitions;
}

Result<std::vector<Node>> parse_nodes(std::string_view text) {
    std::vector<Node> nodes;
    std::set<std::string_view> seen;
    const std::vector<std::string_view> lines = lines_of(text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto fields = split(lines[i], '|', 5);
        if (!fields || !is_node_name((*fields)[0])) return not_understood("sinfo", i + 1, lines[i]);
        const auto cpus = number_of((*fields)[1], limits::kMaxNodeProcessors);
        const auto allocated = number_of((*fields)[3].substr(0, (*fields)[3].find('/')), limits::kMaxNodeProcessors);
        if (!cpus || !allocated || (*fields)[2].empty()) return not_understood("sinfo", i + 1, lines[i]);
        if (!seen.insert((*fields)[0]).second) continue;  // once for each of its partitions
        if (nodes.size() >= limits::kMaxSlurmNodes)
            return Error{ErrorCode::kTooLarge,
                         "the cluster has more than " + std::to_string(limits::kMaxSlurmNodes) + " nodes",
                         {}};
        nodes.push_back({std::string((*fields)[0]), static_cast<int>(*cpus),
                         fault_of(states_of((*fields)[2]), (*fields)[4]), static_cast<int>(*allocated)});
    }
    return nodes;
}

Result<std::vector<Node>> parse_nodes_json(std::string_view text) {
    const Result<codec::Json> json = codec::parse(text);
    if (!json)
        return Error{ErrorCode::kUnavailable, "Slurm's list of nodes is not JSON: " + json.error().message,
                     json.error().pointer};
    if (!json->is_object() || !json->contains("nodes") || !(*json)["nodes"].is_array())
        return bad_json("/nodes", "no nodes");
    std::vector<Node> nodes;
    std::set<std::string> seen;
    for (const codec::Json& entry : (*json)["nodes"]) {
        const std::string pointer = "/nodes/" + std::to_string(nodes.size());
        if (nodes.size() >= limits::kMaxSlurmNodes)
            return Error{ErrorCode::kTooLarge,
                         "the cluster has more than " + std::to_string(limits::kMaxSlurmNodes) + " nodes",
                         {}};
        Result<Node> node = read_node(entry, pointer);
        if (!node) return node.error();
        if (!seen.insert(node->name).second) return bad_json(pointer, "a node twice");
        nodes.push_back(*std::move(node));
    }
    return nodes;
}

}  // namespace zbs::slurm

#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/time.hpp"
#include "services/common/codec/json/json.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/name_types.hpp"
#include "services/common/messages/steps/job_limits.hpp"
#include "services/common/messages/text/checksum.hpp"

/// Field readers shared by the message codecs.
namespace zbs::codec {

/// An enumeration as its word.
template <HasWords Enum>
Enum read_word(JsonReader& in, const char* key) {
    const std::optional<Enum> value = find_word<Enum>(in.text(key, 64));
    if (value) return *value;
    std::string words = "must be one of";
    for (const Enum known : kAll<Enum>) words += std::string(" ") + to_string(known);
    return in.fail(key, words), Enum{};
}

template <class Id>
Id read_id(JsonReader& in, const char* key) {
    const std::string text = in.text(key, 64);
    if (!in.ok()) return {};
    Result<Id> id = decode_id<Id>(text, in.pointer_of(key));
    if (!id) return in.fail(id.error()), Id{};
    return *id;
}

template <class Id>
Id read_id_or(JsonReader& in, const char* key, const Id& otherwise) {
    return in.has(key) ? read_id<Id>(in, key) : otherwise;
}

inline Caller read_identity(JsonReader& in, const char* key) {
    const std::optional<Caller> caller = parse_identity(in.text(key, 256));
    if (!caller) return in.fail(key, "must be spiffe://ORGANISATION/user/NAME (or /zone/, /operator/)"), Caller{};
    return *caller;
}

/// A name as it was read: becomes text, or the kind of name that its field has.
struct NameText {
    std::string text;
    operator std::string() && { return std::move(text); }
    template <class Kind>
    operator Name<Kind>() && {
        return Name<Kind>(std::move(text));
    }
};

inline NameText read_name(JsonReader& in, const char* key) {
    std::string name = in.text(key, 64);
    if (in.ok() && !is_valid_name(name))
        in.fail(key, "must be 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit");
    return {std::move(name)};
}

/// Microseconds since 1970, not before it.
inline Time read_time(JsonReader& in, const char* key) { return time_from_microseconds(in.integer(key, 0, INT64_MAX)); }

/// SHA-256 as 64 hexadecimal digits in small letters.
inline std::string read_digest(JsonReader& in, const char* key) {
    std::string digest = in.text(key, 64);
    if (in.ok() && !is_checksum(digest)) in.fail(key, "must be 64 hexadecimal digits in small letters (SHA-256)");
    return digest;
}

/// Id of an operation with an outside effect: 1 to 64 of A-Z a-z 0-9 -.
inline std::string read_operation(JsonReader& in, const char* key) {
    std::string text = in.text(key, 64);
    const bool good =
        !text.empty() &&
        text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
    if (in.ok() && !good) in.fail(key, "must be 1 to 64 of A-Z a-z 0-9 -");
    return text;
}

/// Ascending world ranks, at least one.
inline std::vector<TaskIndex> read_ranks(JsonReader& in, const char* key) {
    const Json& items = in.array(key, limits::kMaxRanks);
    std::vector<TaskIndex> ranks;
    for (std::size_t i = 0; i < items.size() && in.ok(); ++i) {
        const std::int64_t rank = items[i].is_number_unsigned() ? items[i].get<std::int64_t>() : -1;
        if (rank < 0 || rank >= limits::kMaxRanks || (!ranks.empty() && rank <= ranks.back())) {
            in.fail(std::string(key) + "/" + std::to_string(i), "must be a rank above the one before it");
            break;
        }
        ranks.push_back(static_cast<TaskIndex>(rank));
    }
    if (in.ok() && ranks.empty()) in.fail(key, "must hold at least one rank");
    return ranks;
}

inline Json encode_environment(const std::vector<std::pair<std::string, std::string>>& environment) {
    Json json = Json::object();
    for (const auto& [name, value] : environment) json[name] = value;
    return json;
}

/// Variables by name, at most 1 MiB of them.
inline std::vector<std::pair<std::string, std::string>> read_environment(JsonReader& in, const char* key) {
    std::vector<std::pair<std::string, std::string>> environment;
    const Json& json = in.object(key);
    if (json.size() > static_cast<std::size_t>(limits::kMaxEnvironment)) {
        in.fail(key, "has more than " + std::to_string(limits::kMaxEnvironment) + " variables");
        return environment;
    }
    std::size_t total = 0;
    for (auto it = json.begin(); it != json.end() && in.ok(); ++it) {
        const std::string at = std::string(key) + "/" + pointer_step(it.key());
        if (const std::string fault = environment_name_fault(it.key()); !fault.empty()) in.fail(at, fault);
        if (!it->is_string() || it->get_ref<const std::string&>().find('\0') != std::string::npos) {
            in.fail(at, "must be a string without NUL");
            break;
        }
        total += it.key().size() + it->get_ref<const std::string&>().size();
        environment.emplace_back(it.key(), it->get<std::string>());  // a json object is sorted by name
    }
    if (total > 1024 * 1024) in.fail(key, "is larger than 1 MiB");
    return environment;
}

}  // namespace zbs::codec

#pragma once
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "services/common/codec/json/fields.hpp"

/// The lines of a log of steps (`part_log`), one JSON object each: what the machines of parts and of applications
/// share.
namespace zbs::codec {

/// How a step ended.
struct StepOutcome {
    std::string state;   ///< its word
    std::string sha256;  ///< of the whole state as JSON
    std::string error;   ///< of a step that failed; else empty
    bool operator==(const StepOutcome&) const = default;
};

inline constexpr const char* kStepKind =
    "event";  ///< sorts before all other keys of a line: `line_log_file` relies on it

inline constexpr std::int64_t kFarUs = std::int64_t{1} << 50;  ///< 35 years; sums of a few such times do not overflow
constexpr auto steady(const char* key, auto member) { return microseconds(key, member, -kFarUs, kFarUs); }
constexpr auto length(const char* key, auto member) { return microseconds(key, member, 0, kFarUs); }

inline constexpr auto kOutcome =
    fields<StepOutcome>(text("state", &StepOutcome::state, 32), digest("sha256", &StepOutcome::sha256),
                        optional(cut_text("error", &StepOutcome::error)));

/// One alternative of a variant: its word, and the table of its fields.
template <class Message, class... Rows>
struct Alternative {
    const char* word;
    Table<Message, Rows...> table;

    bool write(Json& json, const char* key, const auto& value) const {
        const Message* message = std::get_if<Message>(&value);
        if (message == nullptr) return false;
        json[key] = word;
        table.write(json, *message);
        return true;
    }
    bool read(JsonReader& in, const std::string& wanted, auto& value) const {
        if (wanted != word) return false;
        Message message{};
        table.read(in, message);
        value = std::move(message);
        return true;
    }
};
template <class Message, class... Rows>
constexpr Alternative<Message, Rows...> alternative(const char* word, Rows... rows) {
    return {word, fields<Message>(rows...)};
}

/// A variant in place of a table: under `key` the word of its alternative, whose fields stand beside it.
template <class Variant, class... Alternatives>
struct OneOf {
    static_assert(std::variant_size_v<Variant> == sizeof...(Alternatives));
    const char* key;
    std::tuple<Alternatives...> alternatives;

    void write(Json& json, const Variant& value) const {
        std::apply([&](const auto&... one) { static_cast<void>((one.write(json, key, value) || ...)); }, alternatives);
    }
    void read(JsonReader& in, Variant& value) const {
        const std::string word = in.text(key, 32);
        const auto read_one = [&](const auto&... one) { return (one.read(in, word, value) || ...); };
        if (!in.ok() || std::apply(read_one, alternatives)) return;
        std::string words = "must be one of";
        std::apply([&](const auto&... one) { ((words += std::string(" ") + one.word), ...); }, alternatives);
        in.fail(key, words);
    }
};
template <class Variant, class... Alternatives>
constexpr OneOf<Variant, Alternatives...> one_of_these(const char* key, Alternatives... alternatives) {
    return {key, {alternatives...}};
}

}  // namespace zbs::codec

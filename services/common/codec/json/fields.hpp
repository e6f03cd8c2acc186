#pragma once
#include <functional>
#include <tuple>
#include <type_traits>

#include "services/common/codec/json/words.hpp"

/// A message as a table of its fields. Both directions use it, so each field is written once:
///
///     constexpr auto kNodeLease = fields<NodeLease>(name("node", &NodeLease::node),
///                                                   seconds("lease_s", &NodeLease::lease, 3'600));
///     Json encode(const NodeLease& lease) { return kNodeLease.encode(lease); }
///     Result<NodeLease> decode_node_lease(const Json& json) { return kNodeLease.decode(json); }
///
/// A row names the kind of the field, its key in the JSON, its member, and the bounds of its value. A member that is a
/// `std::optional` is left out of the JSON while it has no value. Any other member is required, unless its row is
/// wrapped in `optional` or `defaulted`.
namespace zbs::codec {

/// The type of a value, or of the value that a member pointer leads to; of a `std::optional` what it holds.
template <class T>
struct ValueOf : std::type_identity<T> {};
template <class T>
struct ValueOf<std::optional<T>> : ValueOf<T> {};
template <class Message, class Member>
struct ValueOf<Member Message::*> : ValueOf<Member> {};
template <class T>
using Value = typename ValueOf<T>::type;
enum class Presence { kRequired, kOptional, kDefaulted };

/// One row, and the kind of a field that is like no other: `to_json(value)`, and back `from_json(in, key)`.
template <class Message, class Member, class ToJson, class FromJson, Presence kPresence = Presence::kRequired>
struct Field {
    static constexpr bool kMayBeNone = !std::is_same_v<Value<Member>, Member>;
    const char* key;
    Member Message::*member;
    ToJson to_json;
    FromJson from_json;
    void write(Json& json, const Message& message) const {
        const Member& value = message.*member;
        if constexpr (kPresence == Presence::kOptional) {
            static const Message usual{};
            if (value == usual.*member) return;
        }
        if constexpr (!kMayBeNone)
            json[key] = to_json(value);
        else if (value)
            json[key] = to_json(*value);
    }
    void read(JsonReader& in, Message& message) const {
        if ((kPresence == Presence::kRequired && !kMayBeNone) || in.has(key))
            message.*member = static_cast<Value<Member>>(std::invoke(from_json, in, key));
    }
    template <Presence kOther>
    constexpr Field<Message, Member, ToJson, FromJson, kOther> with() const {
        return {key, member, to_json, from_json};
    }
};
template <class Message, class Member, class ToJson, class FromJson>
Field(const char*, Member Message::*, ToJson, FromJson) -> Field<Message, Member, ToJson, FromJson>;
/// Left out while it has the value that it has in `Message{}`, which a reader then assumes.
constexpr auto optional(const auto& row) { return row.template with<Presence::kOptional>(); }
/// Always written; where it is absent a reader assumes the value that it has in `Message{}`.
constexpr auto defaulted(const auto& row) { return row.template with<Presence::kDefaulted>(); }

/// The rows of a message, in the order in which they are read: fields, other tables of the same message, and anything
/// else with `write` and `read`, for members that depend on each other.
template <class Message, class... Rows>
struct Table {
    std::tuple<Rows...> rows;
    void (*check)(JsonReader& in, const Message& message) = nullptr;

    /// The same with a check across fields, which runs when each field by itself is good.
    constexpr Table checked(void (*across)(JsonReader&, const Message&)) const { return {rows, across}; }
    void write(Json& json, const Message& message) const {
        std::apply([&](const Rows&... row) { (row.write(json, message), ...); }, rows);
    }
    void read(JsonReader& in, Message& message) const {
        std::apply([&](const Rows&... row) { (row.read(in, message), ...); }, rows);
        if (check != nullptr && in.ok()) check(in, message);
    }
    Json encode(const Message& message) const {
        Json json = Json::object();
        write(json, message);
        return json;
    }
    Result<Message> decode(const Json& json, const std::string& pointer = {}) const {
        JsonReader in(json, pointer);
        Message message{};
        read(in, message);
        return in.finish(std::move(message));
    }
};
template <class Message, class... Rows>
constexpr Table<Message, Rows...> fields(Rows... rows) {
    return {{rows...}};
}

/// Two functions in the place of a table, for a message that has none.
template <class Message>
struct Functions {
    Json (*encode)(const Message&);
    Result<Message> (*decode)(const Json&, const std::string&);
};
template <class Message>
Functions(Json (*)(const Message&), Result<Message> (*)(const Json&, const std::string&)) -> Functions<Message>;

/// A member whose fields stand among those of the message itself.
template <class Message, class Member, class Fields>
struct Inlined {
    Member Message::*member;
    Fields table;
    void write(Json& json, const Message& message) const { table.write(json, message.*member); }
    void read(JsonReader& in, Message& message) const { table.read(in, message.*member); }
};
template <class Message, class Member, class Fields>
Inlined(Member Message::*, Fields) -> Inlined<Message, Member, Fields>;

inline constexpr auto kAsIs = [](const auto& value) { return Json(value); };

constexpr auto boolean(const char* key, auto member) { return Field{key, member, kAsIs, &JsonReader::boolean}; }
constexpr auto integer(const char* key, auto member, std::int64_t min, std::int64_t max) {
    return Field{key, member, kAsIs, [=](JsonReader& in, const char* k) { return in.integer(k, min, max); }};
}
constexpr auto count(const char* key, auto member, std::int64_t max = INT64_MAX) {
    return integer(key, member, 0, max);
}
constexpr auto number(const char* key, auto member, double min, double max) {
    return Field{key, member, kAsIs, [=](JsonReader& in, const char* k) { return in.number(k, min, max); }};
}
constexpr auto seconds(const char* key, auto member, double max) {
    return Field{key, member, to_seconds, [=](JsonReader& in, const char* k) { return in.seconds(k, max); }};
}
constexpr auto microseconds(const char* key, auto member, std::int64_t min = 0, std::int64_t max = INT64_MAX) {
    return Field{key, member, [](Duration value) { return value.count(); },
                 [=](JsonReader& in, const char* k) { return Duration{in.integer(k, min, max)}; }};
}
constexpr auto time(const char* key, auto member) { return Field{key, member, to_microseconds, read_time}; }
constexpr auto text(const char* key, auto member, std::size_t max_bytes = JsonReader::kMaxText) {
    return Field{key, member, kAsIs, [=](JsonReader& in, const char* k) { return in.text(k, max_bytes); }};
}
/// A text from outside: cut to its limit where it is written.
constexpr auto cut_text(const char* key, auto member, std::size_t max_bytes = JsonReader::kMaxText) {
    return Field{key, member, [=](const std::string& value) { return bounded(value, max_bytes); },
                 [=](JsonReader& in, const char* k) { return in.text(k, max_bytes); }};
}
constexpr auto texts(const char* key, auto member, std::size_t max_count, std::size_t max_bytes) {
    using Texts = Value<decltype(member)>;
    return Field{key, member, kAsIs, [=](JsonReader& in, const char* k) {
                     const std::vector<std::string> texts = in.texts(k, max_count, max_bytes);
                     return Texts(texts.begin(), texts.end());
                 }};
}
constexpr auto name(const char* key, auto member) { return Field{key, member, kAsIs, read_name}; }
constexpr auto digest(const char* key, auto member) { return Field{key, member, kAsIs, read_digest}; }
constexpr auto operation(const char* key, auto member) { return Field{key, member, kAsIs, read_operation}; }
constexpr auto ranks(const char* key, auto member) { return Field{key, member, kAsIs, read_ranks}; }
constexpr auto identity(const char* key, auto member) { return Field{key, member, to_uri, read_identity}; }
constexpr auto environment(const char* key, auto member) {
    return Field{key, member, encode_environment, read_environment};
}
constexpr auto id(const char* key, auto member) {
    using Id = Value<decltype(member)>;
    return Field{key, member, [](const Id& value) { return to_string(value); }, read_id<Id>};
}
constexpr auto word(const char* key, auto member) {
    using Word = Value<decltype(member)>;
    return Field{key, member, [](Word value) { return to_string(value); }, read_word<Word>};
}

/// A message in a message; `codec` is its table or its `Functions`.
constexpr auto nested(const char* key, auto member, const auto& codec) {
    using Part = Value<decltype(member)>;
    return Field{key, member, [codec](const Part& part) { return codec.encode(part); },
                 [codec](JsonReader& in, const char* k) {
                     const Json& json = in.object(k);
                     Result<Part> part = in.ok() ? codec.decode(json, in.pointer_of(k)) : in.error();
                     if (!part) return in.fail(part.error()), Part{};
                     return *std::move(part);
                 }};
}
/// A list of messages: a vector, a set, or a map of pairs.
constexpr auto list(const char* key, auto member, std::size_t max_count, const auto& codec) {
    using Items = Value<decltype(member)>;
    return Field{key, member,
                 [codec](const Items& items) {
                     Json json = Json::array();
                     for (const auto& item : items) json.push_back(codec.encode(item));
                     return json;
                 },
                 [codec, max_count](JsonReader& in, const char* k) {
                     const Json& json = in.array(k, max_count);
                     Items items;
                     for (std::size_t i = 0; i < json.size() && in.ok(); ++i) {
                         auto item = codec.decode(json[i], in.pointer_of(std::string(k) + "/" + std::to_string(i)));
                         if (!item) return in.fail(item.error()), items;
                         items.insert(items.end(), *std::move(item));
                     }
                     return items;
                 }};
}

}  // namespace zbs::codec

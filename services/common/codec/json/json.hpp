#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace zbs::codec {

using Json = nlohmann::json;

/// Strict RFC 8259: no duplicate keys, no comments, valid UTF-8, at most `limits::kMaxJsonDepth` deep, nothing after
/// the value. The error says where: line and column of the fault, or the JSON pointer of a duplicate key.
Result<Json> parse(std::string_view text);

/// At most `max_bytes` of `text` as UTF-8, cut between characters; what is no UTF-8 becomes U+FFFD. For texts from
/// outside that go into a message whose reader has a limit: what is written must be readable.
std::string bounded(std::string text, std::size_t max_bytes);

/// Compact text. Invalid UTF-8 (from a program's name, say) becomes U+FFFD.
std::string dump(const Json& json);

/// `key` as one step of a JSON pointer: `~` and `/` written as `~0` and `~1` (RFC 6901).
std::string pointer_step(std::string_view key);

/// Reads the fields of one JSON object; remembers the first fault with the JSON pointer of its field, after which every
/// read gives a harmless default. `finish` also refuses fields that nobody asked for.
class JsonReader {
  public:
    explicit JsonReader(const Json& json, std::string pointer = {});

    bool has(const char* key);
    static constexpr std::size_t kMaxText = 4096;
    std::string text(const char* key, std::size_t max_bytes = kMaxText);
    std::int64_t integer(const char* key, std::int64_t min, std::int64_t max);
    std::int64_t integer_or(const char* key, std::int64_t fallback, std::int64_t min, std::int64_t max);
    double number(const char* key, double min, double max);
    double number_or(const char* key, double fallback, double min, double max);
    bool boolean(const char* key);
    bool boolean_or(const char* key, bool fallback);
    /// Seconds, fractions allowed, 0..max.
    Duration seconds(const char* key, double max);
    std::vector<std::string> texts(const char* key, std::size_t max_count, std::size_t max_bytes);
    /// An array, or an empty one and a fault.
    const Json& array(const char* key, std::size_t max_count);
    const Json& object(const char* key);
    /// Any value; null and a fault where absent.
    const Json& any(const char* key);

    /// Where `key` is in the whole document.
    std::string pointer_of(const std::string& key) const { return pointer_ + "/" + key; }
    /// `key` is a step, or several joined by `/`; a key that comes from the document goes through `pointer_step` first.
    void fail(const std::string& key, std::string message);
    void fail(Error error);
    bool ok() const { return !error_.has_value(); }
    const Error& error() const { return *error_; }

    template <class T>
    Result<T> finish(T value) {
        check_unknown();
        if (error_) return *error_;
        return value;
    }

  private:
    const Json* find(const char* key, bool required);
    void check_unknown();

    const Json* json_;
    std::string pointer_;
    std::vector<const char*> known_;
    std::optional<Error> error_;
};

}  // namespace zbs::codec

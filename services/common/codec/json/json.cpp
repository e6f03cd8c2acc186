#include "services/common/codec/json/json.hpp"

#include <algorithm>

#include "algorithms/base/utf8.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

/// Builds the value while it refuses duplicate keys and too much depth, which nlohmann's own builder does not.
class StrictBuilder : public nlohmann::json_sax<Json> {
  public:
    Json root;
    std::optional<Error> error;

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool end_object() override { return stack_.pop_back(), true; }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_array() override { return stack_.pop_back(), true; }

    bool key(string_t& name) override {
        const auto [at, fresh] = stack_.back()->get_ref<Json::object_t&>().try_emplace(name, nullptr);
        if (!fresh) {
            error = invalid("key \"" + name + "\" stands twice in one object", pointer() + "/" + pointer_step(name));
            return false;
        }
        slot_ = &at->second;
        names_.resize(stack_.size());
        names_.back() = name;
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& fault) override {
        std::string what = fault.what();
        if (const std::size_t colon = what.find("] "); colon != std::string::npos) what = what.substr(colon + 2);
        error = invalid("not valid JSON: " + what, "byte " + std::to_string(position));
        return false;
    }

  private:
    template <class Value>
    bool add(Value&& value) {
        put(Json(std::forward<Value>(value)));
        return true;
    }
    Json* put(Json value) {
        if (stack_.empty()) {
            root = std::move(value);
            return &root;
        }
        if (stack_.back()->is_array()) {
            stack_.back()->push_back(std::move(value));
            return &stack_.back()->back();
        }
        *slot_ = std::move(value);
        return slot_;
    }
    bool open(Json empty) {
        if (stack_.size() >= static_cast<std::size_t>(limits::kMaxJsonDepth)) {
            error = invalid("nested deeper than " + std::to_string(limits::kMaxJsonDepth) + " levels",
                            pointer(/*at_value=*/true));
            return false;
        }
        stack_.push_back(put(std::move(empty)));
        return true;
    }
    /// Where the innermost open container is; with `at_value` where the value is that would be added to it now.
    std::string pointer(bool at_value = false) const {
        std::string text;
        for (std::size_t i = 0; i < stack_.size(); ++i) {
            const bool holds_next = i + 1 < stack_.size();  // the container inside it is among its items already
            if (stack_[i]->is_array()) {
                text += "/" + std::to_string(stack_[i]->size() - (holds_next ? 1 : 0));
            } else if (holds_next || at_value) {
                text += "/" + pointer_step(names_[i]);
            }
        }
        return text;
    }

    std::vector<Json*> stack_;
    std::vector<std::string> names_;
    Json* slot_ = nullptr;
};

const Json kNull;
const Json kEmptyArray = Json::array();
const Json kEmptyObject = Json::object();

}  // namespace

Result<Json> parse(std::string_view text) {
    // nlohmann's lexer takes NUL for the end of the text, and would let anything follow it.
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
        return invalid("not valid JSON: NUL", "byte " + std::to_string(nul + 1));
    }
    StrictBuilder builder;
    const bool done = Json::sax_parse(text.begin(), text.end(), &builder);
    if (builder.error) return *builder.error;
    if (!done) return invalid("not valid JSON");
    return std::move(builder.root);
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string bounded(std::string text, std::size_t max_bytes) {
    if (!is_utf8(text)) text = Json::parse(dump(Json(text))).get<std::string>();
    if (text.size() <= max_bytes) return text;
    while (max_bytes > 0 && (static_cast<unsigned char>(text[max_bytes]) & 0xc0) == 0x80) --max_bytes;
    text.resize(max_bytes);
    return text;
}

std::string pointer_step(std::string_view key) {
    std::string step;
    for (const char c : key) {
        if (c == '~')
            step += "~0";
        else if (c == '/')
            step += "~1";
        else
            step += c;
    }
    return step;
}

JsonReader::JsonReader(const Json& json, std::string pointer) : json_(&json), pointer_(std::move(pointer)) {
    if (!json.is_object()) {
        error_ = invalid("must be a JSON object", pointer_);
        json_ = &kEmptyObject;
    }
}

void JsonReader::fail(const std::string& key, std::string message) {
    fail(invalid(std::move(message), pointer_of(key)));
}
void JsonReader::fail(Error error) {
    if (!error_) error_ = std::move(error);
}

const Json* JsonReader::find(const char* key, bool required) {
    known_.push_back(key);
    const auto at = json_->find(key);
    if (at == json_->end()) {
        if (required) fail(key, "is missing");
        return nullptr;
    }
    return &*at;
}

bool JsonReader::has(const char* key) { return find(key, false) != nullptr; }

std::string JsonReader::text(const char* key, std::size_t max_bytes) {
    const Json* value = find(key, true);
    if (value == nullptr) return {};
    if (!value->is_string()) return fail(key, "must be a string"), std::string{};
    const auto& text = value->get_ref<const std::string&>();
    if (text.size() > max_bytes)
        return fail(key, "is longer than " + std::to_string(max_bytes) + " bytes"), std::string{};
    if (text.find('\0') != std::string::npos) return fail(key, "holds a NUL character"), std::string{};
    return text;
}

std::int64_t JsonReader::integer(const char* key, std::int64_t min, std::int64_t max) {
    const Json* value = find(key, true);
    if (value == nullptr) return min;
    const bool fits =
        value->is_number_integer() &&
        !(value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX));
    if (!fits || value->get<std::int64_t>() < min || value->get<std::int64_t>() > max) {
        return fail(key, "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max)), min;
    }
    return value->get<std::int64_t>();
}

std::int64_t JsonReader::integer_or(const char* key, std::int64_t fallback, std::int64_t min, std::int64_t max) {
    return has(key) ? integer(key, min, max) : fallback;
}

double JsonReader::number(const char* key, double min, double max) {
    const Json* value = find(key, true);
    if (value == nullptr) return min;
    const double number = value->is_number() ? value->get<double>() : std::nan("");
    if (!(number >= min && number <= max)) {
        return fail(key, "must be a number from " + Json(min).dump() + " to " + Json(max).dump()), min;
    }
    return number;
}

double JsonReader::number_or(const char* key, double fallback, double min, double max) {
    return has(key) ? number(key, min, max) : fallback;
}

bool JsonReader::boolean(const char* key) {
    const Json* value = find(key, true);
    if (value == nullptr) return false;
    if (!value->is_boolean()) return fail(key, "must be true or false"), false;
    return value->get<bool>();
}

bool JsonReader::boolean_or(const char* key, bool fallback) { return has(key) ? boolean(key) : fallback; }

Duration JsonReader::seconds(const char* key, double max) { return seconds_to_duration(number(key, 0, max)); }

std::vector<std::string> JsonReader::texts(const char* key, std::size_t max_count, std::size_t max_bytes) {
    std::vector<std::string> out;
    const Json& items = array(key, max_count);
    std::size_t total = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string at = std::string(key) + "/" + std::to_string(i);
        if (!items[i].is_string()) return fail(at, "must be a string"), std::vector<std::string>{};
        const auto& text = items[i].get_ref<const std::string&>();
        total += text.size();
        if (total > max_bytes)
            return fail(key, "is longer than " + std::to_string(max_bytes) + " bytes in all"),
                   std::vector<std::string>{};
        if (text.find('\0') != std::string::npos) return fail(at, "holds a NUL character"), std::vector<std::string>{};
        out.push_back(text);
    }
    return out;
}

const Json& JsonReader::array(const char* key, std::size_t max_count) {
    const Json* value = find(key, true);
    if (value == nullptr) return kEmptyArray;
    if (!value->is_array()) return fail(key, "must be an array"), kEmptyArray;
    if (value->size() > max_count)
        return fail(key, "has more than " + std::to_string(max_count) + " items"), kEmptyArray;
    return *value;
}

const Json& JsonReader::object(const char* key) {
    const Json* value = find(key, true);
    if (value == nullptr) return kEmptyObject;
    if (!value->is_object()) return fail(key, "must be an object"), kEmptyObject;
    return *value;
}

const Json& JsonReader::any(const char* key) {
    const Json* value = find(key, true);
    return value == nullptr ? kNull : *value;
}

void JsonReader::check_unknown() {
    if (error_) return;
    for (auto it = json_->begin(); it != json_->end(); ++it) {
        const bool known = std::any_of(known_.begin(), known_.end(), [&](const char* key) { return it.key() == key; });
        if (!known) return fail(pointer_step(it.key()), "is not a field of this message");
    }
}

}  // namespace zbs::codec

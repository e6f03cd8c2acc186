#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "services/common/codec/json/json.hpp"

namespace zbs::codec {

/// Reads an object that one of our services sent, to show it. The service may be of another release, so a member that
/// is absent or of another type gives the default, and unknown members are ignored. Refers to the object.
class ReplyView {
  public:
    explicit ReplyView(const Json& json) : json_(&json) {}

    bool has(const char* key) const { return find(key) != nullptr; }
    std::string text(const char* key, std::string otherwise = {}) const {
        const Json* at = find(key);
        return at != nullptr && at->is_string() ? at->get<std::string>() : std::move(otherwise);
    }
    std::int64_t integer(const char* key) const {
        const Json* at = find(key);
        return at != nullptr && at->is_number_integer() ? at->get<std::int64_t>() : 0;
    }
    double number(const char* key) const {
        const Json* at = find(key);
        return at != nullptr && at->is_number() ? at->get<double>() : 0.0;
    }
    bool boolean(const char* key) const {
        const Json* at = find(key);
        return at != nullptr && at->is_boolean() && at->get<bool>();
    }
    /// Null where there is none.
    const Json& any(const char* key) const {
        static const Json kNull;
        const Json* at = find(key);
        return at != nullptr ? *at : kNull;
    }
    ReplyView object(const char* key) const { return ReplyView(any(key)); }
    /// The items of an array, empty where there is none.
    const Json& array(const char* key) const {
        static const Json kNone = Json::array();
        const Json* at = find(key);
        return at != nullptr && at->is_array() ? *at : kNone;
    }
    /// Those items of an array that are texts.
    std::vector<std::string> texts(const char* key) const {
        std::vector<std::string> texts;
        for (const Json& item : array(key))
            if (item.is_string()) texts.push_back(item.get<std::string>());
        return texts;
    }

  private:
    const Json* find(const char* key) const {
        if (!json_->is_object()) return nullptr;
        const auto at = json_->find(key);
        return at != json_->end() ? &*at : nullptr;
    }

    const Json* json_;
};

}  // namespace zbs::codec

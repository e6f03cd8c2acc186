#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace zbs {

/// One setting of a configuration as it is in force.
struct ConfigValue {
    std::string key;  ///< dotted; of an array of tables with the number of the table: "machine.0.name"
    std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>> value;
    std::string place;  ///< "file:line"; empty: no file says it, this is the default
    bool operator==(const ConfigValue&) const = default;
};

/// What a configuration says: all its settings in force, and the files that were read for them, in their order.
struct Configuration {
    std::vector<ConfigValue> values;
    std::vector<std::string> files;  ///< also those in which nothing counts
};

/// Where `key`, or a value in the table of that name, stands: "file:line"; empty where no file says it. O(settings).
inline std::string place_of(const std::vector<ConfigValue>& values, const std::string& key) {
    for (const ConfigValue& one : values)
        if (!one.place.empty() && (one.key == key || one.key.starts_with(key + "."))) return one.place;
    return {};
}
/// The same; `otherwise`, e.g. the main file, where no file says it.
inline std::string place_of(const std::vector<ConfigValue>& values, const std::string& key,
                            const std::string& otherwise) {
    std::string place = place_of(values, key);
    return place.empty() ? otherwise : place;
}

}  // namespace zbs

#include "services/common/adapters/system/config_file.hpp"

#include <toml++/toml.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "algorithms/base/suggestion.hpp"

namespace zbs::system {
namespace {

std::vector<std::string> split(const std::string& key) {
    std::vector<std::string> parts;
    std::istringstream in(key);
    for (std::string part; std::getline(in, part, '.');) parts.push_back(part);
    return parts;
}

}  // namespace

struct ConfigFile::Impl {
    std::string path;
    toml::table table;
    std::set<std::string> known;
    std::set<std::string> tables;         ///< asked whether they are there, or how many
    std::optional<Error> fault, missing;  ///< the first fault of what is there; of what is not

    const toml::node* find(const std::string& key) const {
        const toml::node* node = &table;
        for (const std::string& part : split(key)) {
            if (const toml::table* inner = node->as_table()) {
                node = inner->get(part);
            } else if (const toml::array* array = node->as_array()) {
                node = array->get(static_cast<std::size_t>(std::atoi(part.c_str())));
            } else {
                return nullptr;
            }
            if (node == nullptr) return nullptr;
        }
        return node;
    }
    std::string place(const toml::node* node) const {
        return node == nullptr ? path : path + ":" + std::to_string(node->source().begin.line);
    }
    void fail(const toml::node* node, const std::string& message) {
        std::optional<Error>& first = node == nullptr ? missing : fault;
        if (!first) first = invalid(message, place(node));
    }
    /// True where `prefix` is, or leads to, a key or table that was asked for.
    bool leads_somewhere(const std::string& prefix) const {
        const auto leads = [&](const std::set<std::string>& keys) {
            const auto at = keys.lower_bound(prefix + ".");
            return keys.contains(prefix) || (at != keys.end() && at->starts_with(prefix + "."));
        };
        return prefix.empty() || leads(known) || leads(tables);
    }
    /// "; did you mean ...", where a key beside it is spelt much like it, or one of its name belongs elsewhere.
    std::string meant(const std::string& unknown) const {
        const std::size_t dot = unknown.rfind('.');
        const std::string parent = dot == std::string::npos ? std::string{} : unknown.substr(0, dot + 1);
        const std::string word = unknown.substr(parent.size());
        std::vector<std::string> names;  // beside it; of a table its first word
        std::set<std::string> all = known;
        all.insert(tables.begin(), tables.end());
        for (const std::string& key : all)
            if (key.starts_with(parent))
                names.push_back(key.substr(parent.size(), key.find('.', parent.size()) - parent.size()));
        const std::vector<std::string_view> views(names.begin(), names.end());
        if (const std::string_view near = closest_name(word, views); !near.empty())
            return "; did you mean '" + parent + std::string(near) + "'?";
        for (const std::string& key : known)
            if (key.ends_with("." + word)) return "; did you mean '" + key + "'?";
        return {};
    }
    void check_known(const toml::node& node, const std::string& prefix) {
        const bool holds_more = node.is_table() || node.is_array();
        if (holds_more && !leads_somewhere(prefix)) {
            fail(&node, "'" + prefix + "' is not a setting of this program" + meant(prefix));
        } else if (const toml::table* inner = node.as_table()) {
            for (const auto& [key, value] : *inner) {
                const std::string name =
                    prefix.empty() ? std::string(key.str()) : prefix + "." + std::string(key.str());
                check_known(value, name);
            }
        } else if (const toml::array* array = node.as_array(); array != nullptr && !known.contains(prefix)) {
            for (std::size_t i = 0; i < array->size(); ++i)
                check_known(*array->get(i), prefix + "." + std::to_string(i));
        } else if (!known.contains(prefix)) {
            fail(&node, "'" + prefix + "' is not a setting of this program" + meant(prefix));
        }
    }
};

ConfigFile::ConfigFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ConfigFile::~ConfigFile() = default;
ConfigFile::ConfigFile(ConfigFile&&) noexcept = default;
ConfigFile& ConfigFile::operator=(ConfigFile&&) noexcept = default;

Result<ConfigFile> ConfigFile::read(const std::string& path) {
    errno = 0;
    std::ifstream in(path);
    std::stringstream text;
    if (in) text << in.rdbuf();
    if (errno != 0)
        return Error{ErrorCode::kNotFound,
                     std::string("the configuration file cannot be read: ") + std::strerror(errno), path};
    auto impl = std::make_unique<Impl>();
    impl->path = path;
    try {
        impl->table = toml::parse(text.str(), path);
    } catch (const toml::parse_error& fault) {
        return invalid(std::string(fault.description()), path + ":" + std::to_string(fault.source().begin.line));
    }
    return ConfigFile(std::move(impl));
}

std::string ConfigFile::text(const std::string& key, const std::string& fallback) {
    impl_->known.insert(key);
    const toml::node* node = impl_->find(key);
    if (node == nullptr) return fallback;
    if (!node->is_string()) return impl_->fail(node, "'" + key + "' must be a text in quotes"), fallback;
    return *node->value<std::string>();
}

std::string ConfigFile::required_text(const std::string& key) {
    if (impl_->find(key) == nullptr) impl_->fail(nullptr, "'" + key + "' is missing");
    std::string found = text(key, "");
    if (const toml::node* node = impl_->find(key); node != nullptr && node->is_string() && found.empty())
        impl_->fail(node, "'" + key + "' must not be empty");
    return found;
}

std::int64_t ConfigFile::integer(const std::string& key, std::int64_t fallback, std::int64_t min, std::int64_t max) {
    impl_->known.insert(key);
    const toml::node* node = impl_->find(key);
    if (node == nullptr) return fallback;
    const auto value = node->is_integer() ? node->value<std::int64_t>() : std::nullopt;
    if (!value || *value < min || *value > max) {
        return impl_->fail(node, "'" + key + "' must be a whole number from " + std::to_string(min) + " to " +
                                     std::to_string(max)),
               fallback;
    }
    return *value;
}

double ConfigFile::number(const std::string& key, double fallback, double min, double max) {
    impl_->known.insert(key);
    const toml::node* node = impl_->find(key);
    if (node == nullptr) return fallback;
    const auto value = node->is_number() ? node->value<double>() : std::nullopt;
    if (!value || !(*value >= min && *value <= max)) {
        std::ostringstream range;
        range << "'" << key << "' must be a number from " << min << " to " << max;
        return impl_->fail(node, range.str()), fallback;
    }
    return *value;
}

bool ConfigFile::boolean(const std::string& key, bool fallback) {
    impl_->known.insert(key);
    const toml::node* node = impl_->find(key);
    if (node == nullptr) return fallback;
    if (!node->is_boolean()) return impl_->fail(node, "'" + key + "' must be true or false"), fallback;
    return *node->value<bool>();
}

std::pair<std::string, int> ConfigFile::address(const std::string& key, const std::string& fallback, int example_port) {
    const std::string listen = text(key, fallback);
    const std::size_t colon = listen.rfind(':');
    int port = -1;
    if (colon != std::string::npos) std::from_chars(listen.data() + colon + 1, listen.data() + listen.size(), port);
    std::string host = listen.substr(0, colon);
    const bool in_brackets = host.starts_with('[') && host.ends_with(']');  // of IPv6, as in a URL
    if (in_brackets) host = host.substr(1, host.size() - 2);
    if (port >= 0 && port <= 65535 && in_brackets == (host.find(':') != std::string::npos))
        return {std::move(host), port};
    const std::string example = std::to_string(example_port);
    fail(key, "'" + key + "' must be ADDRESS:PORT, e.g. 127.0.0.1:" + example + " or [::1]:" + example);
    return {{}, -1};
}

bool ConfigFile::has(const std::string& key) const {
    impl_->tables.insert(key);
    return impl_->find(key) != nullptr;
}

std::vector<std::string> ConfigFile::texts(const std::string& key) {
    impl_->known.insert(key);
    const toml::node* node = impl_->find(key);
    std::vector<std::string> out;
    if (node == nullptr) return out;
    const toml::array* array = node->as_array();
    if (array == nullptr) return impl_->fail(node, "'" + key + "' must be a list of texts"), out;
    for (const toml::node& item : *array) {
        if (!item.is_string()) return impl_->fail(&item, "'" + key + "' must be a list of texts"), out;
        out.push_back(*item.value<std::string>());
    }
    return out;
}

std::size_t ConfigFile::table_count(const std::string& key) {
    impl_->tables.insert(key);
    const toml::node* node = impl_->find(key);
    if (node == nullptr) return 0;
    if (!node->is_array_of_tables())
        return impl_->fail(node, "'" + key + "' must be written as [[" + key + "]] tables"), 0;
    return node->as_array()->size();
}

std::string ConfigFile::place(const std::string& key) const { return impl_->place(impl_->find(key)); }
void ConfigFile::fail(const std::string& key, const std::string& message) { impl_->fail(impl_->find(key), message); }

Result<void> ConfigFile::finish() {
    // What seems to be missing may be there, but misspelt.
    if (!impl_->fault) impl_->check_known(impl_->table, "");
    if (!impl_->fault) impl_->fault = impl_->missing;
    if (impl_->fault) return *impl_->fault;
    return {};
}

}  // namespace zbs::system

#include "services/common/adapters/system/config_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "algorithms/base/suggestion.hpp"
#include "services/common/messages/names/host_name.hpp"

namespace zbs::system {
namespace {

std::vector<std::string> split(const std::string& key) {
    std::vector<std::string> parts;
    std::istringstream in(key);
    for (std::string part; std::getline(in, part, '.');) parts.push_back(part);
    return parts;
}

/// At most `room` bytes, which are taken off it.
Result<std::string> read_text(const std::string& path, std::size_t& room) {
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    std::string text;
    for (std::array<char, 65'536> piece{}; in && text.size() <= room;) {
        in.read(piece.data(), piece.size());
        text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    }
    if (!in.is_open() || in.bad() || errno != 0)
        return Error{ErrorCode::kNotFound,
                     std::string("the configuration file cannot be read: ") + std::strerror(errno), path};
    if (text.size() > room)
        return invalid("the configuration has more than " + std::to_string(kMaxConfigBytes >> 20) + " MiB", path);
    room -= text.size();
    return text;
}

/// The value that stands in a line, without what is around it; the whole line where it has no key.
std::string_view value_in(std::string_view text, std::uint32_t line) {
    for (std::uint32_t at = 1; at < line && !text.empty(); ++at)
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    text = text.substr(0, text.find('\n'));
    text.remove_prefix(text.find('=') == std::string_view::npos ? 0 : text.find('=') + 1);
    text.remove_prefix(std::min(text.find_first_not_of(" \t["), text.size()));
    return text.substr(0, text.find_first_of(" \t\r,]#"));
}

/// A word for true or false that is none in TOML.
bool is_truth(std::string_view value) {
    constexpr std::array<std::string_view, 6> kWords = {"yes", "no", "on", "off", "true", "false"};
    std::string word(value);
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::ranges::find(kWords, word) != kWords.end();
}

/// Begins as a number, but is an address, a network or the like.
bool is_bare_text(std::string_view value) {
    return !value.empty() && value.front() != '"' && value.front() != '\'' &&
           (value.find_first_of(":/") != std::string_view::npos || std::ranges::count(value, '.') > 1);
}

/// What may be meant where TOML itself cannot be read.
std::string hint(std::string_view fault, std::string_view value) {
    const auto has = [fault](std::string_view part) { return fault.find(part) != std::string_view::npos; };
    if (has("string") && (has("control characters") || has("end-of-file"))) return "; is a quote missing at its end?";
    if (is_truth(value)) return "; what is on or off is written true or false";
    if (is_bare_text(value)) return "; is a quote missing? A text stands in quotes";
    if (has("could not determine value type")) return "; is a quote missing? A text stands in quotes";
    if (has("array") && has("expected comma")) return "; is a quote or a comma missing?";
    return {};
}

constexpr std::size_t kMaxKeyDots = 16;  ///< in one key; tables in tables are walked by recursion

/// The line of a key with more dots than `kMaxKeyDots`; 0: there is none. Looked for before TOML is read, which makes a
/// table of each part. O(bytes).
std::size_t line_of_deep_key(std::string_view text) {
    std::size_t line = 1, dots = 0;
    const auto skip_string = [&](std::size_t at) {  // -> behind its end, or where it should have ended
        const char quote = text[at];
        const std::string three(3, quote);
        const bool is_long = text.substr(at, 3) == three;
        for (at += is_long ? 3 : 1; at < text.size(); ++at) {
            if (text[at] == '\n' && !is_long) return at;
            if (text[at] == '\n') ++line;
            if (text[at] == '\\' && quote == '"' && at + 1 < text.size() && text[at + 1] != '\n') {
                ++at;
            } else if (text[at] == quote && !is_long) {
                return at + 1;
            } else if (is_long && text.substr(at, 3) == three) {
                for (at += 3; at < text.size() && text[at] == quote;) ++at;  // they end the text itself
                return at;
            }
        }
        return at;
    };
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"' || c == '\'') {
            at = skip_string(at);
            continue;
        }
        if (c == '#') {
            at = std::min(text.find('\n', at), text.size());
            continue;
        }
        if (c == '.' && ++dots > kMaxKeyDots) return line;
        if (c == '\n') ++line;
        if (std::string_view("=[]{},\n").find(c) != std::string_view::npos) dots = 0;
        ++at;
    }
    return 0;
}

/// Settings have dots between their parts only: such a key would look like one of them, and not be it.
Result<void> check_keys(const toml::node& node, const std::string& path) {
    if (const toml::array* const array = node.as_array()) {
        for (const toml::node& item : *array)
            if (auto good = check_keys(item, path); !good) return good;
    }
    const toml::table* const table = node.as_table();
    if (table == nullptr) return {};
    for (const auto& [key, value] : *table) {
        const std::string place = path + ":" + std::to_string(key.source().begin.line);
        if (key.str().empty()) return invalid("a key is empty, which no setting is; give it a name", place);
        if (key.str().find('.') != std::string_view::npos)
            return invalid(
                "'" + std::string(key.str()) + "' in quotes is one key, which no setting is; write it without quotes",
                place);
        if (auto good = check_keys(value, path); !good) return good;
    }
    return {};
}

Result<toml::table> parse(const std::string& path, std::size_t& room) {
    const Result<std::string> text = read_text(path, room);
    if (!text) return text.error();
    if (const std::size_t line = line_of_deep_key(*text); line != 0)
        return invalid("a key has more than " + std::to_string(kMaxKeyDots) + " dots, which no setting has",
                       path + ":" + std::to_string(line));
    try {
        toml::table table = toml::parse(*text, path);
        if (auto good = check_keys(table, path); !good) return good.error();
        return table;
    } catch (const toml::parse_error& fault) {
        const std::uint32_t line = fault.source().begin.line;
        return invalid(std::string(fault.description()) + hint(fault.description(), value_in(*text, line)),
                       path + ":" + std::to_string(line));
    }
}

/// The parts of a configuration in their order; none where it has no folder of them.
Result<std::vector<std::string>> find_parts(const std::string& folder) {
    namespace fs = std::filesystem;
    std::vector<std::string> parts;
    std::error_code fault;
    const fs::file_status status = fs::status(folder, fault);
    if (status.type() == fs::file_type::not_found || (!fault && !fs::is_directory(status))) return parts;
    for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault)) {
        const std::string name = at->path().filename().string();
        if (name.starts_with('.') || !name.ends_with(".toml")) continue;
        std::error_code gone;  // e.g. a link to nothing: the read reports the error
        if (at->exists(gone) && !at->is_regular_file(gone)) return invalid("is no file", at->path().string());
        parts.push_back(at->path().string());
    }
    if (fault)
        return Error{ErrorCode::kNotFound, "the parts of the configuration cannot be read: " + fault.message(), folder};
    if (parts.size() > kMaxConfigParts)
        return invalid("more than " + std::to_string(kMaxConfigParts) + " files; put some of them together", folder);
    std::ranges::sort(parts);
    return parts;
}

/// Nodes are moved, since a copy would not know where it stood.
void merge(toml::table& into, toml::table&& from) {
    for (auto&& [key, node] : from) {
        toml::node* const old = into.get(key);
        if (old != nullptr && old->is_table() && node.is_table()) {
            merge(*old->as_table(), std::move(*node.as_table()));
        } else if (old != nullptr && old->is_array_of_tables() && node.is_array_of_tables()) {
            for (toml::node& item : *node.as_array()) old->as_array()->push_back(std::move(*item.as_table()));
        } else {
            into.insert_or_assign(key, std::move(node));
        }
    }
}

}  // namespace

std::string parts_folder(const std::string& path) {
    std::filesystem::path folder(path);
    return folder.replace_extension(".d").string();
}

struct ConfigFile::Impl {
    std::string path;
    std::vector<std::string> files;
    toml::table table;
    std::set<std::string> known;
    std::set<std::string> tables;                 ///< asked whether they are there, or how many
    std::optional<Error> fault, missing;          ///< the first fault of what is there; of what is not
    std::map<std::string, std::size_t> answered;  ///< keys -> place in `values`
    std::vector<ConfigValue> values;

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
    const std::string& file(const toml::node* node) const {
        return node == nullptr || node->source().path == nullptr ? path : *node->source().path;
    }
    std::string place(const toml::node* node) const {
        return node == nullptr ? path : file(node) + ":" + std::to_string(node->source().begin.line);
    }
    /// `value`, which is the answer for `key`.
    template <class Value>
    Value answer(const std::string& key, Value value) {
        const auto [at, is_new] = answered.try_emplace(key, values.size());
        if (is_new) values.emplace_back();
        const toml::node* const node = find(key);
        values[at->second] = {key, value, node == nullptr ? std::string{} : place(node)};
        return value;
    }
    /// The value for `key`, as `take` has it of what stands there; `fallback` where nothing does, or nothing that can
    /// be taken.
    template <class Value, class Take>
    Value read(const std::string& key, const Value& fallback, const std::string& kind, const Take& take) {
        known.insert(key);
        const toml::node* const node = find(key);
        if (node == nullptr) return answer(key, fallback);
        if (const std::optional<Value> value = take(*node)) return answer(key, *value);
        fail(node, "'" + key + "' must be " + kind);
        return fallback;
    }
    /// The table that `key` is or would be in, where there is one: what is missing is to be put there.
    const toml::node* holder(std::string key) const {
        for (std::size_t dot = key.rfind('.'); dot != std::string::npos; dot = key.rfind('.')) {
            key.resize(dot);
            if (const toml::node* const node = find(key)) return node;
        }
        return nullptr;
    }
    void fail(const toml::node* node, const std::string& message) {
        if (!fault) fault = invalid(message, place(node));
    }
    void fail(const std::string& key, const std::string& message) {
        if (const toml::node* const node = find(key)) return fail(node, message);
        if (!missing) missing = invalid(message, place(holder(key)));
    }
    /// True where `prefix` is, or leads to, a key or table that was asked for.
    bool leads_somewhere(const std::string& prefix) const {
        const auto leads = [&](const std::set<std::string>& keys) {
            const auto at = keys.lower_bound(prefix + ".");
            return keys.contains(prefix) || (at != keys.end() && at->starts_with(prefix + "."));
        };
        return prefix.empty() || leads(known) || leads(tables);
    }
    /// True where settings that were asked for stand in the table `key`.
    bool is_table_of_settings(const std::string& key) const {
        const auto at = known.lower_bound(key + ".");
        return at != known.end() && at->starts_with(key + ".");
    }
    /// The key that is spelt most like `unknown`, in the same table; empty: none.
    std::string sibling(const std::string& unknown) const {
        const std::string parent = unknown.substr(0, unknown.rfind('.') + 1);
        std::vector<std::string> names;  // beside it; of a table its first word
        std::set<std::string> all = known;
        all.insert(tables.begin(), tables.end());
        for (const std::string& key : all)
            if (key.starts_with(parent))
                names.push_back(key.substr(parent.size(), key.find('.', parent.size()) - parent.size()));
        const std::vector<std::string_view> views(names.begin(), names.end());
        const std::string_view near = closest_name(unknown.substr(parent.size()), views);
        return near.empty() ? std::string{} : parent + std::string(near);
    }
    /// "; did you mean ...", where a key beside it is spelt much like it, or one of its name belongs elsewhere.
    std::string meant(const std::string& unknown, const toml::node& node) const {
        const std::size_t dot = unknown.rfind('.');
        const std::string word = unknown.substr(dot + 1);
        if (const std::string near = sibling(unknown); !near.empty()) return "; did you mean '" + near + "'?";
        for (const std::string& key : known)
            if (key.ends_with("." + word)) return "; did you mean '" + key + "'?";
        if (const std::string near = dot == std::string::npos ? "" : top_level(word); is_free(near, node))
            return "; did you mean '" + near + "'? That one stands above the first table";
        return {};
    }
    /// The key outside of tables that is spelt most like `word`; empty: none.
    std::string top_level(const std::string& word) const {
        std::vector<std::string_view> names;
        for (const std::string& key : known)
            if (key.find('.') == std::string::npos) names.push_back(key);
        return std::string(closest_name(word, names));
    }
    /// Whether `key` of no table could be meant with `node`: the file that this stands in does not set it besides.
    bool is_free(const std::string& key, const toml::node& node) const {
        const toml::node* const other = key.empty() ? nullptr : table.get(key);
        return !key.empty() && (other == nullptr || file(other) != file(&node));
    }
    /// Whether `unknown` is the key of a value that was to stand outside of tables: TOML has no end of a table.
    bool is_below_a_table(const std::string& unknown, const toml::node& node) const {
        const std::size_t dot = unknown.rfind('.');
        if (dot == std::string::npos || node.is_table() || node.is_array_of_tables()) return false;
        const std::string word = unknown.substr(dot + 1);
        return (known.contains(word) || tables.contains(word)) && is_free(word, node) && sibling(unknown).empty();
    }
    void refuse(const toml::node& node, const std::string& unknown) {
        if (is_below_a_table(unknown, node)) {
            const std::size_t dot = unknown.rfind('.');
            return fail(&node, "'" + unknown.substr(dot + 1) + "' stands below a table, so it is read as '" + unknown +
                                   "', which is not a setting of this program; put it above the first table");
        }
        if (is_table_of_settings(unknown))
            return fail(&node, "'" + unknown + "' is a table: write [" + unknown + "], and its settings below it");
        fail(&node, "'" + unknown + "' is not a setting of this program" + meant(unknown, node));
    }
    void check_known(const toml::node& node, const std::string& prefix) {
        const bool holds_more = node.is_table() || node.is_array();
        if (holds_more && !leads_somewhere(prefix)) {
            refuse(node, prefix);
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
            refuse(node, prefix);
        }
    }
};

ConfigFile::ConfigFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ConfigFile::~ConfigFile() = default;
ConfigFile::ConfigFile(ConfigFile&&) noexcept = default;
ConfigFile& ConfigFile::operator=(ConfigFile&&) noexcept = default;

Result<ConfigFile> ConfigFile::read(const std::string& path) {
    std::size_t room = kMaxConfigBytes;
    Result<toml::table> table = parse(path, room);
    if (!table) return table.error();
    const Result<std::vector<std::string>> parts = find_parts(parts_folder(path));
    if (!parts) return parts.error();
    for (const std::string& part : *parts) {
        Result<toml::table> more = parse(part, room);
        if (!more) return more.error();
        merge(*table, *std::move(more));
    }
    auto impl = std::make_unique<Impl>();
    impl->path = path;
    impl->files = {path};
    impl->files.insert(impl->files.end(), parts->begin(), parts->end());
    impl->table = *std::move(table);
    return ConfigFile(std::move(impl));
}

std::string ConfigFile::text(const std::string& key, const std::string& fallback) {
    return impl_->read(key, fallback, "a text in quotes",
                       [](const toml::node& node) { return node.value_exact<std::string>(); });
}

std::string ConfigFile::required_text(const std::string& key) {
    if (impl_->find(key) == nullptr) impl_->fail(key, "'" + key + "' is missing");
    std::string found = text(key, "");
    if (const toml::node* node = impl_->find(key); node != nullptr && node->is_string() && found.empty())
        impl_->fail(node, "'" + key + "' must not be empty");
    return found;
}

std::int64_t ConfigFile::integer(const std::string& key, std::int64_t fallback, std::int64_t min, std::int64_t max) {
    const std::string kind = "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
    return impl_->read(key, fallback, kind, [&](const toml::node& node) {
        const auto value = node.value_exact<std::int64_t>();
        return value && *value >= min && *value <= max ? value : std::nullopt;
    });
}

double ConfigFile::number(const std::string& key, double fallback, double min, double max) {
    std::ostringstream kind;
    kind << "a number from " << min << " to " << max;
    return impl_->read(key, fallback, kind.str(), [&](const toml::node& node) {
        const auto value = node.is_number() ? node.value<double>() : std::nullopt;
        return value && *value >= min && *value <= max ? value : std::nullopt;
    });
}

bool ConfigFile::boolean(const std::string& key, bool fallback) {
    return impl_->read(key, fallback, "true or false", [](const toml::node& node) { return node.value_exact<bool>(); });
}

std::pair<std::string, int> ConfigFile::address(const std::string& key, const std::string& fallback, int example_port) {
    auto read = HostPort::parse(text(key, fallback), -1, 0);
    std::string wrong = read ? std::string{} : read.error().message;
    if (read && !is_literal_address(read->host)) wrong = "'" + read->host + "' is not an IP address";
    if (wrong.empty()) return {std::move(read->host), read->port};
    const std::string example = std::to_string(example_port);
    fail(key, "'" + key + "' must be ADDRESS:PORT: " + wrong + ", e.g. 127.0.0.1:" + example + " or [::1]:" + example);
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
    if (node == nullptr) return impl_->answer(key, out);
    const toml::array* array = node->as_array();
    if (array == nullptr) return impl_->fail(node, "'" + key + "' must be a list of texts"), out;
    for (const toml::node& item : *array) {
        if (!item.is_string()) return impl_->fail(&item, "'" + key + "' must be a list of texts"), out;
        out.push_back(*item.value<std::string>());
    }
    return impl_->answer(key, out);
}

std::size_t ConfigFile::table_count(const std::string& key) {
    impl_->tables.insert(key);
    const toml::node* node = impl_->find(key);
    if (node == nullptr) return 0;
    if (!node->is_array_of_tables())
        return impl_->fail(node, "'" + key + "' must be written as [[" + key + "]] tables"), 0;
    return node->as_array()->size();
}

std::string ConfigFile::folder(const std::string& key) const {
    return std::filesystem::path(impl_->file(impl_->find(key))).parent_path().string();
}

std::vector<ConfigValue> ConfigFile::values() const {
    std::vector<ConfigValue> all = impl_->values;
    std::map<std::string, std::size_t> turn;  // of tables; 0 for what is in none
    const auto turn_of = [&turn](const ConfigValue& one) -> std::size_t {
        const std::size_t dot = one.key.find('.');
        if (dot == std::string::npos) return 0;
        return turn.try_emplace(one.key.substr(0, dot), turn.size() + 1).first->second;
    };
    for (const ConfigValue& one : all) (void)turn_of(one);
    std::ranges::stable_sort(all, {}, turn_of);
    return all;
}

const std::vector<std::string>& ConfigFile::files() const { return impl_->files; }
std::string ConfigFile::place(const std::string& key) const { return impl_->place(impl_->find(key)); }
void ConfigFile::fail(const std::string& key, const std::string& message) { impl_->fail(key, message); }

Result<void> ConfigFile::finish() {
    // What seems to be missing may be there, but misspelt.
    if (!impl_->fault) impl_->check_known(impl_->table, "");
    if (!impl_->fault) impl_->fault = impl_->missing;
    if (impl_->fault) return *impl_->fault;
    return {};
}

}  // namespace zbs::system

#include "services/zone_scheduler/config/peering_rules_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "algorithms/base/duration_text.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/site_policy/rights_change.hpp"
#include "services/zone_scheduler/site_policy/rights_text.hpp"

namespace zbs {
namespace {

using system::ConfigFile;

/// A value written as text, where it stands; a fault is told with its place.
template <class Parse>
auto optional_text(ConfigFile& file, const std::string& key, Parse parse)
    -> std::optional<std::decay_t<decltype(*parse(std::string{}))>> {
    const std::string text = file.text(key, "");
    if (text.empty()) return std::nullopt;
    auto value = parse(text);
    if (value) return *std::move(value);
    file.fail(key, value.error().message);
    return std::nullopt;
}

std::optional<int> optional_count(ConfigFile& file, const std::string& key) {
    if (!file.has(key)) return std::nullopt;
    return static_cast<int>(file.integer(key, 0, 0, limits::kMaxRanks));
}

std::optional<bool> optional_flag(ConfigFile& file, const std::string& key) {
    if (!file.has(key)) return std::nullopt;
    return file.boolean(key, false);
}

RightsChange read_rights(ConfigFile& file, const std::string& at) {
    RightsChange change;
    change.processors = optional_count(file, at + "processors");
    change.walltime = optional_text(file, at + "walltime", parse_duration);
    change.concurrent_parts = optional_count(file, at + "parts");
    change.hours = optional_text(file, at + "hours", parse_hours);
    change.weekdays = optional_text(file, at + "weekdays", parse_weekdays);
    if (file.has(at + "partitions")) change.partitions = file.texts(at + "partitions");
    if (file.has(at + "share")) change.share = file.number(at + "share", 1, 0, 1);
    if (file.has(at + "account")) change.account_rule = file.text(at + "account", "");
    change.may_forward = optional_flag(file, at + "forward");
    change.require_delegation = optional_flag(file, at + "delegation");
    change.floor_processors = optional_count(file, at + "floor_processors");
    change.floor_walltime = optional_text(file, at + "floor_walltime", parse_duration);
    change.floor_parts = optional_count(file, at + "floor_parts");
    return change;
}

/// A file that the configuration names; relative paths begin beside it. None and a fault where it cannot be read.
std::optional<std::string> read_beside(ConfigFile& file, const std::string& key, const std::string& path,
                                       std::size_t max_bytes) {
    const std::filesystem::path place = std::filesystem::path(path).parent_path() / file.text(key, "");
    std::ifstream in(place, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(in), {});
    if (in.is_open() && !in.bad() && text.size() <= max_bytes) return text;
    file.fail(key,
              "'" + place.string() + "' cannot be read, or holds more than " + std::to_string(max_bytes) + " bytes");
    return std::nullopt;
}

std::string read_bundle(ConfigFile& file, const std::string& key, const std::string& path) {
    if (file.text(key, "").empty()) return {};
    return read_beside(file, key, path, limits::kMaxBundleBytes).value_or("");
}

}  // namespace

void read_account_map(ConfigFile& file, const std::string& path, ZoneConfig& zone) {
    if (file.text("account_map", "").empty()) return;
    const auto text = read_beside(file, "account_map", path, limits::kMaxAccountMapBytes);
    if (!text) return;
    Result<AccountMap> map = AccountMap::parse(*text, file.text("account_map", ""));
    if (!map) return file.fail("account_map", map.error().pointer + ": " + map.error().message);
    zone.accounts = *std::move(map);
}

void read_asks(ConfigFile& file, const std::string& path, ZoneConfig& zone) {
    const std::size_t count = file.table_count("ask");
    if (count > limits::kMaxAskedOrganisations)
        file.fail("ask", "more than " + std::to_string(limits::kMaxAskedOrganisations) + " [[ask]] tables");
    for (std::size_t i = 0; i < std::min(count, limits::kMaxAskedOrganisations); ++i) {
        const std::string at = "ask." + std::to_string(i) + ".";
        AskedOrganisation wish{file.required_text(at + "organisation"), file.text(at + "fingerprint", ""),
                               read_bundle(file, at + "bundle", path)};
        if (!is_valid_name(wish.organisation) || wish.organisation == zone.organisation)
            file.fail(at + "organisation", "'organisation' must be the name of another organisation");
        const bool twice = std::any_of(zone.asks.begin(), zone.asks.end(), [&](const AskedOrganisation& other) {
            return other.organisation == wish.organisation;
        });
        if (twice) file.fail(at + "organisation", "'" + wish.organisation + "' stands in an [[ask]] already");
        if (wish.bundle.empty() && wish.fingerprint.empty()) {
            file.fail(at + "organisation",
                      "an [[ask]] needs 'bundle' or 'fingerprint', because a name proves nothing; its operator reads "
                      "the fingerprint from 'zbs-zone init'");
        }
        zone.asks.push_back(std::move(wish));
    }
}

std::vector<GridUsers> read_grid_mapfiles(ConfigFile& file, const std::string& path, const std::string& own) {
    std::vector<GridUsers> all;
    for (std::size_t i = 0; i < file.table_count("grid_mapfile"); ++i) {
        const std::string at = "grid_mapfile." + std::to_string(i) + ".";
        GridUsers users{file.text(at + "organisation", own), {}};
        if (!is_valid_name(users.organisation))
            file.fail(at + "organisation", "'organisation' must be 1 to 64 of a-z 0-9 . _ -");
        const bool twice = std::any_of(
            all.begin(), all.end(), [&](const GridUsers& other) { return other.organisation == users.organisation; });
        if (twice)
            file.fail(at + "organisation",
                      "'" + users.organisation + "' has a grid-mapfile already; put the lines into one file");
        if (file.required_text(at + "file").empty()) continue;
        const auto text = read_beside(file, at + "file", path, limits::kMaxGridMapBytes);
        if (!text) continue;
        auto subjects = parse_grid_mapfile(*text, file.text(at + "file", ""));
        if (!subjects) {
            file.fail(at + "file", subjects.error().pointer + ": " + subjects.error().message);
            continue;
        }
        users.subjects = *std::move(subjects);
        all.push_back(std::move(users));
    }
    return all;
}

void read_peering_rules(ConfigFile& file, const std::string& path, ZoneConfig& zone) {
    const int processors = static_cast<int>(zone.zone.processor_count());
    for (std::size_t i = 0; i < file.table_count("peering"); ++i) {
        const std::string at = "peering." + std::to_string(i) + ".";
        AutomaticRule rule;
        rule.organisations = file.texts(at + "organisations");
        if (rule.organisations.empty()) file.fail(at + "organisations", "'organisations' must name at least one");
        rule.bundle = read_bundle(file, at + "bundle", path);
        rule.fingerprint = file.text(at + "fingerprint", "");
        rule.trust_on_first_use = file.boolean(at + "trust_on_first_use", false);
        if (rule.bundle.empty() && rule.fingerprint.empty() && !rule.trust_on_first_use) {
            file.fail(at + "organisations",
                      "a [[peering]] needs 'bundle' or 'fingerprint', because a name proves nothing; "
                      "'trust_on_first_use = true' believes whoever comes first under the name");
        }
        rule.initial_trust = file.number(at + "initial_trust", rule.initial_trust, 0, 1);
        rule.rights = apply(default_rights(processors), read_rights(file, at));
        if (auto good = check_rights(rule.rights); !good)
            file.fail(at + "organisations", http::text_with_place(good.error()));
        zone.rules.push_back(std::move(rule));
    }
}

}  // namespace zbs

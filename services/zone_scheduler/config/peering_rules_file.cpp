#include "services/zone_scheduler/config/peering_rules_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "algorithms/base/duration_text.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/join_token.hpp"
#include "services/zone_scheduler/trust/site_policy/glob.hpp"
#include "services/zone_scheduler/trust/site_policy/rights_text.hpp"

namespace zbs {
namespace {

using system::ConfigFile;

/// The text at `key`, which must not be empty where it is written: its meaning would be unclear. `meaning` is the
/// effect of leaving the key out.
std::optional<std::string> optional_word(ConfigFile& file, const std::string& key, const std::string& meaning) {
    if (!file.has(key)) return std::nullopt;
    std::string text = file.text(key, "");
    if (!text.empty()) return text;
    file.fail(key, "'" + key + "' is empty; leave the key out for " + meaning);
    return std::nullopt;
}

/// A value written as text, where it stands; an error names its place.
template <class Parse>
auto optional_text(ConfigFile& file, const std::string& key, const std::string& meaning, Parse parse)
    -> std::optional<std::decay_t<decltype(*parse(std::string{}))>> {
    const std::optional<std::string> text = optional_word(file, key, meaning);
    if (!text) return std::nullopt;
    auto value = parse(*text);
    if (value) return *std::move(value);
    file.fail(key, "'" + key + "' " + value.error().message);
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

const std::string kNobody = "; to take nobody, leave the whole [[peering]] out";

RightsChange read_rights(ConfigFile& file, const std::string& at) {
    RightsChange change;
    change.processors = optional_count(file, at + "processors");
    change.walltime = optional_text(file, at + "walltime", "24 h" + kNobody, parse_duration);
    change.concurrent_parts = optional_count(file, at + "parts");
    change.hours = optional_text(file, at + "hours", "all day" + kNobody, parse_hours);
    change.weekdays = optional_text(file, at + "weekdays", "every day" + kNobody, parse_weekdays);
    if (file.has(at + "partitions")) {
        change.partitions = file.texts(at + "partitions");
        if (change.partitions->empty())
            file.fail(at + "partitions",
                      "'" + at + "partitions' is empty; leave the key out for all partitions" + kNobody);
    }
    if (file.has(at + "overcommit"))
        change.overcommit = static_cast<int>(file.integer(at + "overcommit", 1, 1, limits::kMaxOvercommit));
    if (file.has(at + "share")) change.share = file.number(at + "share", 1, 0, 1);
    change.account_rule = optional_word(file, at + "account", "'map', the account map");
    change.require_delegation = optional_flag(file, at + "delegation");
    change.floor_processors = optional_count(file, at + "floor_processors");
    change.floor_walltime = optional_text(file, at + "floor_walltime", "a tenth of the walltime", parse_duration);
    change.floor_parts = optional_count(file, at + "floor_parts");
    return change;
}

/// The key of a `[[peering]]` that a place in its rights ("/ceiling/partitions/0") comes from.
std::string key_of_place(const std::string& pointer) {
    const bool floor = pointer.starts_with("/floor/");
    const std::size_t begin = floor ? 7 : 9;  // "/floor/", "/ceiling/"
    std::string name = pointer.substr(std::min(begin, pointer.size()));
    name.resize(std::min(name.find('/'), name.size()));
    if (name == "concurrent_parts") name = "parts";
    if (name == "account_rule") name = "account";
    return (floor ? "floor_" : "") + name;
}

/// A file that the configuration names; relative paths begin beside it. None and a fault where it cannot be read.
std::optional<std::string> read_beside(ConfigFile& file, const std::string& key, std::size_t max_bytes) {
    const std::filesystem::path place = std::filesystem::path(file.folder(key)) / file.text(key, "");
    std::ifstream in(place, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(in), {});
    if (in.is_open() && !in.bad() && text.size() <= max_bytes) return text;
    file.fail(key,
              "'" + place.string() + "' cannot be read, or holds more than " + std::to_string(max_bytes) + " bytes");
    return std::nullopt;
}

/// How an organisation is known: by its bundle, by its fingerprint, or by both where they fit each other.
struct KnownBy {
    std::string bundle;
    std::string fingerprint;
    std::optional<BundleNames> names;  ///< of the bundle, where it could be read
};

KnownBy read_known_by(ConfigFile& file, const std::string& at, const TrustBundles* trust) {
    const std::string either = "a fingerprint alone", other = "a bundle alone";
    KnownBy known{
        .bundle = {}, .fingerprint = optional_word(file, at + "fingerprint", other).value_or(""), .names = {}};
    if (!known.fingerprint.empty() && !is_fingerprint(known.fingerprint))
        file.fail(at + "fingerprint",
                  "'" + at +
                      "fingerprint' must be sha256: and 64 of 0-9 a-f, as 'zbs-zone init' prints it "
                      "for its operator");
    if (!optional_word(file, at + "bundle", either)) return known;
    known.bundle = read_beside(file, at + "bundle", limits::kMaxBundleBytes).value_or("");
    if (known.bundle.empty()) {
        file.fail(at + "bundle",
                  "'" + at + "bundle' names an empty file; it must be the identity/bundle.pem of a zone");
        return known;
    }
    if (trust == nullptr) return known;
    const Result<std::string> fingerprint = trust->fingerprint(known.bundle);
    const Result<BundleNames> names = trust->names_in(known.bundle);
    if (!fingerprint || !names) {
        file.fail(at + "bundle", "'" + at + "bundle': " + (fingerprint ? names.error() : fingerprint.error()).message +
                                     "; it must be the identity/bundle.pem of a zone of that organisation");
        return known;
    }
    if (!known.fingerprint.empty() && known.fingerprint != *fingerprint)
        file.fail(at + "fingerprint", "'" + at + "fingerprint' is not that of the bundle, which is " + *fingerprint +
                                          "; ask its operator which is right");
    known.names = *names;
    return known;
}

bool is_pattern(const std::string& text) {
    std::string name = text;
    std::replace(name.begin(), name.end(), '*', 'x');
    return is_valid_name(name);
}

/// The bundle is of none of the organisations that the pattern stands for.
bool fits_nobody(const std::string& pattern, const BundleNames& names) {
    if (pattern.find('*') == std::string::npos) return !names.may_be_of(pattern);
    return !names.organisations.empty() &&
           std::none_of(names.organisations.begin(), names.organisations.end(),
                        [&](const std::string& name) { return name.starts_with('.') || matches_glob(pattern, name); });
}

std::string names_text(const BundleNames& names) {
    std::string text;
    for (const std::string& name : names.organisations) text += (text.empty() ? "'" : ", '") + name + "'";
    return text;
}

std::vector<std::string> read_patterns(ConfigFile& file, const std::string& key, const std::string& own) {
    std::vector<std::string> patterns = file.texts(key);
    if (patterns.empty()) file.fail(key, "'organisations' must name at least one");
    if (patterns.size() > limits::kMaxRulePatterns)
        file.fail(key,
                  "more than " + std::to_string(limits::kMaxRulePatterns) + " organisations; use patterns as org-*");
    for (const std::string& pattern : patterns) {
        if (!is_pattern(pattern))
            file.fail(key, "'" + pattern +
                               "' names no organisation: a name is 1 to 64 of a-z 0-9 . _ -, starting with a letter or "
                               "digit; '*' in it stands for any letters");
        else if (pattern == own)
            file.fail(key,
                      "'" + pattern + "' is this zone's own organisation, which needs no [[peering]]; leave it out");
    }
    return patterns;
}

}  // namespace

void read_account_map(ConfigFile& file, ZoneConfig& zone) {
    if (file.text("account_map", "").empty()) return;
    const auto text = read_beside(file, "account_map", limits::kMaxAccountMapBytes);
    if (!text) return;
    Result<AccountMap> map = AccountMap::parse(*text, file.text("account_map", ""));
    if (!map) return file.fail("account_map", map.error().pointer + ": " + map.error().message);
    zone.accounts = *std::move(map);
    zone.account_map_file = (std::filesystem::path(file.folder("account_map")) / file.text("account_map", "")).string();
}

void read_asks(ConfigFile& file, const TrustBundles* trust, ZoneConfig& zone) {
    const std::size_t count = file.table_count("ask");
    if (count > limits::kMaxAskedOrganisations)
        file.fail("ask", "more than " + std::to_string(limits::kMaxAskedOrganisations) + " [[ask]] tables");
    for (std::size_t i = 0; i < std::min(count, limits::kMaxAskedOrganisations); ++i) {
        const std::string at = "ask." + std::to_string(i) + ".";
        const KnownBy known = read_known_by(file, at, trust);
        AskedOrganisation wish{OrganisationName(file.required_text(at + "organisation")), known.fingerprint,
                               known.bundle};
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
        if (known.names && !known.names->may_be_of(wish.organisation))
            file.fail(at + "bundle", "'" + at + "bundle' is of " + names_text(*known.names) + ", not of '" +
                                         wish.organisation + "'; name the bundle of that one");
        zone.asks.push_back(std::move(wish));
    }
}

std::vector<GridUsers> read_grid_mapfiles(ConfigFile& file, const OrganisationName& own) {
    std::vector<GridUsers> all;
    for (std::size_t i = 0; i < file.table_count("grid_mapfile"); ++i) {
        const std::string at = "grid_mapfile." + std::to_string(i) + ".";
        GridUsers users{OrganisationName(file.text(at + "organisation", own)), {}};
        if (!is_valid_name(users.organisation))
            file.fail(at + "organisation", "'organisation' must be 1 to 64 of a-z 0-9 . _ -");
        const bool twice = std::any_of(
            all.begin(), all.end(), [&](const GridUsers& other) { return other.organisation == users.organisation; });
        if (twice)
            file.fail(at + "organisation",
                      "'" + users.organisation + "' has a grid-mapfile already; put the lines into one file");
        if (file.required_text(at + "file").empty()) continue;
        const auto text = read_beside(file, at + "file", limits::kMaxGridMapBytes);
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

void read_peering_rules(ConfigFile& file, const RuleChecks& checks, ZoneConfig& zone) {
    const int processors = static_cast<int>(zone.zone.processor_count());
    const std::size_t count = file.table_count("peering");
    if (count > limits::kMaxAutomaticRules)
        file.fail("peering", "more than " + std::to_string(limits::kMaxAutomaticRules) + " [[peering]] tables");
    for (std::size_t i = 0; i < std::min(count, limits::kMaxAutomaticRules); ++i) {
        const std::string at = "peering." + std::to_string(i) + ".";
        AutomaticRule rule;
        rule.organisations = read_patterns(file, at + "organisations", zone.organisation);
        const KnownBy known = read_known_by(file, at, checks.trust);
        rule.bundle = known.bundle;
        rule.fingerprint = known.fingerprint;
        rule.trust_on_first_use = file.boolean(at + "trust_on_first_use", false);
        const bool is_known = !rule.bundle.empty() || !rule.fingerprint.empty();
        if (!is_known && !rule.trust_on_first_use) {
            file.fail(at + "organisations",
                      "a [[peering]] needs 'bundle' or 'fingerprint', because a name proves nothing; "
                      "'trust_on_first_use = true' believes whoever comes first under the name");
        }
        if (is_known && rule.trust_on_first_use)
            file.fail(at + "trust_on_first_use",
                      "'trust_on_first_use' does nothing beside 'bundle' or 'fingerprint', which say whom to believe; "
                      "leave one of them out");
        for (const std::string& pattern : rule.organisations) {
            if (known.names && fits_nobody(pattern, *known.names))
                file.fail(at + "bundle", "'" + at + "bundle' is of " + names_text(*known.names) + ", not of '" +
                                             pattern + "'; write a [[peering]] with the bundle of that one");
        }
        rule.initial_trust = file.number(at + "initial_trust", rule.initial_trust, 0, 1);
        rule.rights = apply(default_rights(processors), read_rights(file, at));
        Result<void> good = check_rights(rule.rights);
        if (good) good = check_names(rule.rights.ceiling, checks.site, "/ceiling");
        if (!good) {
            const std::string key = key_of_place(good.error().pointer);
            file.fail(at + (file.has(at + key) ? key : "organisations"), "'" + at + key + "' " + good.error().message);
        }
        zone.rules.push_back(std::move(rule));
    }
}

}  // namespace zbs

#include "services/zone_scheduler/config/settings_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "services/common/listing/setting_listing.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::test {
namespace {

constexpr Time kToday{std::chrono::seconds{1'780'000'000}};

/// A setting as a file has it at first, and changed.
struct ChangedSetting {
    const char* key;
    std::string from;
    std::string to;
};

std::vector<ChangedSetting> changed_settings() {
    const std::string print = "fingerprint = 'sha256:" + std::string(64, '1') + "'\n";
    return {
        {"name", "name = 'alpha'\n", "name = 'beta'\n"},
        {"organisation", "organisation = 'org-a'\n", "organisation = 'org-b'\n"},
        {"state", "state = '/tmp/none'\n", "state = '/tmp/other'\n"},
        {"contact", "contact = 'bea'\n", "contact = 'ana'\n"},  // without one it follows the name
        {"listen", "", "listen = '127.0.0.2:8001'\n"},
        {"allow_private_addresses", "", "allow_private_addresses = true\n"},
        {"advertise", "", "advertise = 'zone.example.org'\n"},
        {"honour_blocks", "", "honour_blocks = ['org-c']\n"},
        {"run_as", "run_as = 'self'\n", "run_as = 'accounts'\n"},
        {"default_account", "", "default_account = 'guest'\n"},
        {"minimum_uid", "", "minimum_uid = 2000\n"},
        {"hidden_paths", "", "hidden_paths = ['/srv']\n"},
        {"require_isolation", "", "require_isolation = true\n"},
        {"shared_memory", "", "shared_memory = true\n"},
        {"step_supervisor", "", "step_supervisor = '/opt/zbs-step'\n"},
        {"account_map", "", "account_map = 'map'\n"},
        {"reuse_pool_accounts", "", "reuse_pool_accounts = true\n"},
        {"mapper", "", "mapper = 'block'\n"},
        {"max_overcommit", "", "max_overcommit = 2\n"},
        {"queue", "queue = 'gang'\n", "queue = 'gang:packing=best-fit'\n"},
        {"queue_log", "", "queue_log = '/tmp/queue.log'\n"},
        {"part_log", "", "part_log = '/tmp/part.log'\n"},
        {"reservations", "", "reservations = 0\n"},
        {"machine", "[[machine]]\nname = 'm0'\nagent = true\npartition = 'batch'\n",
         "[[machine]]\nname = 'm0'\nagent = true\npartition = 'batch'\nspeed = 2\n"},
        {"partition", "", "[[partition]]\nname = 'batch'\n"},
        {"peering", "", "[[peering]]\norganisations = ['org-c']\n" + print},
        {"ask", "", "[[ask]]\norganisation = 'org-c'\n" + print},
        {"grid_mapfile", "", "[[grid_mapfile]]\nfile = 'grid'\n"},
        {"link", "", "[[link]]\nzone = 'gamma'\ndelay_s = 0.5\nbandwidth_Bps = 1e6\n"},
        {"network", "", "[network]\nmachine_delay_s = 0.5\n"},
        {"mpi", "", "[mpi]\ninterface = 'eth0'\n"},
        {"slurm", "", "[slurm]\npartition = 'batch'\n"},
        {"time_sharing", "", "[time_sharing]\nslice_s = 3\n"},
        {"database", "[database]\nschema = 'alpha'\nurl = 'postgresql://zbs@db/zbs'\n",
         "[database]\nschema = 'alpha'\nurl = 'postgresql://zbs@other/zbs'\n"},  // without a schema it follows the name
        {"high_availability", "", "[high_availability]\nnode = 'other'\n"},
        {"sensors", "", "[sensors]\nprobe_s = 7\n"},
        {"metrics", "", "[metrics]\npublic = true\n"},
        {"rates", "", "[rates]\nuser_per_s = 1\n"},
        {"retention", "", "[retention]\nresults_days = 7\n"},
        {"staging", "", "[staging]\nshared_file_system = 'lustre'\n"},
        {"timing", "", "[timing]\nlease_s = 77\n"},
    };
}

class SettingsTable : public testing::Test {
  protected:
    /// The file with one setting changed; none for "". Slurm has machines and queue of its own.
    ZoneSettings read(const std::string& changed, std::set<std::string> without = {}) {
        if (changed == "slurm") without = {"machine", "queue"};
        std::ofstream(folder.path("map")) << "org-c * * -> cleo\n";
        std::ofstream(folder.path("grid")) << "\"/O=Grid/CN=Ana\" ana\n";
        std::ofstream file(folder.path("zone.toml"));
        for (const ChangedSetting& setting : changed_settings()) {
            if (without.contains(setting.key)) continue;
            file << (setting.key == changed ? setting.to : setting.from);
        }
        file.close();
        auto settings = read_zone_settings(folder.path("zone.toml"), "/usr/bin");
        EXPECT_TRUE(settings) << changed << ": " << settings.error();
        return settings ? *std::move(settings) : ZoneSettings{};
    }
    TemporaryFolder folder;
};

TEST_F(SettingsTable, EachChangeIsTakenAfterAReloadOrToldByItsName) {
    std::set<std::string> tried;
    for (const ChangedSetting& change : changed_settings()) {
        tried.insert(change.key);
        const auto row =
            std::ranges::find_if(settings_table(), [&](const Setting& s) { return s.key == std::string(change.key); });
        ASSERT_NE(row, settings_table().end()) << change.key;
        const std::vector<std::string> listed{change.key}, nothing;
        const bool later = row->takes_effect == TakesEffect::kAfterRestart;
        const bool is_slurm = change.key == std::string("slurm");
        const ZoneSettings running = read("", is_slurm ? std::set<std::string>{"queue"} : std::set<std::string>{});
        const ZoneSettings changed = read(change.key);
        EXPECT_EQ(keys_for_restart(running, changed), later ? listed : nothing) << change.key;
        EXPECT_EQ(keys_for_reload(running, changed), later ? nothing : listed) << change.key;
    }
    EXPECT_EQ(tried.size(), settings_table().size()) << "a setting that this test does not change";
}

TEST_F(SettingsTable, TheAuditLogKeepsTheNamesOfWhatAReloadChanged) {
    const ZoneSettings running = read("");
    ZoneSettings changed = read("honour_blocks");
    changed.zone.rules = read("peering").zone.rules;
    changed.zone.hold_ttl += std::chrono::seconds{1};
    const AuditEntry kept = reload_entry("zone.toml", running, changed, kToday);
    EXPECT_EQ(kept, (AuditEntry{kToday, "spiffe://org-a/operator/signal", "reloadSettings", "zone.toml", "allow", "",
                                "SIGHUP: changed are honour_blocks, peering"}));
    EXPECT_EQ(reload_entry("zone.toml", running, running, kToday).detail, "SIGHUP: no setting changed");
}

TEST_F(SettingsTable, AnAccountMapWithOtherLinesIsAChange) {
    const ZoneSettings running = read("account_map");
    EXPECT_THAT(keys_for_reload(running, read("account_map")), testing::IsEmpty());
    std::ofstream(folder.path("map")) << "org-c * * -> deny\n";
    const auto again = read_zone_settings(folder.path("zone.toml"), "/usr/bin");
    ASSERT_TRUE(again) << again.error();
    EXPECT_THAT(keys_for_reload(running, *again), testing::ElementsAre("account_map"));
}

/// "peering.0.bundle" as "peering.bundle".
std::string without_index(const std::string& key) {
    const std::size_t at = key.find(".0.");
    return at == std::string::npos ? key : key.substr(0, at) + key.substr(at + 2);
}

std::string text_of(const ConfigValue& setting) { return listing::settings_of({setting}, false).rows.at(0).at(1).text; }

TEST_F(SettingsTable, DocsHaveEachKeyWithItsDefaultAndTheEffectOfAChange) {
    struct Row {
        std::string default_value, change;
    };
    std::map<std::string, Row> documented;
    std::ifstream page(zbs::test::source_folder() + "/docs/settings.md");
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("| `")) continue;
        std::vector<std::string> cells;
        for (std::size_t at = 2; at < line.size(); at = line.find('|', at) + 2)
            cells.push_back(line.substr(at, line.find(" |", at) - at));
        ASSERT_EQ(cells.size(), 4U) << line;
        documented[cells[0].substr(1, cells[0].size() - 2)] = {cells[1], cells[2]};
    }

    std::map<std::string, std::string> found;  // of all files that the changes make
    std::vector<std::string> changes{""};
    for (const ChangedSetting& change : changed_settings()) changes.push_back(change.key);
    for (const std::string& change : changes) {
        for (const ConfigValue& setting : read(change).values) {
            const bool is_default = setting.place.empty();
            std::string& value = found[without_index(setting.key)];
            if (is_default) value = text_of(setting);
        }
    }
    for (const char* key : {"peering.bundle", "ask.bundle", "shared_memory", "partition.queue", "partition.mapper",
                            "partition.slice_s", "partition.concurrent_gang", "partition.max_walltime_s"})
        found[key] = "";  // without a default

    std::set<std::string> keys, rows;
    for (const auto& [key, value] : found) {
        keys.insert(key);
        const auto row = documented.find(key);
        if (row == documented.end()) continue;
        if (row->second.default_value.starts_with('`') && row->second.default_value.ends_with('`') &&
            !documented.contains(row->second.default_value.substr(1, row->second.default_value.size() - 2)) &&
            key != "contact" && !value.empty()) {
            EXPECT_EQ(row->second.default_value, "`" + value + "`") << key;
        } else if (row->second.default_value == "-") {
            EXPECT_EQ(value, "") << key;
        }
        const std::string table = key.substr(0, key.find('.'));
        const auto setting = std::ranges::find_if(settings_table(), [&](const Setting& s) { return s.key == table; });
        ASSERT_NE(setting, settings_table().end()) << key;
        EXPECT_EQ(row->second.change, setting->takes_effect == TakesEffect::kAfterReload ? "reload" : "restart") << key;
    }
    for (const auto& [key, row] : documented) rows.insert(key);
    EXPECT_EQ(rows, keys);
}

TEST(ReloadedSettings, AreThoseThatAnOperatorChangesWhileItRuns) {
    std::vector<std::string> live;
    for (const Setting& setting : settings_table())
        if (setting.takes_effect == TakesEffect::kAfterReload) live.emplace_back(setting.key);
    EXPECT_THAT(live, testing::UnorderedElementsAre("contact", "honour_blocks", "peering", "ask", "account_map",
                                                    "reuse_pool_accounts", "grid_mapfile", "max_overcommit", "queue",
                                                    "partition", "retention", "metrics", "rates"));
}

}  // namespace
}  // namespace zbs::test

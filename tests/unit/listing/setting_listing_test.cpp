#include "services/common/listing/setting_listing.hpp"

#include <gtest/gtest.h>

namespace zbs::listing {
namespace {

const std::vector<ConfigValue> kSettings = {{"name", "alpha", "/etc/zone.toml:1"},
                                            {"queue", "", ""},
                                            {"hidden_paths", std::vector<std::string>{"/srv", "/home"}, ""},
                                            {"reservations", std::int64_t{7}, "/etc/zone.d/1.toml:3"},
                                            {"metrics.public", true, ""},
                                            {"network.zone_bandwidth_Bps", 1.25e9, ""}};

TEST(SettingListing, TellsEachSettingAndWhereItStands) {
    EXPECT_EQ(written(settings_of(kSettings, true), "table"),
              "SETTING                     VALUE        ORIGIN\n"
              "name                        alpha        /etc/zone.toml:1\n"
              "queue                                    default\n"
              "hidden_paths                /srv, /home  default\n"
              "reservations                7            /etc/zone.d/1.toml:3\n"
              "metrics.public              true         default\n"
              "network.zone_bandwidth_Bps  1250000000   default\n");
    EXPECT_EQ(written(settings_of(kSettings, false), "table").find("ORIGIN"), std::string::npos);
    EXPECT_EQ(written(settings_of(kSettings, false), "wide"), written(settings_of(kSettings, true), "table"));
}

TEST(SettingListing, ProgramsReadValuesAsTheyAreAndAlwaysTheOrigin) {
    EXPECT_EQ(written(settings_of(kSettings, false), "jsonl"),
              "{\"origin\":\"/etc/zone.toml:1\",\"setting\":\"name\",\"value\":\"alpha\"}\n"
              "{\"origin\":\"default\",\"setting\":\"queue\",\"value\":\"\"}\n"
              "{\"origin\":\"default\",\"setting\":\"hidden_paths\",\"value\":[\"/srv\",\"/home\"]}\n"
              "{\"origin\":\"/etc/zone.d/1.toml:3\",\"setting\":\"reservations\",\"value\":7}\n"
              "{\"origin\":\"default\",\"setting\":\"metrics.public\",\"value\":true}\n"
              "{\"origin\":\"default\",\"setting\":\"network.zone_bandwidth_Bps\",\"value\":1250000000.0}\n");
    EXPECT_EQ(written(*chosen(settings_of(kSettings, false), {.filters = {"origin!=default"}}), "name"),
              "name\nreservations\n");
}

TEST(SettingListing, PasswordsAreLeftOut) {
    for (const auto& [url, shown] : std::vector<std::pair<std::string, std::string>>{
             {"postgresql://zbs@db/zbs?passfile=/etc/zbs/pgpass", "postgresql://zbs@db/zbs?passfile=/etc/zbs/pgpass"},
             {"postgresql://zbs@db:5432/zbs", "postgresql://zbs@db:5432/zbs"},
             {"https://zone.example:8001", "https://zone.example:8001"},
             {"/var/lib/zbs", "/var/lib/zbs"},
             {"postgresql://zbs:hunter2@db/zbs", "postgresql://zbs:***@db/zbs"},
             {"postgresql://zbs:hun:ter/2@db/zbs", "postgresql://zbs:***@db/zbs"},
             {"postgresql://zbs:hun@ter2@db:5432/zbs", "postgresql://zbs:***@db:5432/zbs"},
             {"postgresql://zbs:hunter?2@db/zbs", "postgresql://zbs:***@db/zbs"},
             {"postgresql://zbs:hunter2", "postgresql://zbs:***"},
             {"postgresql://zbs:hunter2/zbs?sslmode=require", "postgresql://zbs:***?sslmode=require"},
             {"postgresql://zbs@db/zbs?password=hunter2&sslmode=require",
              "postgresql://zbs@db/zbs?password=***&sslmode=require"},
             {"postgresql://zbs@db/zbs?sslPassword=hunter2", "postgresql://zbs@db/zbs?sslPassword=***"},
             {"postgresql://zbs@db/zbs?p%61ssword=hunter2", "postgresql://zbs@db/zbs?p%61ssword=***"},
             {"postgresql://zbs@db/zbs?password=a@b:c", "postgresql://zbs@db/zbs?password=***"}})
        EXPECT_EQ(without_passwords(url), shown) << url;
    const auto text =
        written(settings_of({{"mail.password", "hunter2", ""}, {"a.url", "x://u:hunter2@h", ""}}, true), "json");
    EXPECT_EQ(text.find("hunter2"), std::string::npos) << text;
}

}  // namespace
}  // namespace zbs::listing

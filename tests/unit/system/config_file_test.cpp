#include "services/common/adapters/system/config_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace zbs::test {
namespace {
using system::ConfigFile;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

/// A main file "zone.toml", and parts of it in "zone.d".
class ConfigFileTest : public testing::Test {
  protected:
    ConfigFileTest() { std::filesystem::create_directory(folder.path("zone.d")); }
    void put(const std::string& name, const std::string& text) { std::ofstream(folder.path(name)) << text; }
    Result<ConfigFile> read() { return ConfigFile::read(folder.path("zone.toml")); }
    std::string fault() {
        const Result<ConfigFile> file = read();
        return file ? "none" : file.error().pointer + " " + file.error().message;
    }
    /// What a program says that knows `name`, `queue`, `timing.lease_s` and tables `machine` with a `name`.
    std::string fault_of_settings(const std::string& text) {
        put("zone.toml", text);
        Result<ConfigFile> file = read();
        if (!file) return file.error().pointer + " " + file.error().message;
        (void)file->text("name", "");
        (void)file->text("queue", "");
        (void)file->number("timing.lease_s", 1, 0, 9);
        for (std::size_t i = 0; i < file->table_count("machine"); ++i)
            (void)file->text("machine." + std::to_string(i) + ".name", "");
        const Result<void> good = file->finish();
        return good ? "none" : good.error().pointer + " " + good.error().message;
    }
    TemporaryFolder folder;
};

TEST_F(ConfigFileTest, PartsAreMergedInTheOrderOfTheirNames) {
    put("zone.toml", "name = 'a'\nhidden = ['/x']\n[timing]\nlease_s = 1\nrenew_s = 2\n[[machine]]\nname = 'm0'\n");
    put("zone.d/20.toml", "name = 'c'\nhidden = ['/y']\n[[machine]]\nname = 'm2'\n");
    put("zone.d/10.toml", "name = 'b'\n[timing]\nlease_s = 3\n[[machine]]\nname = 'm1'\n[network]\ndelay_s = 4\n");
    Result<ConfigFile> file = read();
    ASSERT_TRUE(file) << file.error();
    EXPECT_EQ(file->text("name", ""), "c");
    EXPECT_THAT(file->texts("hidden"), ElementsAre("/y")) << "a list is one value";
    EXPECT_EQ(file->number("timing.lease_s", 0, 0, 9), 3);
    EXPECT_EQ(file->number("timing.renew_s", 0, 0, 9), 2);
    EXPECT_EQ(file->number("network.delay_s", 0, 0, 9), 4);
    ASSERT_EQ(file->table_count("machine"), 3u);
    for (const char* number : {"0", "1", "2"})
        EXPECT_EQ(file->text("machine." + std::string(number) + ".name", ""), "m" + std::string(number));
    EXPECT_TRUE(file->finish());
}

TEST_F(ConfigFileTest, EachValueKnowsWhereItStands) {
    put("zone.toml", "name = 'a'\n[timing]\nlease_s = 1\nrenew_s = 2\n[[machine]]\nname = 'm0'\n");
    put("zone.d/10.toml", "# moved\n\n[timing]\nlease_s = 3\n[[machine]]\nname = 'm1'\n");
    Result<ConfigFile> file = read();
    ASSERT_TRUE(file) << file.error();
    const std::string part = folder.path("zone.d/10.toml");
    (void)file->number("timing.lease_s", 0, 0, 9);
    (void)file->text("queue", "none");
    (void)file->text("machine.1.name", "");
    (void)file->text("name", "");
    EXPECT_THAT(
        file->values(),
        ElementsAre(ConfigValue{"queue", "none", ""}, ConfigValue{"name", "a", folder.path("zone.toml") + ":1"},
                    ConfigValue{"timing.lease_s", 3.0, part + ":4"}, ConfigValue{"machine.1.name", "m1", part + ":6"}));
    EXPECT_EQ(file->folder("machine.1.name"), folder.path("zone.d"));
    EXPECT_EQ(file->folder("name") + "/zone.toml", folder.path("zone.toml"));
}

TEST_F(ConfigFileTest, FaultsNameTheFileAndLineTheyStandIn) {
    put("zone.toml", "name = 'a'\n");
    put("zone.d/10.toml", "\nlease = 3\n");
    Result<ConfigFile> file = read();
    ASSERT_TRUE(file) << file.error();
    (void)file->text("name", "");
    EXPECT_THAT(file->finish().error().pointer, EndsWith("zone.d/10.toml:2"));
    put("zone.d/10.toml", "name = 3\n");
    file = read();
    ASSERT_TRUE(file) << file.error();
    (void)file->text("name", "");
    EXPECT_THAT(file->finish().error().pointer, EndsWith("zone.d/10.toml:1")) << "of the value that counts";
    put("zone.d/10.toml", "\n\nname =\n");
    EXPECT_THAT(fault(), HasSubstr("zone.d/10.toml:3 "));
}

TEST_F(ConfigFileTest, OnlyFilesThatEndInTomlAreParts) {
    put("zone.toml", "name = 'a'\n");
    for (const char* name : {"zone.d/.10.toml", "zone.d/10.toml.dpkg-old", "zone.d/10.toml~", "zone.d/README"})
        put(name, "name = ");
    EXPECT_EQ(fault(), "none");
    std::filesystem::create_symlink("nowhere", folder.path("zone.d/20.toml"));
    EXPECT_THAT(fault(), HasSubstr("zone.d/20.toml the configuration file cannot be read: No such file"));
    std::filesystem::remove(folder.path("zone.d/20.toml"));
    std::filesystem::create_directory(folder.path("zone.d/30.toml"));
    EXPECT_THAT(fault(), HasSubstr("zone.d/30.toml is no file"));
}

TEST_F(ConfigFileTest, AFolderOfPartsThatIsNotOneIsNoMatter) {
    std::filesystem::remove(folder.path("zone.d"));
    put("zone.toml", "name = 'a'\n");
    EXPECT_EQ(fault(), "none");
    put("zone.d", "zone.o: zone.c\n");
    EXPECT_EQ(fault(), "none");
}

TEST_F(ConfigFileTest, NumberAndSizeOfPartsAreBounded) {
    put("zone.toml", "name = 'a'\n");
    for (std::size_t i = 0; i <= system::kMaxConfigParts; ++i) put("zone.d/" + std::to_string(i) + ".toml", "");
    EXPECT_THAT(fault(), HasSubstr("zone.d more than 100 files"));
    std::filesystem::remove(folder.path("zone.d/0.toml"));
    EXPECT_EQ(fault(), "none");
    const std::string half(system::kMaxConfigBytes / 2, '\n');
    put("zone.d/1.toml", half);
    EXPECT_EQ(fault(), "none");
    put("zone.d/2.toml", half);
    EXPECT_THAT(fault(), HasSubstr("zone.d/2.toml the configuration has more than 8 MiB"));
}

TEST_F(ConfigFileTest, AMissingQuoteIsGuessed) {
    for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
             {"name = 'a'\nqueue = \"easy\n[timing]\n", "; is a quote missing at its end?"},
             {"queue = 'easy\n", "zone.toml:1 "},
             {"queue = 'easy\n", "; is a quote missing at its end?"},
             {"queue = \"easy", "; is a quote missing at its end?"},
             {"queue = easy\n", "zone.toml:1 "},
             {"queue = easy\n", "; is a quote missing? A text stands in quotes"},
             {"hidden = ['/x', '/y]\n", "; is a quote missing at its end?"},
             {"hidden = [\"/x, \"/y\"]\n", "; is a quote or a comma missing?"}})
        EXPECT_THAT(fault_of_settings(text), HasSubstr(message)) << text;
    for (const char* bare : {"127.0.0.1:7001", "0.0.0.0:7001", "10.1.0.5", "10.1.0.0/16", "[::1]:7001", "7001:1"})
        EXPECT_THAT(
            fault_of_settings("name = 'a'\nqueue = " + std::string(bare) + " # where\n"),
            testing::AllOf(HasSubstr("zone.toml:2 "), EndsWith("; is a quote missing? A text stands in quotes")))
            << bare;
    for (const char* word : {"yes", "no", "on", "off", "True", "No"})
        EXPECT_THAT(fault_of_settings("queue=" + std::string(word) + "\n"),
                    EndsWith("; what is on or off is written true or false"))
            << word;
    EXPECT_THAT(fault_of_settings("queue = 1.5.\n"), testing::Not(HasSubstr("true or false")));
    EXPECT_THAT(fault_of_settings("name = 1 queue = 2\n"), testing::Not(HasSubstr("missing")));
}

TEST_F(ConfigFileTest, AKeyBelowATableIsToldToStandAboveIt) {
    EXPECT_THAT(fault_of_settings("name = 'a'\n[timing]\nlease_s = 2\nqueue = 'easy'\n"),
                HasSubstr("zone.toml:4 'queue' stands below a table, so it is read as 'timing.queue', which is not a "
                          "setting of this program; put it above the first table"));
    EXPECT_THAT(fault_of_settings("[[machine]]\nname = 'm0'\nqueue = 'easy'\n"),
                HasSubstr("zone.toml:3 'queue' stands below a table, so it is read as 'machine.0.queue'"));
    EXPECT_THAT(fault_of_settings("[[machine]]\nname = 'm0'\nqeue = 'easy'\n"),
                HasSubstr("; did you mean 'queue'? That one stands above the first table"));
    EXPECT_THAT(fault_of_settings("[timing]\nleaze_s = 2\n"), EndsWith("did you mean 'timing.lease_s'?"));
    EXPECT_THAT(fault_of_settings("queue = 'easy'\ntiming = 'x'\n"),
                EndsWith("zone.toml:2 'timing' is a table: write [timing], and its settings below it"));
    EXPECT_THAT(fault_of_settings("[[machine]]\nnames = 'm0'\nqueue = 'easy'\n"), EndsWith("mean 'machine.0.name'?"));
    EXPECT_THAT(fault_of_settings("[[machine]]\nmachines = 'm0'\n"), EndsWith("not a setting of this program"));
    EXPECT_THAT(fault_of_settings("queue = 'fcfs'\n[timing]\nqueue = 'easy'\n"),
                EndsWith("'timing.queue' is not a setting of this program"))
        << "what is set already is not meant";
    EXPECT_THAT(fault_of_settings("queue = 'fcfs'\n[timing]\nqeue = 'easy'\n"),
                EndsWith("is not a setting of this program"));
    EXPECT_THAT(fault_of_settings("[timing]\n[timing.machine]\n"), EndsWith("is not a setting of this program"));
}

TEST_F(ConfigFileTest, AnAddressWithAZoneIdIsRefused) {
    put("zone.toml", "\nlisten = '[fe80::1%lo]:8001'\n");
    Result<ConfigFile> file = read();
    ASSERT_TRUE(file);
    (void)file->address("listen", "", 8001);
    const Result<void> good = file->finish();
    ASSERT_FALSE(good);
    EXPECT_THAT(good.error().pointer, EndsWith("zone.toml:2"));
    EXPECT_THAT(good.error().message, HasSubstr("'fe80::1%lo' has a zone id"));
}

TEST_F(ConfigFileTest, AKeyThatHoldsADotIsNoSetting) {
    EXPECT_THAT(
        fault_of_settings("\n\"timing.lease_s\" = 3\n"),
        EndsWith("zone.toml:2 'timing.lease_s' in quotes is one key, which no setting is; write it without quotes"));
    EXPECT_THAT(fault_of_settings("[[machine]]\nname = 'm0'\n[[machine]]\n'a.b' = 3\n"),
                HasSubstr("zone.toml:4 'a.b'"));
    EXPECT_THAT(fault_of_settings("['timing.x']\n"), HasSubstr("zone.toml:1 'timing.x'"));
    EXPECT_THAT(fault_of_settings("name = 'a'\n['']\nname = 'b'\n"), HasSubstr("zone.toml:2 a key is empty"));
    EXPECT_EQ(fault_of_settings("\"timing\".'lease_s' = 3\n"), "none") << "as TOML has it";
}

TEST_F(ConfigFileTest, KeysAndTheirTablesAreOfBoundedDepth) {
    const auto many = [](int count, const std::string& part) {
        std::string key = "a";
        for (int i = 0; i < count; ++i) key += part;
        return key;
    };
    const std::string refused = "a key has more than 16 dots";
    for (const std::string& key : {many(50'000, ".a"), many(17, ".a"), many(17, " . \"a=#\" \t"), many(17, ".''")}) {
        EXPECT_THAT(fault_of_settings("name = 'a'\n" + key + " = 1\n"), HasSubstr("zone.toml:2 " + refused));
        EXPECT_THAT(fault_of_settings("name = '''\n\\'''\n[" + key + "]\n"), HasSubstr("zone.toml:3 " + refused));
        EXPECT_THAT(fault_of_settings("queue = {a = [1.5, {" + key + " = 1}]}\n"), HasSubstr("zone.toml:1 " + refused));
    }
    EXPECT_THAT(fault_of_settings(many(16, ".a") + " = 1\n"), HasSubstr("'a' is not a setting"));
    const std::string dots(99, '.');
    for (const std::string& text : {"'" + dots + "'", "\"\\\"" + dots + "\"", "'''\n'" + dots + "\n'''''",
                                    "\"\"\"\\\"\"\"" + dots + "\"\"\"", "'' # " + dots})
        EXPECT_EQ(fault_of_settings("queue = " + text + "\n"), "none") << text;
    std::string nested, ends;  // as deep as TOML is read at all
    for (int i = 0; i < 120; ++i) nested += "[{" + many(16, ".a") + " = ", ends += "}]";
    EXPECT_THAT(fault_of_settings("queue = " + nested + "1" + ends + "\n"), HasSubstr("must be a text"));
}

}  // namespace
}  // namespace zbs::test

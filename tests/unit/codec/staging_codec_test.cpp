#include "services/common/codec/staging_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/codec/message_codec.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/checksum.hpp"

namespace zbs::codec {
namespace {

const std::string kDigest(64, 'a');

TEST(Base64, GoesThereAndBackAndHasOneSpelling) {
    const std::vector<std::pair<std::string, std::string>> known = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}};
    for (const auto& [bytes, text] : known) {
        EXPECT_EQ(to_base64(bytes), text);
        EXPECT_EQ(from_base64(text), bytes);
    }
    std::string all;
    for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
    EXPECT_EQ(from_base64(to_base64(all)), all);
    for (const char* bad :
         {"Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zm 9", "Zm9v\n", "\nZm9", "=Zm9", "Zm=9", "Zm-_"})
        EXPECT_FALSE(from_base64(bad)) << bad;
}

struct StagingCodec : testing::Test {
    Staging staging{.inputs = {{"solver", kDigest, 5, true}, {"in.dat", kDigest, 0, false}},
                    .results = {"*.dat"},
                    .program = "solver",
                    .always = true};
    std::string pointer_of(const Json& json) {
        const auto read = decode_staging(json);
        return read ? "" : read.error().pointer;
    }
};

TEST_F(StagingCodec, GoesThereAndBack) {
    EXPECT_EQ(*decode_staging(encode(staging)), staging);
    EXPECT_EQ(*decode_staging_request(encode(StagingRequest{7, staging})), (StagingRequest{7, staging}));
    const FileChunk chunk{3, 10, 2, std::string("\0\xff", 2)};
    EXPECT_EQ(*decode_file_chunk(encode(chunk)), chunk);
    const StagedResults results{true, {{"a", kDigest, 3, "zone-b", true}, {"b", kDigest, 3}}, {"c is a link"}, 2};
    EXPECT_EQ(*decode_staged_results(encode(results)), results);
    const StagingStatus status{{{kDigest, 3, false}}};
    EXPECT_EQ(*decode_staging_status(encode(status)), status);
}

TEST(OwnOutput, IsWhatRanksAndTheProfilerWriteAndNothingElse) {
    for (const char* name :
         {".zbs-stdout", ".zbs-stderr", ".zbs-out.0", ".zbs-err.12", ".zbs-end.3", ".zbs-profile.json",
          ".zbs-profile.json.rank.3", ".zbs-profile.json.tmp.77", ".zbs-profile.json.rank.3.tmp.77",
          ".zbs-profile.json.finalized", ".zbs-early.3", ".zbs-abort.3", ".zbs-unusual", ".zbs-at-work"})
        EXPECT_TRUE(is_own_output(name)) << name;
    for (const char* name :
         {"stdout", "stderr", "out.0", "err.12", "end.3", "profile.json", "profile.json.rank.3", ".zbs-", ".zbs-x",
          ".zbs-out.", ".zbs-out.x", ".zbs-out.1x", ".zbs-profile.jsonx", ".zbs-profile.json.", ".zbs-profile.json.x",
          ".zbs-profile.json.rank.", ".zbs-profile.json.rank.3x", ".zbs-profile.json.tmp.1.rank.2", ".zbs-stdout2"})
        EXPECT_FALSE(is_own_output(name)) << name;
}

TEST(StagedName, MayHaveAnyPrintableLettersAndFolders) {
    for (const char* name : {"a b",
                             " a ",
                             "\xc3\xbcml\xc3\xa4ut",
                             "\xe6\x97\xa5\xe6\x9c\xac.dat",
                             "a=b",
                             "50%",
                             "q?*[x]",
                             "'\"`$;&|<>",
                             "out/a b/c.dat",
                             "out/.config",
                             "out/stdout",
                             "a..b",
                             "a...",
                             "#",
                             "~",
                             "\xf0\x9f\x98\x80",
                             "stdout",
                             "out.7",
                             "end.0",
                             "profile.json",
                             "profile.json.x"}) {
        EXPECT_EQ(result_name_fault(name), "") << name;
        EXPECT_EQ(input_name_fault(name), "") << name;
    }
    for (const char* name : {"b\\s", "-dash", "out/-dash", ".hid", ".h/x", "-", "\\"}) {
        EXPECT_EQ(result_name_fault(name), "") << name;
        EXPECT_NE(input_name_fault(name), "") << name;
    }
    EXPECT_EQ(result_name_fault("caf\xe9.out"), "must be UTF-8");
    EXPECT_THAT(input_name_fault("/etc/passwd"), testing::HasSubstr("must not be absolute"));
    EXPECT_THAT(result_pattern_fault("/tmp/*.out"), testing::HasSubstr("must not be absolute"));
    EXPECT_THAT(result_pattern_fault("out//x"), testing::HasSubstr("empty folder"));
    for (const char* name : {".zbs-out.0", ".zbs-x"})
        EXPECT_THAT(result_name_fault(name), testing::HasSubstr("uses itself"));
}

TEST(ResultPattern, OneStarStaysInAFolderAndTwoGoThroughAll) {
    const std::vector<std::pair<const char*, const char*>> covered = {{"*.out", "a.out"},
                                                                      {"*.out", "a b.out"},
                                                                      {"a", "a"},
                                                                      {"*", "x"},
                                                                      {"out/*", "out/a"},
                                                                      {"out/**", "out/a/b/c"},
                                                                      {"**", "a/b"},
                                                                      {"**/x", "a/b/x"},
                                                                      {"out/**/x*", "out/a/x1"},
                                                                      {"*/a", "out/a"},
                                                                      {"**.dat", "o/x.dat"},
                                                                      {"a*b*c", "axxbyyc"},
                                                                      {"**a/*b", "xa/ya/zb"},
                                                                      {"***", "a/b"},
                                                                      {".*", ".h"},
                                                                      {".h", ".h"},
                                                                      {".h/**", ".h/a/b"},
                                                                      {"**/.h", "a/b/.h"},
                                                                      {"out/.*", "out/.h"},
                                                                      {"*/.h/*", "a/.h/x"},
                                                                      {"*", ".h"},
                                                                      {"*", "..h"},
                                                                      {"*.h", ".h"},
                                                                      {"**", ".h/x"},
                                                                      {"out/*", "out/.h"},
                                                                      {"out/**", "out/a/.h/x"},
                                                                      {"a*", "a.b"},
                                                                      {"**", "a/b.c"},
                                                                      {"-*", "-dash"},
                                                                      {"b\\*", "b\\s"}};
    for (const auto& [pattern, name] : covered) EXPECT_TRUE(matches_result(pattern, name)) << pattern << " " << name;
    const std::vector<std::pair<const char*, const char*>> others = {
        {"*.out", "o/a.out"}, {"out/*", "out/a/b"}, {"out/**", "out"}, {"a", "ab"},
        {"*/a", "a"},         {"a*", "b"},          {"", "a"},         {"**/x", "a/b/y"},
        {".*", ".h/x"}};
    for (const auto& [pattern, name] : others) EXPECT_FALSE(matches_result(pattern, name)) << pattern << " " << name;
}

TEST(ResultPattern, MayMatchInAFolder) {
    for (const auto& [pattern, folder] : std::vector<std::pair<const char*, const char*>>{{"out/**", "out"},
                                                                                          {"out/x", "out"},
                                                                                          {"*/x", "out"},
                                                                                          {"**", "out"},
                                                                                          {"out/*/x", "out/a"},
                                                                                          {"**/x", "a/b"},
                                                                                          {"**", ".out"}})
        EXPECT_TRUE(may_match_in(pattern, folder)) << pattern << " " << folder;
    for (const auto& [pattern, folder] : std::vector<std::pair<const char*, const char*>>{
             {"*", "out"}, {"out", "out"}, {"other/**", "out"}, {"out/*", "out/a"}, {"*/x", "a/b"}})
        EXPECT_FALSE(may_match_in(pattern, folder)) << pattern << " " << folder;
}

TEST_F(StagingCodec, RefusalsNameTheField) {
    const auto with = [&](const char* key, const Json& value) {
        Json json = encode(staging);
        json["inputs"][0][key] = value;
        return json;
    };
    for (const char* name :
         {"",    "/a", "a/",   "a//b",  "a/../b", "a/./b", "a/-rf",    "..",           ".hidden",     "a\tb",
          "-rf", "-",  "a\\b", "..\\x", "a\nb",   "a\x7f", "\xc2\x85", "\xe2\x80\xae", ".zbs-stdout", ".zbs-x"})
        EXPECT_EQ(pointer_of(with("name", name)), "/inputs/0/name") << name;
    EXPECT_EQ(pointer_of(with("name", std::string(limits::kMaxStagedNameBytes + 1, 'a'))), "/inputs/0/name");
    EXPECT_EQ(pointer_of(with("name", std::string(limits::kMaxStagedNameSegmentBytes + 1, 'a'))), "/inputs/0/name");
    EXPECT_EQ(pointer_of(with("name", "in.dat")), "/inputs/1/name");
    EXPECT_EQ(pointer_of(with("name", "in.dat/x")), "/inputs/0/name");
    EXPECT_EQ(pointer_of(with("digest", std::string(64, 'A'))), "/inputs/0/digest");
    EXPECT_EQ(pointer_of(with("size", -1)), "/inputs/0/size");
    EXPECT_EQ(pointer_of(with("executable", false)), "/program");
    EXPECT_EQ(pointer_of(with("mode", 511)), "/inputs/0/mode");
    Json json = encode(staging);
    for (const char* pattern : {"../x", "/etc/*", "out/../*", "a\nb", ".zbs-out.0"}) {
        json["results"] = {"ok", pattern};
        EXPECT_EQ(pointer_of(json), "/results/1") << pattern;
    }
    json["results"] = std::vector<std::string>(limits::kMaxResultPatterns + 1, "x");
    EXPECT_EQ(pointer_of(json), "/results");
    json = encode(staging);
    json["inputs"] = Json::array();
    for (std::size_t i = 0; i <= limits::kMaxStagedInputs; ++i)
        json["inputs"].push_back({{"name", "n" + std::to_string(i)}, {"digest", kDigest}, {"size", 1}});
    EXPECT_EQ(pointer_of(json), "/inputs");
}

TEST_F(StagingCodec, PiecesStayInsideOfTheirFile) {
    const auto pointer = [](const FileChunk& chunk) {
        const auto read = decode_file_chunk(encode(chunk));
        return read ? "" : read.error().pointer;
    };
    EXPECT_EQ(pointer({0, 3, 0, "abc"}), "");
    EXPECT_EQ(pointer({0, 3, 3, ""}), "");
    EXPECT_EQ(pointer({0, 3, 1, "abc"}), "/bytes");
    EXPECT_EQ(pointer({0, 3, 4, ""}), "/bytes");
    EXPECT_EQ(pointer({0, 3, 0, ""}), "/bytes");
    EXPECT_EQ(pointer({0, 1 << 30, 0, std::string(limits::kMaxFileChunkBytes, 'x')}), "");
    EXPECT_EQ(pointer({0, 1 << 30, 0, std::string(limits::kMaxFileChunkBytes + 1, 'x')}), "/bytes");
}

TEST_F(StagingCodec, ResultsOfAPeerCannotNameAPlaceElsewhere) {
    for (const char* name : {"../x", "a/../../b", "/b", "", "a/", ".zbs-out.1", "a\nb"}) {
        const auto read = decode_staged_results(encode(StagedResults{true, {{name, kDigest, 1}}, {}}));
        ASSERT_FALSE(read) << name;
        EXPECT_EQ(read.error().pointer, "/files/0/name");
    }
    EXPECT_FALSE(decode_staged_results(encode(StagedResults{true, {{"a", kDigest, 1}, {"a", kDigest, 1}}, {}})));
}

TEST_F(StagingCodec, WithoutFilesMessagesAreAsTheyWere) {
    ApplicationRequest request{.ranks = 1, .argv = {"/bin/app"}, .directory = "/tmp"};
    EXPECT_FALSE(encode(request).contains("staging"));
    EXPECT_FALSE(encode(PartStatus{}).contains("file_system"));
    EXPECT_FALSE(encode(ApplicationStatus{}).contains("results"));
    request.staging = staging;
    request.walltime = std::chrono::seconds{5};
    EXPECT_EQ(decode_application_request(encode(request))->staging, staging);
}

}  // namespace
}  // namespace zbs::codec

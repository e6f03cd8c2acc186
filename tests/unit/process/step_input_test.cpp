#include "services/common/adapters/process/step_input.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/node_agent/step/step_options.hpp"

namespace zbs::process {
namespace {

const StepInput kInput{{{"A", ""}, {"PATH", "/bin"}}, {{"hosts", std::string("a\0b", 3)}, {"empty", ""}}};

TEST(StepInput, WhatIsWrittenIsReadBack) {
    EXPECT_EQ(decode_step_input(encode(kInput)), kInput);
    EXPECT_EQ(decode_step_input(""), StepInput{});
}

TEST(StepInput, CutTextIsRefusedOrEndsAtARecord) {
    const std::string text = encode(kInput);
    for (std::size_t size = 0; size < text.size(); ++size) {
        const auto read = decode_step_input(std::string_view(text).substr(0, size));
        EXPECT_TRUE(!read || encode(*read) == text.substr(0, size)) << size;
    }
}

TEST(StepInput, ChangedBytesAreRefusedOrMeanWhatTheySay) {
    const std::string text = encode(kInput);
    for (std::size_t at = 0; at < text.size(); ++at) {
        for (const char byte : {'\0', '\x7F', '\xFF', 'E', 'F', '='}) {
            std::string changed = text;
            changed[at] = byte;
            const auto read = decode_step_input(changed);
            EXPECT_TRUE(!read || find_fault(*read).empty()) << at;
        }
    }
}

TEST(StepInput, NamesThatMeanSomethingElseAreFaults) {
    for (const std::string& name : {std::string{}, std::string("A=B"), std::string("A\0", 2)})
        EXPECT_NE(find_fault({{{name, "x"}}, {}}), "") << name;
    EXPECT_NE(find_fault({{{"A", std::string("x\0y", 3)}}, {}}), "");
    for (const char* name : {"", "..", "a/b", ".hidden"}) EXPECT_NE(find_fault({{}, {{name, "x"}}}), "") << name;
    EXPECT_EQ(find_fault(kInput), "");
}

TEST(StepOptions, WhatIsNotUnderstoodIsRefused) {
    const std::vector<std::vector<const char*>> cases = {
        {},
        {"--operation", "x", "--folder", "/f"},
        {"--operation", "x", "--folder", "/f", "--"},
        {"--operation", "x", "--folder", "/f", "--unknown", "1", "--", "p"},
        {"--operation", "x", "--folder", "/f", "--walltime-s", "-1", "--", "p"},
        {"--operation", "x", "--folder", "/f", "--minimum-uid", "1x", "--", "p"},
        {"--operation", "x", "--folder", "/f", "--minimum-uid", "99999999999999999999", "--", "p"},
        {"--operation", "x", "--folder", "/f", "--namespaces", "some", "--", "p"},
        {"--operation", "x", "--folder", "/f", "--namespaces", "user", "--account", "a", "--", "p"},
        {"--operation"}};
    for (std::vector<const char*> words : cases) {
        words.insert(words.begin(), "zbs-step");
        EXPECT_FALSE(step::read_step_options(static_cast<int>(words.size()), words.data())) << words.back();
    }
}

TEST(StepOptions, WhatFollowsTheDashesIsTheProgramsOwn) {
    const std::vector<const char*> words = {"zbs-step", "--operation", "x",  "--folder", "/f",     "--hide", "/a",
                                            "--hide",   "/b",          "--", "p",        "--hide", "--"};
    const auto options = step::read_step_options(static_cast<int>(words.size()), words.data());
    ASSERT_TRUE(options) << options.error();
    EXPECT_THAT(options->argv, testing::ElementsAre("p", "--hide", "--"));
    EXPECT_THAT(options->hidden, testing::ElementsAre("/a", "/b"));
    EXPECT_EQ(options->namespaces, step::Namespaces::kNone);
}

}  // namespace
}  // namespace zbs::process

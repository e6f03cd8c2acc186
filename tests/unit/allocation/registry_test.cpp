#include "algorithms/allocation/registry.hpp"
#include "tests/support/source_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace zbs {
namespace {

TEST(AllocatorRegistry, MakesEveryAllocatorWithEachOfItsOptions) {
    EXPECT_TRUE(std::ranges::is_sorted(allocators(), {}, &AllocatorInfo::name));
    for (const AllocatorInfo& info : allocators()) {
        SCOPED_TRACE(info.name);
        EXPECT_EQ(find_allocator(info.name), &info);
        const auto made = make_allocator(info.name, 64);
        ASSERT_TRUE(made.has_value()) << made.error().message;
        EXPECT_EQ((*made)->capacity(), 64);
        for (const AllocatorOption& option : info.options) {
            SCOPED_TRACE(option.name);
            EXPECT_FALSE(option.meaning.empty());
            for (const std::string_view choice : option.choices)
                EXPECT_TRUE(make_allocator(info.name, 64, {{std::string(option.name), std::string(choice)}}));
            EXPECT_TRUE(make_allocator(info.name, 64, {{std::string(option.name), std::string(option.default_value)}}));
            EXPECT_FALSE(make_allocator(info.name, 64, {{std::string(option.name), "surely not"}}));
        }
    }
}

TEST(AllocatorRegistry, SourcesAreInTheReferences) {
    std::ifstream file(zbs::test::source_folder() + "/algorithms/REFERENCES.md");
    std::stringstream text;
    text << file.rdbuf();
    for (const AllocatorInfo& info : allocators()) {
        if (info.source == "-") continue;
        const std::string key(info.source.substr(0, info.source.find_first_of(",;")));
        EXPECT_NE(text.str().find("| " + key + " |"), std::string::npos) << info.source;
    }
}

TEST(AllocatorRegistry, FaultsNameWhatToDo) {
    const struct {
        const char* name;
        std::int32_t processors;
        AllocatorOptions options;
        const char* says;
    } faults[] = {
        {"aflo", 64, {}, "there is no allocator 'aflo'; did you mean 'afl'?"},
        {"quantum", 64, {}, "known are afl, buddy, contiguous"},
        {"afl", 100, {}, "serves hypercubes of 2^n processors up to 16384, not 100"},
        {"buddy", 32768, {}, "up to 16384"},
        {"first-fit", 64, {{"choice", "best"}}, "has no option 'choice'; it has none"},
        {"contiguous", 64, {{"choise", "best"}}, "did you mean 'choice'?"},
        {"contiguous", 64, {{"choice", "bets"}}, "did you mean 'best'?"},
        {"contiguous", 64, {{"choice", "best"}, {"choice", "first"}}, "is given twice"},
        {"mesh-frame", 64, {{"width", "7"}}, "does not divide"},
        {"mesh-frame", 64, {{"width", "-8"}}, "is '-8'"},
        {"mesh-frame", 64, {{"rotate", "maybe"}}, "write true or false"},
        {"first-fit", 0, {}, "1 to 100000000 processors"},
    };
    for (const auto& [name, processors, options, says] : faults) {
        const auto made = make_allocator(name, processors, options);
        ASSERT_FALSE(made.has_value()) << name;
        EXPECT_NE(made.error().message.find(says), std::string::npos) << made.error().message;
    }
}

}  // namespace
}  // namespace zbs

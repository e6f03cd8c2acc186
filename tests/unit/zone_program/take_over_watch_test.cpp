#include "services/zone_scheduler/program/take_over_watch.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <future>

#include "services/common/adapters/process/process_tree.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::zone_program {
namespace {
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr auto kNever = std::chrono::hours{1};
constexpr auto kDeadline = std::chrono::seconds{60};

/// What a look meets; the watch's thread shares it, also when it outlives the test.
struct Folder {
    std::atomic<int> looks{0};
    std::atomic<bool> is_good{true};
    TakeOverWatch::Look look(std::shared_ptr<Folder> self) const {
        return [self = std::move(self)]() -> Result<void> {
            ++self->looks;
            if (self->is_good) return {};
            return Error{ErrorCode::kConflict, "lacks the mark", {}};
        };
    }
};

TEST(TakeOverWatch, SaysWhatTheLastLookFound) {
    const auto folder = std::make_shared<Folder>();
    TakeOverWatch watch(folder->look(folder), {.every = kNever, .patience = kNever, .fresh = 0ms});
    EXPECT_TRUE(watch.found());
    EXPECT_EQ(folder->looks, 0);
    folder->is_good = false;
    EXPECT_TRUE(watch.found()) << "nobody has looked";
    EXPECT_EQ(watch.found_now().error().message, "lacks the mark");
    EXPECT_EQ(watch.found().error().message, "lacks the mark");
    folder->is_good = true;
    EXPECT_TRUE(watch.found_now());
    EXPECT_TRUE(watch.found());
}

TEST(TakeOverWatch, AFreshLookIsNotRepeated) {
    const auto folder = std::make_shared<Folder>();
    TakeOverWatch watch(folder->look(folder), {.every = kNever, .patience = kNever, .fresh = kNever});
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(watch.found_now());
    EXPECT_EQ(folder->looks, 1);
}

TEST(TakeOverWatch, LooksByItselfAgainAndAgain) {
    const auto looks = std::make_shared<std::atomic<int>>(0);
    const auto third = std::make_shared<std::promise<void>>();
    TakeOverWatch watch(
        [looks, third]() -> Result<void> {
            if (++*looks == 3) third->set_value();
            return {};
        },
        {.every = 1ms, .patience = kNever, .fresh = kNever});
    EXPECT_EQ(third->get_future().wait_for(kDeadline), std::future_status::ready);
}

/// A pipe that nobody writes to in place of the mark: opening it hangs, as a file system whose server is gone.
class TakeOverWatchOfDeadServer : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(mkfifo(mark.c_str(), 0600), 0); }
    TakeOverWatch::Look look() {
        return [mark = mark, looks = looks]() -> Result<void> {
            ++*looks;
            looks->notify_all();
            const auto text = process::read_file(mark);
            return text == "good" ? Result<void>{} : Result<void>(Error{ErrorCode::kConflict, "lacks the mark", {}});
        };
    }
    /// The server is back: what hangs goes on and reads nothing, and the file is there as it was.
    void bring_back() {
        const int writer = open(mark.c_str(), O_WRONLY | O_CLOEXEC);  // waits for whoever hangs
        ASSERT_GE(writer, 0);
        ASSERT_TRUE(process::write_file(mark, "good"));
        close(writer);
    }
    test::TemporaryFolder folder;
    const std::string mark = folder.path("folder_id");
    const std::shared_ptr<std::atomic<int>> looks = std::make_shared<std::atomic<int>>(0);
};

TEST_F(TakeOverWatchOfDeadServer, CountsAsUnfitUntilItIsBackAndIsLookedAtOnce) {
    TakeOverWatch watch(look(), {.every = kNever, .patience = 20ms, .fresh = 0ms});
    for (int i = 0; i < 3; ++i) {
        const Result<void> now = watch.found_now();
        ASSERT_FALSE(now);
        EXPECT_EQ(now.error().code, ErrorCode::kTimeout);
        EXPECT_THAT(now.error().message, HasSubstr("has not come back within 0.02s"));
        EXPECT_EQ(watch.found().error(), now.error());
    }
    EXPECT_EQ(*looks, 1) << "one that hangs at most";
    bring_back();
    const auto end = std::chrono::steady_clock::now() + kDeadline;
    while (!watch.found_now()) ASSERT_LT(std::chrono::steady_clock::now(), end) << watch.found().error();
    EXPECT_TRUE(watch.found());
    EXPECT_GE(*looks, 2);
}

TEST_F(TakeOverWatchOfDeadServer, KeepsNobodyFromEnding) {
    {
        TakeOverWatch watch(look(), {.every = kNever, .patience = 20ms, .fresh = 0ms});
        EXPECT_EQ(watch.found_now().error().code, ErrorCode::kTimeout);
    }
    EXPECT_EQ(*looks, 1);
    bring_back();  // the look goes on and ends, with nothing of the watch there any more
}

TEST_F(TakeOverWatchOfDeadServer, WhoeverWaitsForALookIsLetGoAtTheEnd) {
    TakeOverWatch watch(look(), {.every = kNever, .patience = kNever, .fresh = 0ms});
    auto waiting = std::async(std::launch::async, [&] { return watch.found_now(); });
    looks->wait(0);
    watch.end();
    ASSERT_EQ(waiting.wait_for(kDeadline), std::future_status::ready);
    EXPECT_EQ(waiting.get().error().code, ErrorCode::kUnavailable);
    bring_back();  // or the watch's own end would wait for as long as its patience
}

}  // namespace
}  // namespace zbs::zone_program

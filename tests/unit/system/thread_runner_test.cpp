#include "services/common/adapters/system/thread_runner.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

namespace zbs::system {
namespace {

TEST(ThreadRunner, CallsEachPieceOnce) {
    for (const int width : {1, 2, 3, 8}) {
        ThreadRunner runner(width);
        EXPECT_EQ(runner.width(), width);
        for (const int count : {0, 1, 2, 7, 1000}) {
            std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
            runner.run(count, [&](int i) { ++calls[static_cast<std::size_t>(i)]; });
            for (const auto& c : calls) EXPECT_EQ(c, 1);
        }
    }
}

TEST(ThreadRunner, HasAllDoneWhenItReturns) {
    ThreadRunner runner(4);
    for (int round = 0; round < 2000; ++round) {
        std::vector<int> plain(16, 0);  // no atomics: the return is what orders
        runner.run(16, [&](int i) { plain[static_cast<std::size_t>(i)] = round; });
        for (const int value : plain) ASSERT_EQ(value, round);
    }
}

TEST(ThreadRunner, WorksOnSeveralThreads) {
    ThreadRunner runner(2);
    std::atomic<int> waiting{0};
    std::mutex mutex;
    std::set<std::thread::id> threads;
    runner.run(2, [&](int) {
        ++waiting;
        while (waiting < 2) std::this_thread::yield();  // neither can do both pieces
        const std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
    });
    EXPECT_EQ(threads.size(), 2u);
}

TEST(ThreadRunner, MayBeCalledFromItsOwnWork) {
    ThreadRunner runner(3);
    std::atomic<int> calls{0};
    runner.run(5, [&](int) { runner.run(5, [&](int) { ++calls; }); });
    EXPECT_EQ(calls, 25);
}

TEST(ThreadRunner, MayBeCalledFromSeveralThreads) {
    ThreadRunner runner(3);
    std::atomic<int> calls{0};
    std::vector<std::thread> callers;
    for (int c = 0; c < 4; ++c) {
        callers.emplace_back([&] {
            for (int round = 0; round < 100; ++round) runner.run(10, [&](int) { ++calls; });
        });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(calls, 4000);
}

TEST(ThreadRunner, ZeroIsWhatTheMachineHas) { EXPECT_EQ(ThreadRunner(0).width(), usable_processors()); }

}  // namespace
}  // namespace zbs::system

#include "client/cli/interrupt.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace zbs::cli {
namespace {

TEST(InterruptLineDeathTest, IsPrintedAndTheSignalEndsTheProgram) {
    for (const int signal : {SIGINT, SIGTERM})
        EXPECT_EXIT(
            {
                const InterruptLine line("zbs: it goes on");
                raise(signal);
            },
            testing::KilledBySignal(signal), "^zbs: it goes on\n$");
}

TEST(InterruptLineDeathTest, IsNotPrintedAfterItsEnd) {
    EXPECT_EXIT(
        {
            { const InterruptLine line("zbs: it goes on"); }
            raise(SIGINT);
        },
        testing::KilledBySignal(SIGINT), "^$");
}

TEST(InterruptLineDeathTest, AnIgnoredSignalStaysIgnored) {
    EXPECT_EXIT(
        {
            signal(SIGINT, SIG_IGN);
            const InterruptLine line("zbs: it goes on");
            raise(SIGINT);
            _exit(7);
        },
        testing::ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace zbs::cli

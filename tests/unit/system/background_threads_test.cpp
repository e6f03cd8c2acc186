#include "services/common/adapters/system/asio_clock.hpp"

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <optional>
#include <thread>

namespace zbs::system {
namespace {

TEST(BackgroundThreads, WorkIsDoneBesideTheStrandAndReportedOnIt) {
    boost::asio::io_context io;
    const Strand strand = boost::asio::make_strand(io);
    BackgroundThreads background(strand);
    std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> open(io.get_executor());
    std::thread::id worker;
    bool reported = false;
    background.run([&] { worker = std::this_thread::get_id(); },
                   [&] {
                       reported = strand.running_in_this_thread();
                       open.reset();
                   });
    EXPECT_FALSE(reported);
    io.run();
    EXPECT_TRUE(reported);
    EXPECT_NE(worker, std::thread::id());
    EXPECT_NE(worker, std::this_thread::get_id());
}

TEST(BackgroundThreads, ItsEndAwaitsWhatHasBegunAndReportsNothing) {
    boost::asio::io_context io;
    bool has_begun = false, reported = false;
    {
        BackgroundThreads background(boost::asio::make_strand(io));
        background.run([&] { has_begun = true; }, [&] { reported = true; });
    }
    EXPECT_FALSE(reported) << "nobody runs the strand any more, begun or not: " << has_begun;
}

}  // namespace
}  // namespace zbs::system

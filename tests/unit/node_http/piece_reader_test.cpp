#include "services/zone_scheduler/adapters/node/input_transfer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace zbs::node {
namespace {

using namespace std::chrono_literals;

struct PieceReaderTest : testing::Test {
    const test::TemporaryFolder folder;
    PieceReaderTest() { std::ofstream(folder.path("f"), std::ios::binary) << "0123456789"; }
    FilePiece piece(std::uint64_t offset, std::size_t limit) { return {folder.path("f"), offset, limit}; }
};

TEST_F(PieceReaderTest, APieceIsWhatIsThereOfIt) {
    EXPECT_EQ(*read_piece(piece(0, 10)), "0123456789");
    EXPECT_EQ(*read_piece(piece(8, 10)), "89");
    EXPECT_EQ(*read_piece(piece(11, 10)), "");
    EXPECT_EQ(read_piece({folder.path("none"), 0, 1}).error().code, ErrorCode::kUnavailable);
    std::filesystem::create_symlink(folder.path("f"), folder.path("link"));
    EXPECT_FALSE(read_piece({folder.path("link"), 0, 1}));
}

TEST_F(PieceReaderTest, ReadsElsewhereAndAnswersWherePosted) {
    std::thread::id posted_by;
    std::vector<std::string> answers;
    std::promise<void> done;
    {
        PieceReader reader([&](const std::function<void()>& work) {
            posted_by = std::this_thread::get_id();
            work();
            if (answers.size() == 3) done.set_value();
        });
        for (const std::uint64_t offset : {0, 4, 8})
            reader.read(piece(offset, 3), [&](const Result<std::string>& bytes) { answers.push_back(*bytes); });
        ASSERT_EQ(done.get_future().wait_for(30s), std::future_status::ready);
    }
    EXPECT_NE(posted_by, std::this_thread::get_id());
    EXPECT_EQ(answers, (std::vector<std::string>{"012", "456", "89"}));
}

TEST_F(PieceReaderTest, ItsEndWaitsForThePieceInHandOnly) {
    std::promise<void> begun, go;
    const std::shared_future<void> may_go = go.get_future().share();
    int answers = 0;
    auto reader = std::make_unique<PieceReader>([&](const std::function<void()>& work) {
        if (answers == 0) begun.set_value();
        may_go.wait();
        work();
    });
    for (int i = 0; i < 3; ++i) reader->read(piece(0, 1), [&](const Result<std::string>&) { ++answers; });
    begun.get_future().wait();
    std::thread end([&] { reader.reset(); });
    go.set_value();
    end.join();
    EXPECT_GE(answers, 1);
}

}  // namespace
}  // namespace zbs::node

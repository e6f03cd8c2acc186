#include "services/zone_scheduler/program/commands/line_log_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "services/common/codec/records/queue_log_codec.hpp"
#include "tests/support/silent_log.hpp"

namespace zbs {
namespace {

class LineLogFileTest : public testing::Test {
  protected:
    LineLogFileTest() : folder_(std::filesystem::temp_directory_path() / ("zbs-line-log-" + std::to_string(getpid()))) {
        std::filesystem::create_directory(folder_);
    }
    ~LineLogFileTest() override { std::filesystem::remove_all(folder_); }

    std::string path() const { return folder_ / "queue.jsonl"; }
    static std::vector<QueueEvent> read(const std::string& path) {
        std::ifstream file(path);
        std::ostringstream text;
        text << file.rdbuf();
        auto events = codec::read_queue_log(text.str());
        EXPECT_TRUE(events) << events.error();
        return events ? *events : std::vector<QueueEvent>{};
    }

    static void write(LineLogFile& file, const QueueEvent& event) {
        file.write(codec::encode(event), std::holds_alternative<Decided>(event));
    }

    std::filesystem::path folder_;
    test::SilentLog log_;
};

TEST_F(LineLogFileTest, FullFileIsTurnedOverAfterADecisionAndTheNextOneStandsAlone) {
    const QueueContinued rest{Duration{5}, {{"org-a", 2.5}}, {}};
    auto file = *LineLogFile::open(kQueueLog, path(), log_, 2'000);
    int turned = 0;
    file->on_full([&] {
        ++turned;
        write(*file, QueueOpened{4});
        write(*file, rest);
    });
    write(*file, QueueOpened{4});
    while (turned == 0 && read(path()).size() < 100) write(*file, WeightSet{"org-a", 2}), write(*file, Decided{});
    ASSERT_EQ(turned, 1);
    EXPECT_GT(std::filesystem::file_size(path() + ".1"), 1'000U);
    EXPECT_TRUE(std::holds_alternative<Decided>(read(path() + ".1").back())) << "not between an event and its decision";
    EXPECT_THAT(read(path()), testing::ElementsAre(QueueEvent(QueueOpened{4}), QueueEvent(rest)));
    write(*file, Decided{});
    EXPECT_EQ(read(path()).size(), 3U);
    const auto second = LineLogFile::open(kQueueLog, path(), log_);
    ASSERT_FALSE(second) << "the new file is locked as the old one was";
    EXPECT_EQ(second.error().code, ErrorCode::kConflict);
}

TEST_F(LineLogFileTest, FileOfAnotherKindIsNotTakenForOneInUse) {
    std::ofstream(path()) << "a letter\n";
    const auto file = LineLogFile::open(kQueueLog, path(), log_);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(file.error().message, testing::HasSubstr("is no log of a queue"));
}

TEST_F(LineLogFileTest, FileThatCannotBeTurnedOverEnds) {
    auto file = *LineLogFile::open(kQueueLog, path(), log_, 1'000);
    file->on_full([] { FAIL() << "nothing was begun"; });
    std::filesystem::create_directory(path() + ".1");
    for (int i = 0; i < 40; ++i) write(*file, Decided{});
    EXPECT_LE(std::filesystem::file_size(path()), 1'000U);
    EXPECT_FALSE(read(path()).empty());
}

}  // namespace
}  // namespace zbs

#include "algorithms/sim/slice_rotation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "algorithms/base/rng.hpp"

namespace zbs {
namespace {

using namespace std::chrono_literals;

Time at(Duration since_begin) { return Time{since_begin}; }

/// Rows of (job, processors) pairs; jobs get processors from the left.
std::shared_ptr<const TraceDiagram> diagram(const std::vector<std::vector<std::pair<int, int>>>& rows) {
    auto made = std::make_shared<TraceDiagram>(8);
    for (const auto& row : rows) {
        const std::int32_t number = made->add_row();
        std::int32_t next = 0;
        for (const auto& [job, processors] : row) {
            std::vector<std::int32_t> places;
            for (int i = 0; i < processors; ++i) places.push_back(next++);
            made->place(number, JobId{job}, places);
        }
    }
    return made;
}

TEST(SliceRotation, LoneRowIsNotInterrupted) {
    SliceRotation machine(10s, 8);
    machine.add(1, 95s);
    machine.install(at(3s), diagram({{{1, 4}}}));
    EXPECT_EQ(machine.next_end(), at(98s));
    EXPECT_EQ(machine.pop_end(), 1u);
    EXPECT_EQ(machine.next_end(), kNever);
}

TEST(SliceRotation, RowsTakeTurns) {
    SliceRotation machine(10s, 8);
    machine.add(1, 25s);
    machine.add(2, 15s);
    machine.install(at(0s), diagram({{{1, 4}}, {{2, 8}}}));
    // Row 0: 0-10, 20-30, 40-45. Row 1: 10-20, 30-35.
    EXPECT_EQ(machine.next_end(), at(35s));
    EXPECT_EQ(machine.pop_end(), 2u);
    machine.install(at(35s), diagram({{{1, 4}}}));
    EXPECT_EQ(machine.next_end(), at(40s)) << "the row whose job ended gives way at once";
}

TEST(SliceRotation, FirstServiceIsTheBeginningOfTheFirstSlice) {
    SliceRotation machine(10s, 8);
    machine.add(1, 25s);
    machine.add(2, 5s);
    machine.install(at(0s), diagram({{{1, 4}}, {{2, 8}}}));
    EXPECT_EQ(machine.first_service(1), kNever);
    machine.add(3, 50s);
    machine.install(at(10s), diagram({{{1, 4}}, {{2, 8}}, {{3, 1}}}));
    EXPECT_EQ(machine.first_service(1), at(0s));
    EXPECT_EQ(machine.first_service(2), kNever) << "its slice begins now";
    EXPECT_EQ(machine.pop_end(), 2u);
    EXPECT_EQ(machine.first_service(2), at(10s));
    machine.install(at(15s), diagram({{{1, 4}}, {{3, 1}}}));
    machine.install(at(26s), diagram({{{1, 4}}, {{3, 1}}}));
    EXPECT_EQ(machine.first_service(3), at(15s));
}

TEST(SliceRotation, RunningRowGoesOnWhenOthersCome) {
    SliceRotation machine(10s, 8);
    machine.add(1, 30s);
    machine.install(at(0s), diagram({{{1, 4}}}));
    machine.add(2, 5s);
    machine.install(at(4s), diagram({{{1, 4}}, {{2, 8}}}));
    EXPECT_EQ(machine.row(), 0);
    EXPECT_EQ(machine.next_end(), at(15s)) << "job 1 runs to the end of its slice at 10, then job 2";
}

TEST(SliceRotation, JobBesideTheRunningOneStartsAtOnce) {
    SliceRotation machine(10s, 8);
    machine.add(1, 30s);
    machine.install(at(0s), diagram({{{1, 4}}}));
    machine.add(2, 5s);
    machine.install(at(4s), diagram({{{1, 4}, {2, 4}}}));
    EXPECT_EQ(machine.next_end(), at(9s));
}

TEST(SliceRotation, EndsOfOneInstantComeInTheOrderOfAddition) {
    SliceRotation machine(10s, 8);
    for (std::uint32_t job : {5u, 3u, 4u}) machine.add(job, 7s);
    machine.install(at(0s), diagram({{{3, 2}, {4, 2}, {5, 2}}}));
    EXPECT_EQ(machine.pop_end(), 5u);
    EXPECT_EQ(machine.pop_end(), 3u);
    EXPECT_EQ(machine.pop_end(), 4u);
}

/// The same machine, one microsecond after the other.
class PlainMachine {
  public:
    explicit PlainMachine(std::int64_t slice) : slice_(slice) {}
    void add(int job, std::int64_t runtime) { left_[job] = runtime; }
    void install(std::shared_ptr<const TraceDiagram> next) {
        std::int32_t row = -1;
        bool same = false;
        for (std::int32_t step = 0; row_ >= 0 && step < now_->row_count() && row < 0; ++step) {
            for (const TraceDiagram::Entry& entry : now_->entries((row_ + step) % now_->row_count())) {
                if (const auto home = next->home_row(entry.job); home && row < 0) {
                    row = *home;
                    same = step == 0;
                }
            }
        }
        if (row < 0 && next->row_count() > 0) row = 0;
        if (!same) left_of_slice_ = slice_;
        row_ = row;
        now_ = std::move(next);
    }
    /// One microsecond of work; the jobs that ended by it.
    std::vector<int> step() {
        std::vector<int> ended;
        if (row_ < 0) return ended;
        for (const TraceDiagram::Entry& entry : now_->entries(row_)) {
            const auto job = left_.find(static_cast<int>(entry.job.value));
            if (job == left_.end() || --job->second > 0) continue;
            ended.push_back(job->first);
            left_.erase(job);
        }
        if (--left_of_slice_ == 0) {
            row_ = (row_ + 1) % now_->row_count();
            left_of_slice_ = slice_;
        }
        return ended;
    }

  private:
    std::int64_t slice_, left_of_slice_ = 0;
    std::int32_t row_ = -1;
    std::shared_ptr<const TraceDiagram> now_ = std::make_shared<TraceDiagram>(8);
    std::map<int, std::int64_t> left_;
};

TEST(SliceRotation, AgreesWithAMachineThatGoesMicrosecondByMicrosecond) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const std::int64_t slice = 1 + static_cast<std::int64_t>(rng.below(9));
        SliceRotation machine(Duration{slice}, 8);
        PlainMachine plain(slice);
        std::vector<std::vector<std::pair<int, int>>> rows;
        int next = 0;
        const auto install = [&](std::int64_t now) {
            std::erase_if(rows, [](const auto& row) { return row.empty(); });
            machine.install(at(Duration{now}), diagram(rows));
            plain.install(diagram(rows));
        };
        for (std::int64_t now = 0; now < 400; ++now) {
            if (rng.below(12) == 0) {
                const std::int64_t runtime = 1 + static_cast<std::int64_t>(rng.below(60));
                machine.add(static_cast<std::uint32_t>(next), Duration{runtime});
                plain.add(next, runtime);
                const std::size_t row = rng.below(rows.size() + 1);
                if (row == rows.size() || rows[row].size() == 4) {
                    rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(rng.below(rows.size() + 1)), {{next, 2}});
                } else {
                    rows[row].push_back({next, 2});
                }
                ++next;
                install(now);
            }
            std::vector<int> expected = plain.step();
            std::vector<int> ended;
            ASSERT_GT(machine.next_end(), at(Duration{now}));
            while (machine.next_end() == at(Duration{now + 1})) ended.push_back(static_cast<int>(machine.pop_end()));
            std::ranges::sort(expected);
            std::ranges::sort(ended);
            ASSERT_EQ(ended, expected) << "at " << now + 1;
            // Now and then the diagram stays as it is with an ended job in it.
            if (!ended.empty() && rng.below(3) != 0) {
                for (auto& row : rows)
                    std::erase_if(row, [&](const auto& job) { return std::ranges::binary_search(ended, job.first); });
                install(now + 1);
            }
        }
        EXPECT_GT(next, 5);
    }
}

}  // namespace
}  // namespace zbs

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/property/allocation/allocator_cases.hpp"

// What every allocator promises, whatever it decides.
namespace zbs {
namespace {

using test::AllocatorCase;
using test::random_request;

class AllocatorContract : public testing::TestWithParam<AllocatorCase> {};
INSTANTIATE_TEST_SUITE_P(, AllocatorContract, testing::ValuesIn(test::allocator_cases()),
                         [](const auto& tested) { return tested.param.label(); });

/// Jobs come and go at random; afterwards the machine is as good as new.
TEST_P(AllocatorContract, LosesNoNodeAndGivesNoneTwice) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const std::int32_t processors = std::int32_t{1} << (2 + rng.below(5));
        const std::unique_ptr<Allocator> machine = GetParam().make(processors);
        std::vector<JobId> running;
        std::set<NodeIndex> held;
        std::map<JobId, Placement> given;
        for (int step = 0; step < 300; ++step) {
            if (!running.empty() && rng.below(2) == 0) {
                const std::size_t index = rng.below(running.size());
                const JobId id = running[index];
                ASSERT_EQ(machine->placements().at(id), given.at(id)) << "a running job was moved";
                for (const auto* nodes : {&given[id].nodes, &given[id].idle})
                    for (const NodeIndex node : *nodes) held.erase(node);
                running.erase(running.begin() + static_cast<std::ptrdiff_t>(index));
                given.erase(id);
                ASSERT_TRUE(machine->release(id).has_value());
            } else {
                const JobId id{step};
                const AllocationRequest request = random_request(rng, processors, true);
                const bool accepted = machine->accepts(request).has_value();
                const Result<const Placement*> placed = machine->allocate(id, request);
                ASSERT_EQ(placed.has_value(), accepted);
                if (!placed) continue;
                if (*placed == nullptr) {
                    ASSERT_FALSE(running.empty()) << "an unused machine refuses what it accepts";
                    continue;
                }
                ASSERT_EQ(static_cast<std::int32_t>((*placed)->nodes.size()), request.processors);
                for (const auto* nodes : {&(*placed)->nodes, &(*placed)->idle}) {
                    for (const NodeIndex node : *nodes) {
                        ASSERT_TRUE(node >= 0 && node < processors);
                        ASSERT_TRUE(held.insert(node).second) << "node " << node << " belongs to two jobs";
                    }
                }
                running.push_back(id);
                given.emplace(id, **placed);
            }
            ASSERT_EQ(machine->free_processors(), processors - static_cast<std::int32_t>(held.size()));
            const std::vector<JobId> holders = machine->holders();
            for (NodeIndex node = 0; node < processors; ++node)
                ASSERT_EQ(holders[static_cast<std::size_t>(node)] != JobId{}, held.contains(node));
        }
        for (const JobId id : running) ASSERT_TRUE(machine->release(id).has_value());
        ASSERT_EQ(machine->free_processors(), processors);
        ASSERT_EQ(machine->holders(), std::vector<JobId>(static_cast<std::size_t>(processors)));
        // The whole machine again, and each kind of request that fits.
        ASSERT_NE(*machine->allocate(JobId{1}, {.processors = processors}), nullptr);
        ASSERT_TRUE(machine->release(JobId{1}).has_value());
        for (std::int32_t x = 1; x <= 8; ++x) {
            for (std::int32_t y = 1; y <= 8; ++y) {
                if (!machine->accepts(mesh_request({x, y}))) continue;
                ASSERT_NE(*machine->allocate(JobId{1}, mesh_request({x, y})), nullptr);
                ASSERT_TRUE(machine->release(JobId{1}).has_value());
            }
        }
    }
}

TEST_P(AllocatorContract, EqualCallsGiveEqualPlacements) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const std::unique_ptr<Allocator> first = GetParam().make(64), second = GetParam().make(64);
        std::unique_ptr<Allocator> copy;
        std::vector<JobId> running;
        for (int step = 0; step < 200; ++step) {
            if (step == 100) copy = first->clone();
            std::vector<Allocator*> machines{first.get(), second.get()};
            if (copy) machines.push_back(copy.get());
            if (!running.empty() && rng.below(3) == 0) {
                const std::size_t index = rng.below(running.size());
                for (Allocator* machine : machines) ASSERT_TRUE(machine->release(running[index]).has_value());
                running.erase(running.begin() + static_cast<std::ptrdiff_t>(index));
            } else {
                const AllocationRequest request = random_request(rng, 64, true);
                bool started = false;
                for (Allocator* machine : machines) {
                    const Result<const Placement*> placed = machine->allocate(JobId{step}, request);
                    started = placed && *placed != nullptr;
                }
                if (started) running.push_back(JobId{step});
            }
            for (Allocator* machine : machines) ASSERT_EQ(machine->placements(), first->placements());
        }
        EXPECT_EQ(first->unused()->free_processors(), 64);
    }
}

TEST_P(AllocatorContract, ServesEveryNumberOfProcessorsUpToTheMachines) {
    for (const std::int32_t processors : {1, 2, 32, 64}) {
        const std::unique_ptr<Allocator> machine = GetParam().make(processors);
        for (std::int32_t wanted = 1; wanted <= processors; ++wanted) {
            ASSERT_NE(*machine->allocate(JobId{0}, {.processors = wanted}), nullptr) << wanted << " of " << processors;
            ASSERT_TRUE(machine->release(JobId{0}).has_value());
        }
    }
}

}  // namespace
}  // namespace zbs

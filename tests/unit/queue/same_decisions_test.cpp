// Each policy decides in a zone's queue as it does in the simulator.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "algorithms/base/rng.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/queue/discipline.hpp"
#include "algorithms/queue/queue_log.hpp"
#include "algorithms/sim/workload_simulation.hpp"

namespace zbs {
namespace {

using namespace std::chrono_literals;

constexpr std::int32_t kMachine = 16;

/// A policy whose plans are kept.
class Recorded : public Policy {
  public:
    explicit Recorded(std::unique_ptr<Policy> policy) : policy_(std::move(policy)) {}
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override {
        policy_->plan(zone, plan);
        plans.emplace_back(zone.now, plan);
    }
    ZoneState::Sharing sharing() const override { return policy_->sharing(); }
    Needs needs() const override { return policy_->needs(); }
    Result<void> serves(std::int32_t processors) const override { return policy_->serves(processors); }
    std::vector<std::pair<Time, Plan>> plans;

  private:
    std::unique_ptr<Policy> policy_;
};

/// `all_as_wide`: the processors of each; 0: these differ.
Workload random_workload(std::uint64_t seed, std::int32_t all_as_wide = 0) {
    Rng rng(seed);
    Workload workload{.name = "random", .processors = kMachine, .jobs = {}};
    Time at{};
    for (std::int64_t n = 0; n < 60; ++n) {
        if (rng.below(4) > 0) at += 1s * static_cast<std::int64_t>(rng.below(40));
        WorkloadJob entry;
        entry.job = {.id = JobId{n},
                     .submit = at,
                     .walltime = 1s * static_cast<std::int64_t>(1 + rng.below(rng.below(3) == 0 ? 600 : 60)),
                     .processors = static_cast<std::int32_t>(1 + rng.below(rng.below(4) == 0 ? kMachine : 6)),
                     .priority = static_cast<std::int32_t>(rng.below(3)),
                     .least_share = static_cast<std::int8_t>(rng.below(2) * (20 + rng.below(30)))};
        entry.runtime =
            Duration{1 + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(entry.job.walltime.count())))};
        if (all_as_wide > 0) entry.job.processors = all_as_wide;
        workload.jobs.push_back(entry);
    }
    return workload;
}

PartId part_of(std::size_t job) {
    Id128 id{};
    id.bytes.back() = static_cast<unsigned char>(job);
    return PartId{id};
}

/// The queue of a zone whose parts come and end when the jobs of a simulation did.
class LiveZone {
  public:
    LiveZone(const Workload& workload, const SimulationOutcome& outcome, Discipline discipline, const std::string& text)
        : workload_(workload),
          outcome_(outcome),
          queue_(static_cast<std::size_t>(kMachine * discipline.rows), discipline.make,
                 static_cast<std::size_t>(discipline.rows)) {
        queue_.observe([this](const QueueEvent& event) { log.push_back(event); });
        queue_.use_policy(std::move(discipline.make), text);
    }

    QueueDecision decide(Time time) {
        const Duration now = time.time_since_epoch();
        for (std::size_t i = 0; i < outcome_.end.size(); ++i)
            if (outcome_.end[i] == time) queue_.withdraw_promise(part_of(i), now);
        for (; next_ < workload_.jobs.size() && workload_.jobs[next_].job.submit <= time; ++next_) {
            const Job& job = workload_.jobs[next_].job;
            queue_.add({.id = part_of(next_),
                        .party = "org-a",
                        .since = job.submit.time_since_epoch(),
                        .processors = job.processors,
                        .length = job.walltime,
                        .priority = job.priority,
                        .share = job.least_share});
        }
        const QueueDecision decision = queue_.decide(now);
        for (std::size_t i = 0; i < decision.starts.size(); ++i) start(decision, i, now);
        return decision;
    }
    const ZoneQueue& queue() const { return queue_; }
    std::vector<QueueEvent> log;

  private:
    void start(const QueueDecision& decision, std::size_t i, Duration now) {
        const PartId& id = decision.starts[i];
        const Job& job = workload_.jobs[id.value.bytes.back()].job;
        const ProcessorCalendar::Interval when{now, now + job.walltime};
        const std::vector<bool> busy = queue_.calendar().busy(when);
        std::vector<std::int32_t> own = decision.places.empty() ? std::vector<std::int32_t>{} : decision.places[i];
        for (std::int32_t row = 0; own.empty() && std::cmp_less(row, queue_.rows()); ++row) {
            for (std::int32_t p = row * kMachine; p < (row + 1) * kMachine && std::ssize(own) < job.processors; ++p)
                if (!busy[static_cast<std::size_t>(p)]) own.push_back(p);
            if (std::ssize(own) < job.processors) own.clear();
        }
        ASSERT_EQ(std::ssize(own), job.processors) << "a start without processors";
        std::set<std::int32_t> columns;
        for (const std::int32_t p : own) {
            EXPECT_FALSE(busy[static_cast<std::size_t>(p)]);
            columns.insert(p % kMachine);
        }
        EXPECT_EQ(std::ssize(columns), job.processors) << "a processor twice";
        queue_.remove(id);
        queue_.promise(id, "org-a", {std::move(own), when, when.end}, now);
    }

    const Workload& workload_;
    const SimulationOutcome& outcome_;
    ZoneQueue queue_;
    std::size_t next_ = 0;
};

/// How the jobs of a simulation share processors, after each of its plans.
class SimulatedTurns {
  public:
    /// New starts of the plan, and what goes on and stops.
    std::vector<PartId> take(const Plan& plan) {
        for (const JobId job : plan.preemptions) stopped_.insert(job);
        std::vector<PartId> starts;
        for (const JobId job : plan.starts)
            if (stopped_.erase(job) == 0) starts.push_back(part_of(static_cast<std::size_t>(job.value)));
        if (plan.diagram) diagram_ = plan.diagram;
        if (!plan.shares.empty()) shares_ = plan.shares;
        return starts;
    }
    Turns now(const SimulationOutcome& outcome, Time time) const {
        const auto ended = [&](JobId job) { return outcome.end[static_cast<std::size_t>(job.value)] <= time; };
        Turns turns;
        for (const JobId job : stopped_) turns.stopped.push_back(part_of(static_cast<std::size_t>(job.value)));
        for (std::int32_t row = 0; diagram_ && row < diagram_->row_count(); ++row) {
            std::vector<PartId> parts;
            for (const TraceDiagram::Entry& entry : diagram_->entries(row))
                if (!ended(entry.job)) parts.push_back(part_of(static_cast<std::size_t>(entry.job.value)));
            if (!parts.empty()) turns.rows.push_back(std::move(parts));
        }
        for (const ShareOfProcessors& share : shares_)
            if (!ended(share.id))
                turns.shares.emplace(part_of(static_cast<std::size_t>(share.id.value)), share.percent);
        return turns;
    }

  private:
    std::set<JobId> stopped_;
    std::shared_ptr<const TraceDiagram> diagram_;
    std::vector<ShareOfProcessors> shares_;
};

class EveryPolicyOfTheSimulator : public testing::TestWithParam<std::string> {};
std::vector<std::string> every_policy() {
    std::vector<std::string> texts;
    for (const PolicyInfo& info : policies()) texts.emplace_back(info.name);
    for (const char* text :
         {"gang:packing=best-fit", "gang:packing=memory-fit:slices=3", "gang:packing=buddy", "gang:fill=false:slices=2",
          "gang:compact=false", "gang:overtaking=true:choice=lowest", "scojo:expand=all:level=4", "scojo:age=20s",
          "elmer:threshold=1", "elmer:threshold=1:degree=4", "elmer:rule=x:threshold=1:degree=3",
          "elmer:rule=v1:degree=3", "elmer:rule=v2:threshold=1", "adaptive-scojo:strategy=pri-b-wa-fa",
          "adaptive-scojo:strategy=fcfs-b", "adaptive-scojo:level=4:slice=1s:age=30s",
          "lazy-gang:patience=1s,5s,20s:debug=10s", "easy:order=slowdown", "backfill:depth=4"})
        texts.emplace_back(text);
    return texts;
}
INSTANTIATE_TEST_SUITE_P(, EveryPolicyOfTheSimulator, testing::ValuesIn(every_policy()), [](const auto& tested) {
    std::string name = tested.param;
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
});

TEST_P(EveryPolicyOfTheSimulator, DecidesTheSameInAZonesQueue) {
    const Result<Discipline> discipline = queue_discipline(GetParam(), kMachine);
    ASSERT_TRUE(discipline) << discipline.error();
    std::size_t shared = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE(seed);
        // What was stopped goes on on its own processors, and in a simulation on any: the same where it has all.
        const Workload workload = random_workload(seed, discipline->stops ? kMachine : 0);
        Recorded policy(discipline->make());
        const Result<SimulationOutcome> outcome = simulate(workload, policy, {});
        ASSERT_TRUE(outcome) << outcome.error();
        LiveZone zone(workload, *outcome, *discipline, GetParam());
        SimulatedTurns simulated;
        for (const auto& [time, plan] : policy.plans) {
            const QueueDecision decision = zone.decide(time);
            ASSERT_EQ(decision.starts, simulated.take(plan)) << "at " << to_seconds(time.time_since_epoch()) << " s";
            Turns turns = decision.turns;
            turns.slice = {};
            ASSERT_EQ(turns, simulated.now(*outcome, time)) << "at " << to_seconds(time.time_since_epoch()) << " s";
            shared += (turns.rows.size() > 1 || turns.shares.size() > 1 || !turns.stopped.empty()) ? 1 : 0;
        }
        EXPECT_EQ(zone.queue().size(), 0U);
        const Result<QueueReplay> replayed = replay(zone.log);
        ASSERT_TRUE(replayed) << replayed.error();
        EXPECT_FALSE(replayed->first_difference) << replayed->first_difference->event;
        EXPECT_EQ(replayed->decisions, policy.plans.size());
    }
    if (discipline->needs_agents() && GetParam() != "elmer") {
        EXPECT_GT(shared, 20U) << "little was shared";
    }
}

}  // namespace
}  // namespace zbs

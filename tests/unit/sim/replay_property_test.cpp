#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "algorithms/base/rng.hpp"
#include "algorithms/formats/trace_log.hpp"
#include "algorithms/sim/replay.hpp"
#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

/// A program that cannot deadlock: messages are received in the order in which they were drawn, or posted.
Trace random_program(std::uint64_t seed, bool any_source) {
    Rng rng(seed);
    const auto ranks = static_cast<std::int32_t>(2 + rng.below(9));
    TraceBuilder t(ranks);
    std::vector<std::vector<std::uint32_t>> open(static_cast<std::size_t>(ranks));
    for (std::uint64_t i = 0, n = rng.below(200); i < n; ++i) {
        const auto from = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(ranks)));
        const auto to = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(ranks)));
        const auto tag = static_cast<std::int64_t>(rng.below(3));
        t.compute(from, rng.uniform());
        t.send(from, to, static_cast<double>(rng.below(1000)), tag);
        t.compute(to, rng.uniform());
        if (rng.below(3) == 0) {
            open[static_cast<std::size_t>(to)].push_back(t.post(to, from, tag));
        } else if (any_source) {
            // A tag of its own: a receive from any with it can take nothing else.
            t.send(from, to, 1, 1000 + static_cast<std::int64_t>(i));
            t.receive(to, from, tag);
            t.receive(to, TraceChannel::kAny, 1000 + static_cast<std::int64_t>(i));
        } else {
            t.receive(to, from, tag);
        }
    }
    for (std::int32_t r = 0; r < ranks; ++r) {
        rng.shuffle(open[static_cast<std::size_t>(r)]);
        for (const std::uint32_t post : open[static_cast<std::size_t>(r)]) t.wait(r, post);
    }
    return std::move(t).finish();
}

Mapping random_mapping(const Trace& trace, const ResourceGraph& resources, std::uint64_t seed) {
    Rng rng(seed + 99);
    Mapping mapping;
    for (std::int32_t r = 0; r < trace.rank_count(); ++r)
        mapping.processor_of.push_back(
            static_cast<ProcessorIndex>(rng.below(static_cast<std::uint64_t>(resources.processor_count()))));
    return mapping;
}

/// The definition, executed naively: all events in rounds until nothing changes, without any cleverness. No kAny.
double naive_run_time(const Trace& trace, const ResourceGraph& resources, const Mapping& mapping) {
    std::map<std::int32_t, int> tasks_on;
    for (const ProcessorIndex p : mapping.processor_of) ++tasks_on[p];
    std::map<std::uint32_t, std::vector<double>> arrivals;
    std::map<std::uint32_t, std::size_t> taken;
    std::vector<double> now(trace.ranks.size(), 0);
    std::vector<std::size_t> next(trace.ranks.size(), 0);
    std::vector<std::vector<std::pair<std::uint32_t, std::size_t>>> posts(trace.ranks.size());
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
            if (next[r] == trace.ranks[r].size()) continue;
            const TraceEvent& event = trace.ranks[r][next[r]];
            const ProcessorIndex p = mapping.processor_of[r];
            if (event.kind == TraceEvent::Kind::kCompute) {
                now[r] += event.amount * (tasks_on[p] / resources.speed(p));
            } else if (event.kind == TraceEvent::Kind::kSend) {
                const ProcessorIndex q =
                    mapping.processor_of[static_cast<std::size_t>(trace.channels[event.channel].to)];
                double arrival = now[r];
                if (p != q) {
                    const Link& link = resources.link(p, q);
                    arrival = now[r] + link.delay_s + event.amount * (1 / link.bandwidth_Bps);
                }
                auto& list = arrivals[event.channel];
                list.push_back(list.empty() ? arrival : std::max(arrival, list.back()));
            } else if (event.kind == TraceEvent::Kind::kPost) {
                posts[r].emplace_back(event.channel, taken[event.channel]++);
            } else {
                const bool wait = event.kind == TraceEvent::Kind::kWait;
                const std::uint32_t channel = wait ? posts[r][event.channel].first : event.channel;
                const std::size_t ticket = wait ? posts[r][event.channel].second : taken[channel];
                if (arrivals[channel].size() <= ticket) continue;
                if (!wait) ++taken[channel];
                now[r] = std::max(now[r], arrivals[channel][ticket]);
            }
            ++next[r];
            moved = true;
        }
    }
    return *std::ranges::max_element(now);
}

/// A program in which receives from any compete for messages of several senders.
Trace random_any_program(std::uint64_t seed) {
    Rng rng(seed);
    const auto ranks = static_cast<std::int32_t>(3 + rng.below(6));
    TraceBuilder t(ranks);
    for (std::uint64_t i = 0, n = rng.below(150); i < n; ++i) {
        const auto from = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(ranks)));
        const auto to = static_cast<std::int32_t>(
            (from + 1 + static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(ranks) - 1))) % ranks);
        const bool any = rng.below(2) == 0;
        t.compute(from, rng.uniform());
        t.send(from, to, 1000 * rng.uniform(), any ? 1 : 0);
        t.compute(to, rng.uniform());
        t.receive(to, any ? TraceChannel::kAny : from, any ? 1 : 0);
    }
    return std::move(t).finish();
}

/// One event after the other in the order of time, over all ranks: the only order in which "first to arrive" is plain.
std::vector<double> ends_in_time_order(const Trace& trace, const ResourceGraph& resources, const Mapping& mapping) {
    constexpr double kNever = 1e300;
    std::map<std::uint32_t, std::vector<double>> waiting;  // arrivals not yet received, by channel
    std::map<std::uint32_t, double> last;
    std::vector<double> now(trace.ranks.size(), 0);
    std::vector<std::size_t> next(trace.ranks.size(), 0);
    for (;;) {
        std::size_t first_rank = 0;
        double first_end = kNever;
        std::uint32_t first_channel = 0;
        for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
            if (next[r] == trace.ranks[r].size()) continue;
            const TraceEvent& event = trace.ranks[r][next[r]];
            double end = now[r];
            std::uint32_t taken = event.channel;
            if (event.kind == TraceEvent::Kind::kCompute)
                end += event.amount / resources.speed(mapping.processor_of[r]);
            if (event.kind == TraceEvent::Kind::kReceive) {
                double arrival = kNever;
                for (const auto& [channel, arrivals] : waiting) {
                    const TraceChannel &want = trace.channels[event.channel], &have = trace.channels[channel];
                    const bool fits = have.to == static_cast<std::int32_t>(r) && have.tag == want.tag &&
                                      (want.from == TraceChannel::kAny || want.from == have.from);
                    if (fits && !arrivals.empty() && arrivals.front() < arrival) {
                        arrival = arrivals.front();
                        taken = channel;
                    }
                }
                end = std::max(end, arrival);
            }
            if (end < first_end) {
                first_end = end;
                first_rank = r;
                first_channel = taken;
            }
        }
        if (first_end == kNever) return now;
        const TraceEvent& event = trace.ranks[first_rank][next[first_rank]++];
        now[first_rank] = first_end;
        if (event.kind == TraceEvent::Kind::kReceive) waiting[first_channel].erase(waiting[first_channel].begin());
        if (event.kind != TraceEvent::Kind::kSend) continue;
        const Link& link =
            resources.link(mapping.processor_of[first_rank],
                           mapping.processor_of[static_cast<std::size_t>(trace.channels[event.channel].to)]);
        const double arrival =
            std::max(last[event.channel], first_end + link.delay_s + event.amount * (1 / link.bandwidth_Bps));
        last[event.channel] = arrival;
        waiting[event.channel].push_back(arrival);
    }
}

class ReplayProperty : public testing::Test {
  protected:
    static constexpr std::uint64_t kSeeds = 400;
};

TEST_F(ReplayProperty, EqualsTheDefinitionExecutedNaively) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const Trace trace = random_program(seed, false);
        const ResourceGraph resources = test::random_resources(1 + static_cast<int>(seed % 4), seed);
        const Mapping mapping = random_mapping(trace, resources, seed);
        EXPECT_EQ(replay(trace, resources, mapping)->run_time_s, naive_run_time(trace, resources, mapping));
    }
}

TEST_F(ReplayProperty, NeverShorterThanComputeOrThanWithFreeMessages) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const Trace trace = random_program(seed, true);
        const ResourceGraph resources = test::random_resources(1 + static_cast<int>(seed % 4), seed);
        const Mapping mapping = random_mapping(trace, resources, seed);
        const ReplayReport report = replay(trace, resources, mapping).value();
        for (const RankTimes& rank : report.ranks) {
            EXPECT_GE(report.run_time_s, rank.compute_s);
            EXPECT_NEAR(rank.compute_s + rank.blocked_s, rank.end_s, 1e-9 * (1 + rank.end_s));
        }
        // The critical path when messages cost nothing: the same machines with ideal links.
        std::vector<Zone> zones(resources.zones().begin(), resources.zones().end());
        for (Zone& zone : zones) zone.within_machine = zone.within_zone = {0, 1e300};
        std::vector<ResourceGraph::ZoneLink> links;
        for (std::int32_t a = 0; a < resources.zone_count(); ++a) {
            for (std::int32_t b = a + 1; b < resources.zone_count(); ++b) links.push_back({a, b, {0, 1e300}});
        }
        const ResourceGraph ideal = ResourceGraph::make(zones, links).value();
        EXPECT_GE(report.run_time_s * (1 + 1e-12), replay(trace, ideal, mapping)->run_time_s);
        EXPECT_EQ(report.unreceived_messages, 0);
    }
}

TEST_F(ReplayProperty, LongerDelayNeverShortensTheRun) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const Trace trace = random_program(seed, false);
        double before = 0;
        for (const double delay : {0.0, 1e-3, 0.1, 1.0, 30.0}) {
            const ResourceGraph resources = test::flat_zones({3, 2, 4}, {delay, 1e4}, {1e-3, 1e5});
            const double now = replay(trace, resources, random_mapping(trace, resources, seed))->run_time_s;
            EXPECT_GE(now, before) << delay;
            before = now;
        }
    }
}

TEST_F(ReplayProperty, ProcessorsOfOneKindAreInterchangeable) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const Trace trace = random_program(seed, true);
        const ResourceGraph resources = test::flat_zones({3, 2, 4}, {0.5, 1e4}, {1e-3, 1e5});
        const Mapping mapping = random_mapping(trace, resources, seed);
        // Machines of a zone among themselves: {0,1,2}, {3,4}, {5..8}.
        const std::vector<ProcessorIndex> swapped = {2, 0, 1, 4, 3, 8, 7, 5, 6};
        Mapping other;
        for (const ProcessorIndex p : mapping.processor_of)
            other.processor_of.push_back(swapped[static_cast<std::size_t>(p)]);
        EXPECT_EQ(replay(trace, resources, mapping).value(), replay(trace, resources, other).value());
    }
}

TEST_F(ReplayProperty, AnyEqualsTheNamedSourceWhereOnlyOneCanSend) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const Trace trace = random_program(seed, true);
        // The same with every receive from any naming the one rank that sends this tag.
        std::map<std::int64_t, std::int32_t> sender;
        for (const TraceChannel& channel : trace.channels) {
            if (channel.from != TraceChannel::kAny) sender[channel.tag] = channel.from;
        }
        TraceBuilder named(trace.rank_count());
        for (std::int32_t r = 0; r < trace.rank_count(); ++r) {
            for (const TraceEvent& event : trace.ranks[static_cast<std::size_t>(r)]) {
                if (event.kind == TraceEvent::Kind::kCompute) named.compute(r, event.amount);
                if (event.kind == TraceEvent::Kind::kWait) named.wait(r, event.channel);
                if (event.kind == TraceEvent::Kind::kCompute || event.kind == TraceEvent::Kind::kWait) continue;
                const TraceChannel& c = trace.channels[event.channel];
                if (event.kind == TraceEvent::Kind::kSend) named.send(r, c.to, event.amount, c.tag);
                if (event.kind == TraceEvent::Kind::kPost) named.post(r, c.from, c.tag);
                if (event.kind == TraceEvent::Kind::kReceive)
                    named.receive(r, c.from == TraceChannel::kAny ? sender.at(c.tag) : c.from, c.tag);
            }
        }
        const ResourceGraph resources = test::random_resources(3, seed);
        const Mapping mapping = random_mapping(trace, resources, seed);
        EXPECT_EQ(replay(trace, resources, mapping)->ranks,
                  replay(std::move(named).finish(), resources, mapping)->ranks);
    }
}

TEST_F(ReplayProperty, FirstToArriveIsTheFirstInTime) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const Trace trace = random_any_program(seed);
        const ResourceGraph resources = test::flat_zones({3, 3, 3}, {0.7, 900}, {0.1, 5000});
        std::vector<TaskIndex> processors = test::random_permutation(9, seed);
        processors.resize(trace.ranks.size());
        const Mapping mapping{{processors.begin(), processors.end()}};
        const ReplayReport report = replay(trace, resources, mapping).value();
        const std::vector<double> ends = ends_in_time_order(trace, resources, mapping);
        for (std::size_t r = 0; r < ends.size(); ++r) EXPECT_EQ(report.ranks[r].end_s, ends[r]) << "rank " << r;
    }
}

TEST_F(ReplayProperty, TextFormKeepsTheTrace) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const Trace trace = random_program(seed, seed % 2 == 0);
        const Trace again = formats::read_trace(formats::write_trace(trace), "t").value();
        EXPECT_EQ(formats::write_trace(again), formats::write_trace(trace));
        const ResourceGraph resources = test::random_resources(2, seed);
        const Mapping mapping = random_mapping(trace, resources, seed);
        EXPECT_EQ(replay(trace, resources, mapping)->ranks, replay(again, resources, mapping)->ranks);
    }
}

}  // namespace
}  // namespace zbs

#include "algorithms/model/trace.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/base/expects.hpp"

namespace zbs {

std::size_t Trace::event_count() const {
    std::size_t events = 0;
    for (const auto& rank : ranks) events += rank.size();
    return events;
}

std::size_t TraceBuilder::ChannelHash::operator()(const TraceChannel& channel) const noexcept {
    std::uint64_t h = static_cast<std::uint64_t>(channel.tag) * 0x9e3779b97f4a7c15ULL;
    h ^= (static_cast<std::uint64_t>(static_cast<std::uint32_t>(channel.from)) << 32 |
          static_cast<std::uint32_t>(channel.to));
    h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9ULL;
    return static_cast<std::size_t>(h ^ (h >> 32));
}

TraceBuilder::TraceBuilder(std::int32_t ranks) {
    ZBS_EXPECTS(ranks >= 1 && ranks <= Trace::kMaxRanks);
    trace_.ranks.resize(static_cast<std::size_t>(ranks));
    posts_.assign(static_cast<std::size_t>(ranks), 0);
}

std::uint32_t TraceBuilder::intern(const TraceChannel& channel) {
    ZBS_EXPECTS(channel.from >= TraceChannel::kAny && channel.from < rank_count() && channel.to >= 0 &&
                channel.to < rank_count());
    ZBS_EXPECTS(channel.tag >= TraceChannel::kAny && channel.tag <= Trace::kMaxTag);
    for (const std::uint32_t recent : last_) {
        if (recent < trace_.channels.size() && trace_.channels[recent] == channel) return recent;
    }
    const auto [at, added] = number_of_.try_emplace(channel, static_cast<std::uint32_t>(trace_.channels.size()));
    if (added) trace_.channels.push_back(channel);
    std::copy_backward(last_, last_ + 3, last_ + 4);
    last_[0] = at->second;
    return at->second;
}

void TraceBuilder::add(std::int32_t rank, TraceEvent::Kind kind, std::uint32_t channel, double amount) {
    ZBS_EXPECTS(rank >= 0 && rank < rank_count() && std::isfinite(amount) && amount >= 0);
    trace_.ranks[static_cast<std::size_t>(rank)].push_back({amount, channel, kind});
}

void TraceBuilder::compute(std::int32_t rank, double seconds) { add(rank, TraceEvent::Kind::kCompute, 0, seconds); }

void TraceBuilder::send(std::int32_t rank, std::int32_t to, double bytes, std::int64_t tag) {
    ZBS_EXPECTS(rank >= 0 && to >= 0 && tag >= 0);
    add(rank, TraceEvent::Kind::kSend, intern({rank, to, tag}), bytes);
}

void TraceBuilder::receive(std::int32_t rank, std::int32_t from, std::int64_t tag) {
    add(rank, TraceEvent::Kind::kReceive, intern({from, rank, tag}), 0);
}

std::uint32_t TraceBuilder::post(std::int32_t rank, std::int32_t from, std::int64_t tag) {
    ZBS_EXPECTS(from >= 0 && tag >= 0);
    add(rank, TraceEvent::Kind::kPost, intern({from, rank, tag}), 0);
    return posts_[static_cast<std::size_t>(rank)]++;
}

void TraceBuilder::wait(std::int32_t rank, std::uint32_t post) {
    ZBS_EXPECTS(rank >= 0 && rank < rank_count() && post < posts_of(rank));
    add(rank, TraceEvent::Kind::kWait, post, 0);
}

bool TraceBuilder::add_unseen(std::string_view function, std::uint64_t calls) {
    if (!zbs::add_unseen(trace_.unseen, function, calls)) return false;
    trace_.complete = false;
    return true;
}

Trace TraceBuilder::finish() && { return std::move(trace_); }

TaskGraph task_graph_of(const Trace& trace) {
    ZBS_EXPECTS(!trace.ranks.empty());
    std::vector<double> bytes(trace.channels.size(), 0), messages(trace.channels.size(), 0);
    std::vector<double> compute;
    for (const auto& events : trace.ranks) {
        double seconds = 0, blocks = 0;
        for (const TraceEvent& event : events) {
            if (event.kind == TraceEvent::Kind::kCompute) {
                seconds += event.amount;
                blocks += 1;
            } else if (event.kind == TraceEvent::Kind::kSend) {
                bytes[event.channel] += event.amount;
                messages[event.channel] += 1;
            }
        }
        compute.push_back(blocks > 0 ? seconds / blocks : 0);
    }
    std::vector<TaskEdge> sent;
    for (std::size_t c = 0; c < trace.channels.size(); ++c) {
        const auto& [from, to, tag] = trace.channels[c];
        if (messages[c] > 0 && from != to)
            sent.push_back({std::min(from, to), std::max(from, to), bytes[c], messages[c]});
    }
    std::ranges::sort(sent, {}, [](const TaskEdge& edge) { return std::pair(edge.u, edge.v); });
    std::vector<TaskEdge> edges;
    for (const TaskEdge& edge : sent) {
        if (!edges.empty() && edges.back().u == edge.u && edges.back().v == edge.v) {
            edges.back().bytes += edge.bytes;
            edges.back().messages += edge.messages;
        } else {
            edges.push_back(edge);
        }
    }
    Result<TaskGraph> graph = TaskGraph::make(std::move(compute), std::move(edges));
    ZBS_EXPECTS(graph.has_value());
    return *std::move(graph);
}

}  // namespace zbs

#include "algorithms/sim/replay.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

constexpr std::uint32_t kNoTicket = 0xffffffffU;

/// Messages of a channel are numbered as they are sent; a receive holds the ticket of the one it is to get.
struct Channel {
    double delay_s = 0;
    double seconds_per_byte = 0;
    double last_arrival_s = 0;
    double bytes = 0;
    std::size_t first_arrival = 0;  // of its messages in `arrivals`
    std::uint32_t sent = 0;
    std::uint32_t next_ticket = 0;
    std::uint32_t awaited = kNoTicket;  // the receiver is blocked on this ticket
    std::int32_t to = 0;
    std::int32_t any = -1;  // first entry in `covering`, -1 where no receive names this channel by kAny
};

/// Messages that one receive-from-any may take, the first to arrive on top.
struct Candidate {
    double arrival_s;
    std::uint32_t channel;
    std::uint32_t ticket;
    bool operator>(const Candidate& other) const {
        return std::tie(arrival_s, channel, ticket) > std::tie(other.arrival_s, other.channel, other.ticket);
    }
};
using Candidates = std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>>;

/// A rank parked at a receive-from-any that could go on at this time.
struct Match {
    double at_s;
    std::int32_t rank;
    std::uint32_t parking;
    bool operator>(const Match& other) const { return std::tie(at_s, rank) > std::tie(other.at_s, other.rank); }
};

struct Post {
    std::uint32_t channel;
    std::uint32_t ticket;
};

struct Rank {
    double now_s = 0;
    double compute_s = 0;
    double blocked_s = 0;
    double stretch = 1;  // tasks on its processor / speed
    std::size_t next = 0;
    std::vector<Post> posts;
    std::int64_t parked_at = -1;  // channel of the receive-from-any it waits in
    std::uint32_t parking = 0;
};

class Replay {
  public:
    Replay(const Trace& trace, const ResourceGraph& resources, const Mapping& mapping, ReplayObserver* observer)
        : trace_(trace), resources_(resources), mapping_(mapping), observer_(observer) {}

    Result<ReplayReport> run() {
        if (auto ok = prepare(); !ok) return ok.error();
        ready_.resize(ranks_.size());
        for (std::int32_t r = 0; r < trace_.rank_count(); ++r) ready_[static_cast<std::size_t>(r)] = r;
        if (observer_ != nullptr)
            run_all<true>();
        else
            run_all<false>();
        return finish();
    }

  private:
    Result<void> prepare();
    Result<void> check_event(const TraceEvent& event, std::int32_t rank, std::uint32_t posts) const;
    void cover_any_channels();

    template <bool kObserved>
    void run_all() {
        for (;;) {
            // The order of runnable ranks has no influence on times; the last woken finds its message in the cache.
            while (!ready_.empty()) {
                const std::int32_t rank = ready_.back();
                ready_.pop_back();
                advance<kObserved>(rank);
            }
            if (!take_first_match<kObserved>()) return;
        }
    }

    template <bool kObserved>
    void advance(std::int32_t number);
    template <bool kObserved>
    bool take_first_match();
    template <bool kObserved>
    bool receive(std::int32_t number, Rank& rank, std::uint32_t channel, std::uint32_t ticket);
    void send(double now_s, std::uint32_t number, double bytes);
    const Candidate* first_candidate(std::int64_t any_channel);

    Result<ReplayReport> finish();
    Error deadlock() const;
    std::string waiting(std::int32_t rank, std::int32_t& for_whom) const;

    const Trace& trace_;
    const ResourceGraph& resources_;
    const Mapping& mapping_;
    ReplayObserver* observer_;
    std::vector<Rank> ranks_;
    std::vector<Channel> channels_;
    std::vector<double> arrivals_;
    std::vector<std::int32_t> ready_;
    std::vector<std::int32_t> covering_;       // lists of any-channels, each ended by -1
    std::vector<std::int32_t> candidates_of_;  // by channel: index into candidates_, -1 for a channel without kAny
    std::vector<Candidates> candidates_;
    std::priority_queue<Match, std::vector<Match>, std::greater<>> matches_;
};

bool is_any(const TraceChannel& channel) {
    return channel.from == TraceChannel::kAny || channel.tag == TraceChannel::kAny;
}

Result<void> Replay::check_event(const TraceEvent& event, std::int32_t rank, std::uint32_t posts) const {
    if (!(event.amount >= 0) || !std::isfinite(event.amount)) return invalid("an amount is negative or not finite");
    if (event.kind == TraceEvent::Kind::kCompute) return {};
    if (event.kind == TraceEvent::Kind::kWait) {
        if (event.channel >= posts) return invalid("a wait for a receive that has not been posted");
        return {};
    }
    if (event.channel >= trace_.channels.size()) return invalid("a channel that the trace does not have");
    const TraceChannel& channel = trace_.channels[event.channel];
    if (event.kind == TraceEvent::Kind::kSend) {
        if (is_any(channel) || channel.from != rank) return invalid("a send over another rank's channel");
    } else if (channel.to != rank || (event.kind == TraceEvent::Kind::kPost && is_any(channel))) {
        return invalid("a receive over a channel that does not end here");
    }
    return {};
}

Result<void> Replay::prepare() {
    const std::int32_t count = trace_.rank_count();
    if (count == 0) return invalid("the trace has no ranks");
    if (mapping_.processor_of.size() != trace_.ranks.size()) {
        return invalid("the mapping places " + std::to_string(mapping_.processor_of.size()) +
                       " tasks, but the trace has " + std::to_string(count) + " ranks");
    }
    std::vector<std::int32_t> tasks_on(static_cast<std::size_t>(resources_.processor_count()), 0);
    for (const ProcessorIndex p : mapping_.processor_of) {
        if (p < 0 || p >= resources_.processor_count())
            return invalid("the mapping names processor " + std::to_string(p) + ", but there are only " +
                           std::to_string(resources_.processor_count()));
        ++tasks_on[static_cast<std::size_t>(p)];
    }
    channels_.resize(trace_.channels.size());
    for (std::size_t c = 0; c < channels_.size(); ++c) {
        const TraceChannel& from = trace_.channels[c];
        if (from.from < TraceChannel::kAny || from.from >= count || from.to < 0 || from.to >= count)
            return invalid("a channel names a rank that the trace does not have");
        channels_[c].to = from.to;
        if (from.from == TraceChannel::kAny) continue;
        const ProcessorIndex p = mapping_.processor_of[static_cast<std::size_t>(from.from)];
        const ProcessorIndex q = mapping_.processor_of[static_cast<std::size_t>(from.to)];
        if (p == q) continue;
        const Link& link = resources_.link(p, q);
        channels_[c].delay_s = link.delay_s;
        channels_[c].seconds_per_byte = 1 / link.bandwidth_Bps;
    }
    ranks_.resize(trace_.ranks.size());
    for (std::int32_t r = 0; r < count; ++r) {
        Rank& rank = ranks_[static_cast<std::size_t>(r)];
        const ProcessorIndex p = mapping_.processor_of[static_cast<std::size_t>(r)];
        rank.stretch = tasks_on[static_cast<std::size_t>(p)] / resources_.speed(p);
        std::uint32_t posts = 0;
        for (const TraceEvent& event : trace_.ranks[static_cast<std::size_t>(r)]) {
            if (auto ok = check_event(event, r, posts); !ok) {
                const auto at = &event - trace_.ranks[static_cast<std::size_t>(r)].data();
                return invalid("event " + std::to_string(at) + " of rank " + std::to_string(r) + ": " +
                               ok.error().message);
            }
            if (event.kind == TraceEvent::Kind::kPost) ++posts;
            if (event.kind == TraceEvent::Kind::kSend) ++channels_[event.channel].sent;
        }
        rank.posts.reserve(posts);
    }
    std::size_t messages = 0;
    for (Channel& channel : channels_) {
        channel.first_arrival = messages;
        messages += channel.sent;
        channel.sent = 0;
    }
    arrivals_.resize(messages);
    cover_any_channels();
    return {};
}

void Replay::cover_any_channels() {
    candidates_of_.assign(channels_.size(), -1);
    std::vector<std::vector<std::int32_t>> any_of_rank;  // made only where there is one
    for (std::size_t c = 0; c < channels_.size(); ++c) {
        if (!is_any(trace_.channels[c])) continue;
        any_of_rank.resize(ranks_.size());
        candidates_of_[c] = static_cast<std::int32_t>(candidates_.size());
        candidates_.emplace_back();
        any_of_rank[static_cast<std::size_t>(channels_[c].to)].push_back(static_cast<std::int32_t>(c));
    }
    if (any_of_rank.empty()) return;
    for (std::size_t c = 0; c < channels_.size(); ++c) {
        if (candidates_of_[c] >= 0) continue;
        const TraceChannel& channel = trace_.channels[c];
        for (const std::int32_t a : any_of_rank[static_cast<std::size_t>(channel.to)]) {
            const TraceChannel& any = trace_.channels[static_cast<std::size_t>(a)];
            if ((any.from != TraceChannel::kAny && any.from != channel.from) ||
                (any.tag != TraceChannel::kAny && any.tag != channel.tag))
                continue;
            if (channels_[c].any < 0) channels_[c].any = static_cast<std::int32_t>(covering_.size());
            covering_.push_back(a);
        }
        if (channels_[c].any >= 0) covering_.push_back(-1);
    }
}

const Candidate* Replay::first_candidate(std::int64_t any_channel) {
    Candidates& queue = candidates_[static_cast<std::size_t>(candidates_of_[static_cast<std::size_t>(any_channel)])];
    while (!queue.empty() && queue.top().ticket < channels_[queue.top().channel].next_ticket) queue.pop();
    return queue.empty() ? nullptr : &queue.top();
}

void Replay::send(double now_s, std::uint32_t number, double bytes) {
    Channel& channel = channels_[number];
    const std::uint32_t ticket = channel.sent++;
    const double arrival = std::max(channel.last_arrival_s, now_s + channel.delay_s + bytes * channel.seconds_per_byte);
    channel.last_arrival_s = arrival;
    channel.bytes += bytes;
    arrivals_[channel.first_arrival + ticket] = arrival;
    if (channel.awaited == ticket) {
        channel.awaited = kNoTicket;
        ready_.push_back(channel.to);
    }
    if (channel.any < 0) return;
    const Rank& receiver = ranks_[static_cast<std::size_t>(channel.to)];
    for (auto at = static_cast<std::size_t>(channel.any); covering_[at] >= 0; ++at) {
        candidates_[static_cast<std::size_t>(candidates_of_[static_cast<std::size_t>(covering_[at])])].push(
            {arrival, number, ticket});
        if (receiver.parked_at == covering_[at] && ticket >= channel.next_ticket)
            matches_.push({std::max(receiver.now_s, arrival), channel.to, receiver.parking});
    }
}

/// False where the message has not been sent: the rank is blocked now.
template <bool kObserved>
bool Replay::receive(std::int32_t number, Rank& rank, std::uint32_t channel_number, std::uint32_t ticket) {
    Channel& channel = channels_[channel_number];
    if (ticket >= channel.sent) {
        channel.awaited = ticket;
        return false;
    }
    const double arrival = arrivals_[channel.first_arrival + ticket];
    if (arrival > rank.now_s) {
        if constexpr (kObserved) observer_->blocked(number, rank.now_s, arrival);
        rank.blocked_s += arrival - rank.now_s;
        rank.now_s = arrival;
    }
    return true;
}

template <bool kObserved>
void Replay::advance(std::int32_t number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    const std::vector<TraceEvent>& events = trace_.ranks[static_cast<std::size_t>(number)];
    for (; rank.next < events.size(); ++rank.next) {
        const TraceEvent& event = events[rank.next];
        switch (event.kind) {
            case TraceEvent::Kind::kCompute: {
                const double seconds = event.amount * rank.stretch;
                if constexpr (kObserved) observer_->computed(number, rank.now_s, rank.now_s + seconds);
                rank.compute_s += seconds;
                rank.now_s += seconds;
                break;
            }
            case TraceEvent::Kind::kSend:
                send(rank.now_s, event.channel, event.amount);
                break;
            case TraceEvent::Kind::kReceive: {
                if (candidates_of_[event.channel] >= 0) {
                    rank.parked_at = event.channel;
                    ++rank.parking;
                    if (const Candidate* first = first_candidate(event.channel))
                        matches_.push({std::max(rank.now_s, first->arrival_s), number, rank.parking});
                    return;
                }
                Channel& channel = channels_[event.channel];
                if (!receive<kObserved>(number, rank, event.channel, channel.next_ticket)) return;
                ++channel.next_ticket;
                break;
            }
            case TraceEvent::Kind::kPost:
                rank.posts.push_back({event.channel, channels_[event.channel].next_ticket++});
                break;
            case TraceEvent::Kind::kWait: {
                const Post& post = rank.posts[event.channel];
                if (!receive<kObserved>(number, rank, post.channel, post.ticket)) return;
                break;
            }
        }
    }
}

/// Nobody can go on but ranks at receives from any. What they set off comes no earlier than the earliest of their
/// matches, so that one is certain.
template <bool kObserved>
bool Replay::take_first_match() {
    while (!matches_.empty()) {
        const Match match = matches_.top();
        matches_.pop();
        Rank& rank = ranks_[static_cast<std::size_t>(match.rank)];
        if (rank.parked_at < 0 || rank.parking != match.parking) continue;
        const Candidate* first = first_candidate(rank.parked_at);
        ZBS_EXPECTS(first != nullptr);
        const std::uint32_t channel = first->channel, ticket = first->ticket;
        rank.parked_at = -1;
        channels_[channel].next_ticket = ticket + 1;
        const bool arrived = receive<kObserved>(match.rank, rank, channel, ticket);
        ZBS_EXPECTS(arrived);
        ++rank.next;
        ready_.push_back(match.rank);
        return true;
    }
    return false;
}

std::string Replay::waiting(std::int32_t number, std::int32_t& for_whom) const {
    const Rank& rank = ranks_[static_cast<std::size_t>(number)];
    const TraceEvent& event = trace_.ranks[static_cast<std::size_t>(number)][rank.next];
    const std::uint32_t c = event.kind == TraceEvent::Kind::kWait ? rank.posts[event.channel].channel : event.channel;
    const TraceChannel& channel = trace_.channels[c];
    for_whom = channel.from;
    std::string text = "rank " + std::to_string(number) + " waits for " +
                       (for_whom < 0 ? std::string("any rank") : "rank " + std::to_string(for_whom)) + " (event " +
                       std::to_string(rank.next) +
                       (channel.tag < 0 ? std::string() : ", tag " + std::to_string(channel.tag)) + ")";
    if (for_whom >= 0 &&
        ranks_[static_cast<std::size_t>(for_whom)].next == trace_.ranks[static_cast<std::size_t>(for_whom)].size()) {
        text += ", which has ended";
        for_whom = -1;
    }
    return text;
}

/// Follows the first blocked rank to whom it waits for, and so on, until somebody comes twice or nobody is left.
Error Replay::deadlock() const {
    constexpr int kMaxNamed = 8;
    std::int32_t stuck = 0, first = -1;
    for (std::int32_t r = 0; r < trace_.rank_count(); ++r) {
        if (ranks_[static_cast<std::size_t>(r)].next == trace_.ranks[static_cast<std::size_t>(r)].size()) continue;
        ++stuck;
        if (first < 0) first = r;
    }
    std::string chain;
    std::vector<bool> seen(ranks_.size(), false);
    int named = 0;
    for (std::int32_t at = first; at >= 0 && !seen[static_cast<std::size_t>(at)];) {
        seen[static_cast<std::size_t>(at)] = true;
        if (++named > kMaxNamed) {
            chain += "; ...";
            break;
        }
        std::int32_t next = -1;
        chain += (chain.empty() ? "" : "; ") + waiting(at, next);
        at = next;
    }
    return invalid("deadlock: " + std::to_string(stuck) + " of " + std::to_string(ranks_.size()) +
                   " ranks wait for messages that nobody sends: " + chain);
}

Result<ReplayReport> Replay::finish() {
    ReplayReport report;
    bool all_done = true;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        const Rank& rank = ranks_[r];
        all_done = all_done && rank.next == trace_.ranks[r].size();
        report.events += rank.next;
        report.ranks.push_back({rank.compute_s, rank.blocked_s, rank.now_s});
        report.run_time_s = std::max(report.run_time_s, rank.now_s);
    }
    if (!all_done && trace_.complete) return deadlock();
    report.complete = all_done && trace_.complete;

    const auto zones = static_cast<std::size_t>(resources_.zone_count());
    report.between_zones.assign(zones * zones, {});
    for (std::size_t c = 0; c < channels_.size(); ++c) {
        const Channel& channel = channels_[c];
        if (channel.sent == 0) continue;
        report.unreceived_messages += channel.sent - std::min(channel.sent, channel.next_ticket);
        const ProcessorIndex p = mapping_.processor_of[static_cast<std::size_t>(trace_.channels[c].from)];
        const ProcessorIndex q = mapping_.processor_of[static_cast<std::size_t>(trace_.channels[c].to)];
        const ProcessorPlace &a = resources_.place(p), &b = resources_.place(q);
        const auto low = static_cast<std::size_t>(std::min(a.zone, b.zone));
        const auto high = static_cast<std::size_t>(std::max(a.zone, b.zone));
        LinkTraffic& traffic = p == q                   ? report.same_processor
                               : a.zone != b.zone       ? report.between_zones[low * zones + high]
                               : a.machine != b.machine ? report.within_zone
                                                        : report.within_machine;
        traffic.messages += channel.sent;
        traffic.bytes += channel.bytes;
    }
    return report;
}

}  // namespace

Result<ReplayReport> replay(const Trace& trace, const ResourceGraph& resources, const Mapping& mapping,
                            ReplayObserver* observer) {
    return Replay(trace, resources, mapping, observer).run();
}

}  // namespace zbs

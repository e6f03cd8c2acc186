#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs {

/// Whose messages go together: messages of one channel are received in the order they were sent.
struct TraceChannel {
    static constexpr std::int32_t kAny = -1;
    std::int32_t from = 0;  ///< rank; kAny in a receive from whoever comes first
    std::int32_t to = 0;    ///< rank
    std::int64_t tag = 0;   ///< >= 0; kAny in a receive of any tag
    bool operator==(const TraceChannel&) const = default;
};

/// One step of one rank.
struct TraceEvent {
    enum class Kind : std::uint32_t {
        kCompute,  ///< `amount` seconds of computing on a processor of speed 1
        kSend,     ///< `amount` bytes over `channel`; the rank goes on at once (eager)
        kReceive,  ///< waits for the next message of `channel`, which may name any source or tag
        kPost,     ///< asks for the next message of `channel` (which names source and tag) without waiting
        kWait,     ///< waits for the message of this rank's kPost number `channel`, counted from 0
    };
    double amount = 0;
    std::uint32_t channel = 0;  ///< index into Trace::channels; of a kWait the number of the kPost; of a kCompute 0
    Kind kind = Kind::kCompute;
    bool operator==(const TraceEvent&) const = default;
};
static_assert(sizeof(TraceEvent) == 16);

/// What every rank of one run did, in order: the file format `zbs-trace/1`. Collectives are point-to-point messages by
/// now. 16 bytes an event; channels are interned, so an event has one number for source, destination and tag, and a
/// replay needs no look-up.
struct Trace {
    static constexpr std::int32_t kMaxRanks = 1'000'000;
    static constexpr std::int64_t kMaxTag = std::int64_t{1} << 62;

    std::string program;
    bool complete = true;  ///< false where a record was cut short or lacks messages; what waits for them is no fault
    UnseenCalls unseen{};  ///< of which messages are missing; then not complete
    std::vector<TraceChannel> channels;
    std::vector<std::vector<TraceEvent>> ranks;

    bool operator==(const Trace&) const = default;
    std::int32_t rank_count() const { return static_cast<std::int32_t>(ranks.size()); }
    std::size_t event_count() const;
};

/// Builds a Trace event by event; ranks in any order. Preconditions: ranks in range, amounts finite and >= 0, tags >= 0
/// or kAny where that is allowed, a wait only for a post made before and not yet waited for.
class TraceBuilder {
  public:
    explicit TraceBuilder(std::int32_t ranks);

    void compute(std::int32_t rank, double seconds);
    void send(std::int32_t rank, std::int32_t to, double bytes, std::int64_t tag = 0);
    void receive(std::int32_t rank, std::int32_t from, std::int64_t tag = 0);
    /// Returns the number to wait for.
    std::uint32_t post(std::int32_t rank, std::int32_t from, std::int64_t tag = 0);
    void wait(std::int32_t rank, std::uint32_t post);
    std::uint32_t posts_of(std::int32_t rank) const { return posts_[static_cast<std::size_t>(rank)]; }
    void set_program(std::string program) { trace_.program = std::move(program); }
    void set_incomplete() { trace_.complete = false; }
    /// As zbs::add_unseen; the trace is then incomplete.
    bool add_unseen(std::string_view function, std::uint64_t calls);

    std::int32_t rank_count() const { return trace_.rank_count(); }
    std::size_t channel_count() const { return trace_.channels.size(); }
    Trace finish() &&;

  private:
    struct ChannelHash {
        std::size_t operator()(const TraceChannel& channel) const noexcept;
    };
    std::uint32_t intern(const TraceChannel& channel);
    void add(std::int32_t rank, TraceEvent::Kind kind, std::uint32_t channel, double amount);

    Trace trace_;
    std::unordered_map<TraceChannel, std::uint32_t, ChannelHash> number_of_;
    std::vector<std::uint32_t> posts_;
    std::uint32_t last_[4] = {0, 0, 0, 0};  // channels used last: programs repeat themselves
};

/// The task graph that a profile of the run would hold: bytes and messages of each pair, mean seconds of each rank's
/// compute blocks. Messages to oneself are no edge. O(events). Precondition: a rank in the trace.
TaskGraph task_graph_of(const Trace& trace);

}  // namespace zbs

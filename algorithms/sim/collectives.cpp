#include "algorithms/sim/collectives.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "algorithms/base/collective_pattern.hpp"
#include "algorithms/base/expects.hpp"

namespace zbs {

CollectiveSchedule make_schedule(std::int32_t members, std::vector<CollectiveMessage> messages) {
    CollectiveSchedule schedule;
    schedule.steps_of.resize(static_cast<std::size_t>(members));
    // Within a round a rank sends all it has to send, and then receives. Messages from one rank to another keep
    // their order, because receives are sorted by sender without changing the order of equals.
    std::ranges::stable_sort(messages, {}, [](const CollectiveMessage& m) { return std::tuple(m.round, m.from); });
    for (std::size_t begin = 0; begin < messages.size();) {
        std::size_t end = begin;
        for (; end < messages.size() && messages[end].round == messages[begin].round; ++end) {
            const CollectiveMessage& m = messages[end];
            ZBS_EXPECTS(m.from >= 0 && m.from < members && m.to >= 0 && m.to < members);
            schedule.steps_of[static_cast<std::size_t>(m.from)].push_back({m.to, true, m.bytes});
        }
        for (std::size_t i = begin; i < end; ++i)
            schedule.steps_of[static_cast<std::size_t>(messages[i].to)].push_back(
                {messages[i].from, false, messages[i].bytes});
        begin = end;
    }
    return schedule;
}

Result<CollectiveKind> parse_collective(std::string_view name) {
    static constexpr std::pair<std::string_view, CollectiveKind> kNames[] = {
        {"MPI_Allgather", CollectiveKind::kAllgather},
        {"MPI_Bcast", CollectiveKind::kBcast},
        {"MPI_Alltoall", CollectiveKind::kAlltoall},
        {"MPI_Allreduce", CollectiveKind::kAllreduce},
        {"MPI_Barrier", CollectiveKind::kBarrier}};
    for (const auto& [known, kind] : kNames) {
        if (name == known) return kind;
    }
    return invalid("'" + std::string(name.substr(0, 40)) +
                   "' is no operation; known are MPI_Allgather, MPI_Bcast, MPI_Alltoall, MPI_Allreduce, MPI_Barrier");
}

CollectiveSchedule collective_schedule(CollectiveKind kind, std::int32_t members, std::uint64_t bytes) {
    std::vector<CollectiveMessage> messages;
    for (std::int32_t rank = 0; rank < members; ++rank) {
        const auto send = [&](int to, collectives::Bytes size, int round) {
            messages.push_back({rank, to, round, static_cast<double>(size)});
        };
        const collectives::CommRank at{members, rank};
        switch (kind) {
            case CollectiveKind::kAllgather:
                collectives::allgather(
                    at, bytes * static_cast<std::uint64_t>(members), [bytes](int) { return bytes; }, send);
                break;
            case CollectiveKind::kBcast:
                collectives::bcast(at, 0, bytes, false, send);
                break;
            case CollectiveKind::kAlltoall:
                collectives::alltoall(at, bytes, false, false, send);
                break;
            case CollectiveKind::kAllreduce:
                collectives::allreduce(at, {.count = bytes, .element = 1}, send);
                break;
            case CollectiveKind::kBarrier:
                collectives::barrier(at, send);
                break;
        }
    }
    return make_schedule(members, std::move(messages));
}

void append_member(TraceBuilder& builder, const CollectiveSchedule& schedule, std::span<const std::int32_t> members,
                   std::size_t member, std::int64_t tag) {
    for (const CollectiveSchedule::Step& step : schedule.steps_of[member]) {
        const std::int32_t peer = members[static_cast<std::size_t>(step.peer)];
        if (step.sends)
            builder.send(members[member], peer, step.bytes, tag);
        else
            builder.receive(members[member], peer, tag);
    }
}

void append(TraceBuilder& builder, const CollectiveSchedule& schedule, std::span<const std::int32_t> members,
            std::int64_t tag) {
    ZBS_EXPECTS(schedule.steps_of.size() == members.size());
    for (std::size_t member = 0; member < members.size(); ++member)
        append_member(builder, schedule, members, member, tag);
}

}  // namespace zbs

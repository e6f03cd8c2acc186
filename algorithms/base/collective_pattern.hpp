#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

/// The point-to-point messages that a collective operation consists of, as seen by one rank that sends them.
/// Pure arithmetic without MPI. Every function calls `send(to, bytes, round)` once per message of `rank`, in the order
/// of sending, so that the sum over all ranks holds every message once. `p` ranks, 0 <= rank < p; sizes in bytes; `to`
/// is a rank of the communicator. A rank sends a message of a round only when it has received all that come to it in
/// lower rounds; rounds may be left out. Algorithms and thresholds are those of MPICH 4.0's flat (not node-aware)
/// selection table; client/profiler/README.md lists them.
namespace zbs::collectives {

using Bytes = std::uint64_t;

struct CommRank {
    int p = 1;     ///< size of the communicator
    int rank = 0;  ///< the rank whose messages are wanted
};

/// How a reduction may be split.
struct Reduction {
    Bytes count = 0;       ///< elements
    Bytes element = 0;     ///< bytes of one element
    bool built_in = true;  ///< the operation is one of MPI's own
    bool commutative = true;
    bool nonblocking = false;
    Bytes bytes() const { return count * element; }
};

constexpr Bytes kBcastShort = 12288, kBcastLong = 524288;
constexpr Bytes kAllreduceShort = 8, kIallreduceShort = 2048, kReduceShort = 2048;
constexpr Bytes kAllgatherShort = 81920, kAllgatherLong = 524288, kReduceScatterLong = 524288;
constexpr Bytes kAlltoallBruck = 256, kIalltoallBruck = 2048;
constexpr int kSmallCommunicator = 8;

/// Rounds of phases that follow each other; a phase of a tree or of doublings has at most 32 rounds.
constexpr int kSecondPhase = 64, kThirdPhase = 128;
/// Rounds of a phase whose distance grows, or shrinks; `step` is a power of two.
constexpr int growing(int step) { return std::countr_zero(static_cast<unsigned>(step)); }
constexpr int shrinking(int step) { return 31 - growing(step); }

constexpr bool is_power_of_two(int p) { return (p & (p - 1)) == 0; }
constexpr int floor_power_of_two(int p) {
    int power = 1;
    while (power <= p / 2) power *= 2;
    return power;
}

/// Dissemination: log2(p) rounded up empty messages from every rank.
template <class Send>
void barrier(CommRank at, Send&& send) {
    for (int step = 1; step < at.p; step *= 2) send((at.rank + step) % at.p, Bytes{0}, growing(step));
}

/// Down the binomial tree with root `root`: calls `child(relative rank of the child, size of its subtree, round)`.
template <class Child>
void binomial_children(int p, int relative, Child&& child) {
    int step = 1;
    while (step < p && (relative & step) == 0) step *= 2;
    for (step /= 2; step > 0; step /= 2) {
        if (relative + step < p) child(relative + step, std::min(step, p - relative - step), shrinking(step));
    }
}
constexpr int relative_rank(CommRank at, int root) { return (at.rank - root + at.p) % at.p; }

/// Binomial tree; large messages on 8 ranks or more: binomial scatter, then allgather by recursive doubling
/// (power of two, up to 512 KiB) or by a ring.
template <class Send>
void bcast(CommRank at, int root, Bytes bytes, bool nonblocking, Send&& send) {
    const int p = at.p, relative = relative_rank(at, root);
    const auto absolute = [&](int r) { return (r + root) % p; };
    if (bytes == 0 || p == 1) return;
    // The nonblocking table compares with < where the blocking one has <=.
    const Bytes short_end = kBcastShort + (nonblocking ? 0 : 1), long_end = kBcastLong + (nonblocking ? 0 : 1);
    if (p < kSmallCommunicator || bytes < short_end) {
        binomial_children(p, relative, [&](int child, int, int round) { send(absolute(child), bytes, round); });
        return;
    }
    const Bytes block = (bytes + static_cast<Bytes>(p) - 1) / static_cast<Bytes>(p);
    // Bytes of `count` consecutive blocks from `first` on; the last blocks may be short or empty.
    const auto span = [&](int first, int count) {
        const Bytes from = std::min(bytes, block * static_cast<Bytes>(first));
        return std::min(bytes, block * static_cast<Bytes>(first + count)) - from;
    };
    binomial_children(p, relative, [&](int child, int subtree, int round) {
        if (span(child, subtree) > 0) send(absolute(child), span(child, subtree), round);
    });
    if (is_power_of_two(p) && bytes < long_end) {
        for (int step = 1; step < p; step *= 2) {
            send(absolute(relative ^ step), span(relative / step * step, step), kSecondPhase + growing(step));
        }
    } else {
        for (int i = 0; i < p - 1; ++i)
            send(absolute((relative + 1) % p), span((relative - i + p) % p, 1), kSecondPhase + i);
    }
}

/// A power-of-two subset of the ranks: the first 2 * rem ranks are paired and one of each pair stands aside.
struct Fold {
    int power, rem;
    bool odd_stays;  ///< which one of a pair stays
    explicit Fold(int p, bool odd) : power(floor_power_of_two(p)), rem(p - power), odd_stays(odd) {}
    /// -1 where `rank` stands aside.
    int inner(int rank) const {
        if (rank >= 2 * rem) return rank - rem;
        return (rank % 2 == 1) == odd_stays ? rank / 2 : -1;
    }
    int outer(int inner_rank) const {
        return inner_rank < rem ? inner_rank * 2 + (odd_stays ? 1 : 0) : inner_rank + rem;
    }
};

/// Elements of blocks [begin, end) where `count` elements are dealt to `blocks` blocks and the last takes the rest.
constexpr Bytes dealt(Bytes count, int blocks, int begin, int end) {
    const Bytes each = count / static_cast<Bytes>(blocks);
    const Bytes upto_end = end == blocks ? count : each * static_cast<Bytes>(end);
    return upto_end - each * static_cast<Bytes>(begin);
}

struct BlockRange {
    int begin, end;
};

/// Recursive halving over distances 1, 2, 4 ...: calls `exchange(inner partner, range sent, step)` and returns, per
/// step, the range held before it (so that the way back can be walked). Used by Allreduce and Reduce of long messages.
template <class Exchange>
BlockRange halve(int power, int inner, Exchange&& exchange) {
    BlockRange held{0, power};
    for (int step = 1; step < power; step *= 2) {
        const int partner = inner ^ step, middle = (held.begin + held.end) / 2;
        if (inner < partner) {
            exchange(partner, BlockRange{middle, held.end}, step);
            held.end = middle;
        } else {
            exchange(partner, BlockRange{held.begin, middle}, step);
            held.begin = middle;
        }
    }
    return held;
}
/// The range held by `inner` once only distances 1 .. `step`/2 have been halved.
inline BlockRange range_before(int power, int inner, int step) {
    BlockRange held{0, power};
    for (int s = 1; s < step; s *= 2) {
        const int middle = (held.begin + held.end) / 2;
        ((inner & s) == 0 ? held.end : held.begin) = middle;
    }
    return held;
}

/// Recursive doubling for short messages, else reduce-scatter (recursive halving) and allgather.
template <class Send>
void allreduce(CommRank at, const Reduction& data, Send&& send) {
    const Bytes bytes = data.bytes();
    if (bytes == 0 || at.p == 1) return;
    const Fold fold(at.p, /*odd=*/true);
    const int inner = fold.inner(at.rank);
    if (inner < 0) return send(at.rank + 1, bytes, 0);
    const Bytes threshold = data.nonblocking ? kIallreduceShort : kAllreduceShort;
    if (bytes <= threshold || !data.built_in || data.count < static_cast<Bytes>(fold.power)) {
        for (int step = 1; step < fold.power; step *= 2) send(fold.outer(inner ^ step), bytes, 1 + growing(step));
    } else {
        const auto size = [&](BlockRange r) { return dealt(data.count, fold.power, r.begin, r.end) * data.element; };
        halve(fold.power, inner,
              [&](int partner, BlockRange r, int step) { send(fold.outer(partner), size(r), 1 + growing(step)); });
        for (int step = fold.power / 2; step > 0; step /= 2) {
            send(fold.outer(inner ^ step), size(range_before(fold.power, inner, step * 2)),
                 kSecondPhase + shrinking(step));
        }
    }
    if (at.rank < 2 * fold.rem) send(at.rank - 1, bytes, kThirdPhase);
}

/// Binomial tree for short messages, else reduce-scatter (recursive halving) and a binomial gather.
template <class Send>
void reduce(CommRank at, int root, const Reduction& data, Send&& send) {
    const Bytes bytes = data.bytes();
    if (bytes == 0 || at.p == 1) return;
    const Fold fold(at.p, /*odd=*/false);
    if (bytes <= kReduceShort || !data.built_in || data.count < static_cast<Bytes>(fold.power)) {
        // An operation that does not commute is reduced to rank 0, in order, and handed on.
        const int top = data.commutative ? root : 0;
        const int relative = relative_rank(at, top);
        if (relative != 0) {
            send(((relative & (relative - 1)) + top) % at.p, bytes, growing(relative & -relative));
        } else if (top != root) {
            send(root, bytes, kSecondPhase);
        }
        return;
    }
    const auto size = [&](BlockRange r) { return dealt(data.count, fold.power, r.begin, r.end) * data.element; };
    int inner = fold.inner(at.rank);
    if (inner < 0) {
        send(at.rank - 1, bytes, 0);
    } else {
        halve(fold.power, inner,
              [&](int partner, BlockRange r, int step) { send(fold.outer(partner), size(r), 1 + growing(step)); });
    }
    int inner_root = fold.inner(root);
    const bool root_stood_aside = inner_root < 0;
    if (root_stood_aside) {  // the root takes the place of inner rank 0, which first hands over its block
        inner_root = 0;
        if (at.rank == root) {
            inner = 0;
        } else if (inner == 0) {
            send(root, size(range_before(fold.power, 0, fold.power)), kSecondPhase);
            inner = -1;
        }
    }
    if (inner < 0) return;
    for (int step = fold.power / 2; step > 0; step /= 2) {
        const int partner = inner ^ step;
        if ((partner & step) != (inner_root & step)) continue;  // the partner sends to this rank
        const int to = partner == 0 && root_stood_aside ? root : fold.outer(partner);
        return send(to, size(range_before(fold.power, inner, step * 2)), kSecondPhase + 1 + shrinking(step));
    }
}

/// Binomial tree; every rank but the root sends its subtree to its parent. `each` = bytes of one rank's part.
template <class Send>
void gather(CommRank at, int root, Bytes each, Send&& send) {
    const int relative = relative_rank(at, root);
    if (relative == 0 || each == 0) return;
    const int lowest = relative & -relative;
    send((relative - lowest + root) % at.p, each * static_cast<Bytes>(std::min(lowest, at.p - relative)),
         growing(lowest));
}

template <class Send>
void scatter(CommRank at, int root, Bytes each, Send&& send) {
    if (each == 0) return;
    binomial_children(at.p, relative_rank(at, root), [&](int child, int subtree, int round) {
        send((child + root) % at.p, each * static_cast<Bytes>(subtree), round);
    });
}

/// Recursive doubling (power of two) or Bruck for short totals, else a ring. `size(r)` = bytes that rank r contributes.
template <class Size, class Send>
void allgather(CommRank at, Bytes total, Size&& size, Send&& send) {
    const int p = at.p, rank = at.rank;
    if (total == 0 || p == 1) return;
    const auto sum = [&](int first, int count) {
        Bytes bytes = 0;
        for (int i = 0; i < count; ++i) bytes += size((first + i) % p);
        return bytes;
    };
    if (is_power_of_two(p) && total < kAllgatherLong) {
        for (int step = 1; step < p; step *= 2) send(rank ^ step, sum(rank / step * step, step), growing(step));
    } else if (!is_power_of_two(p) && total < kAllgatherShort) {
        int step = 1;
        for (; step <= p / 2; step *= 2) send((rank - step + p) % p, sum(rank, step), growing(step));
        if (step < p) send((rank - step + p) % p, sum(rank, p - step), growing(step));
    } else {
        for (int i = 0; i < p - 1; ++i) send((rank + 1) % p, size((rank - i + p) % p), i);
    }
}

/// Bruck for short messages on 8 ranks or more, else one message to every other rank. `each` = bytes per pair.
template <class Send>
void alltoall(CommRank at, Bytes each, bool in_place, bool nonblocking, Send&& send) {
    const int p = at.p;
    if (each == 0) return;
    if (!in_place && p >= kSmallCommunicator && each <= (nonblocking ? kIalltoallBruck : kAlltoallBruck)) {
        for (int step = 1; step < p; step *= 2) {
            Bytes blocks = 0;
            for (int i = 1; i < p; ++i) blocks += (i & step) != 0 ? 1 : 0;
            send((at.rank + step) % p, blocks * each, growing(step));
        }
        return;
    }
    for (int i = 1; i < p; ++i) send((at.rank + i) % p, each, 0);
}

/// Recursive halving for short totals, else one message to every other rank. `size(r)` = bytes of rank r's result.
template <class Size, class Send>
void reduce_scatter(CommRank at, Bytes total, Size&& size, Send&& send) {
    const int p = at.p;
    if (total == 0 || p == 1) return;
    if (total >= kReduceScatterLong) {
        for (int i = 1; i < p; ++i) send((at.rank + i) % p, size((at.rank + i) % p), 0);
        return;
    }
    const Fold fold(p, /*odd=*/true);
    const int inner = fold.inner(at.rank);
    if (inner < 0) return send(at.rank + 1, total, 0);
    const auto sum = [&](int begin, int end) {  // results of inner ranks [begin, end), with those folded into them
        Bytes bytes = 0;
        for (int i = begin; i < end; ++i) {
            bytes += size(fold.outer(i));
            if (i < fold.rem) bytes += size(fold.outer(i) - 1);
        }
        return bytes;
    };
    BlockRange held{0, fold.power};
    for (int step = fold.power / 2; step > 0; step /= 2) {
        const int partner = inner ^ step, middle = (held.begin + held.end) / 2;
        const BlockRange given = inner < partner ? BlockRange{middle, held.end} : BlockRange{held.begin, middle};
        (inner < partner ? held.end : held.begin) = middle;
        if (const Bytes bytes = sum(given.begin, given.end); bytes > 0)
            send(fold.outer(partner), bytes, 1 + shrinking(step));
    }
    if (at.rank < 2 * fold.rem && size(at.rank - 1) > 0) send(at.rank - 1, size(at.rank - 1), kThirdPhase);
}

/// Scan and Exscan: recursive doubling, the whole vector at every step.
template <class Send>
void scan(CommRank at, Bytes bytes, Send&& send) {
    if (bytes == 0) return;
    for (int step = 1; step < at.p; step *= 2) {
        if ((at.rank ^ step) < at.p) send(at.rank ^ step, bytes, growing(step));
    }
}

}  // namespace zbs::collectives

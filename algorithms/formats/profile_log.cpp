#include "algorithms/formats/profile_log.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace zbs::formats {
namespace {

/// How the profiling library begins the log of a rank.
constexpr std::string_view kRunHeader = "zbs-log/1 run ";
constexpr std::string_view kUnseen = "zbs-log/1 unseen ";

/// No single message or compute interval is larger.
constexpr std::uint64_t kMaxNumber = std::uint64_t{1} << 50;

// One table look-up a character: the classes below decide the speed of the reader.
enum : std::uint8_t { kOther = 0, kSpace = 1, kDigit = 2 };
constexpr auto kClass = [] {
    std::array<std::uint8_t, 256> table{};
    for (const char c : {' ', '\t', '\v', '\f', '\r'}) table[static_cast<unsigned char>(c)] = kSpace;
    for (char c = '0'; c <= '9'; ++c) table[static_cast<unsigned char>(c)] = kDigit;
    return table;
}();
inline std::uint8_t class_of(char c) { return kClass.data()[static_cast<unsigned char>(c)]; }
inline bool is_space(char c) { return class_of(c) == kSpace; }
inline bool is_digit(char c) { return class_of(c) == kDigit; }
bool is_binary(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && !is_space(c) && c != '\n') || byte >= 0x7f;
}

inline const char* skip_space(const char* at, const char* end) {
    while (at < end && is_space(*at)) ++at;
    return at;
}

/// One integer field; leaves `at` behind it. False where there is none or it does not end with white space.
inline bool integer(const char*& at, const char* end, bool& negative, std::uint64_t& value) {
    at = skip_space(at, end);
    const char* p = at;
    negative = p < end && *p == '-';
    if (negative) ++p;
    const char* first = p;
    std::uint64_t sum = 0;
    while (p < end && is_digit(*p)) sum = sum * 10 + static_cast<std::uint64_t>(*p++ - '0');
    if (p == first || p - first > 18 || (p < end && !is_space(*p))) return false;
    value = sum;
    at = p;
    return true;
}

/// One field, whatever it holds.
std::string_view word(const char*& at, const char* end) {
    at = skip_space(at, end);
    const char* first = at;
    while (at < end && !is_space(*at)) ++at;
    return {first, static_cast<std::size_t>(at - first)};
}

/// Where to look first in a table of `mask` + 1 entries: the highest bits of the product, which depend on both ranks.
inline std::size_t home_slot(std::uint64_t key, std::size_t mask) {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> std::countl_zero(mask));
}

}  // namespace

ProfileLogReader::ProfileLogReader(std::string source, ProfileLogLimits limits)
    : source_(std::move(source)), limits_(limits) {
    table_.resize(1024);
}

bool ProfileLogReader::fail(std::string message, ErrorCode code) {
    if (!error_) error_ = Error{code, std::move(message), source_ + ":" + std::to_string(line_)};
    return false;
}

Result<void> ProfileLogReader::feed(std::string_view chunk) {
    while (!error_ && !chunk.empty()) {
        const void* found = std::memchr(chunk.data(), '\n', chunk.size());
        const std::size_t length =
            found ? static_cast<std::size_t>(static_cast<const char*>(found) - chunk.data()) : chunk.size();
        if (rest_.size() + length > limits_.max_line_bytes) {
            ++line_;
            fail("line is longer than " + std::to_string(limits_.max_line_bytes) + " bytes; is this a profile log?",
                 ErrorCode::kTooLarge);
            break;
        }
        if (!found) {
            rest_.append(chunk);
            break;
        }
        if (rest_.empty()) {
            line(chunk.substr(0, length));
        } else {
            rest_.append(chunk.substr(0, length));
            line(rest_);
            rest_.clear();
        }
        chunk.remove_prefix(length + 1);
    }
    if (error_) return *error_;
    return {};
}

Result<void> ProfileLogReader::end_source() {
    if (!error_ && !rest_.empty()) {
        line(rest_);
        rest_.clear();
        is_cut_ = true;
    }
    if (error_) return *error_;
    return {};
}

Result<void> ProfileLogReader::begin_source(std::string name) {
    if (Result<void> ended = end_source(); !ended) return ended;
    source_ = std::move(name);
    line_ = 0;
    first_text_ = true;
    return {};
}

bool ProfileLogReader::line(std::string_view text) {
    ++line_;
    const char* end = text.data() + text.size();
    const char* at = skip_space(text.data(), end);
    if (at == end) return true;
    const bool may_be_header = std::exchange(first_text_, false);
    const std::string_view rest(at, static_cast<std::size_t>(end - at));
    if (rest.starts_with(kRunHeader)) return header(rest);
    if (rest.starts_with(kUnseen)) return unseen(rest);
    if (may_be_header && !is_digit(*at) && *at != '-' && std::none_of(at, end, is_binary)) return true;
    if (record(at, end)) {
        ++records_;
        return true;
    }
    if (error_ && std::any_of(at, end, is_binary)) {
        error_->message = "binary data in a line that should be text; is this a profile log?";
    }
    return false;
}

bool ProfileLogReader::header(std::string_view text) {
    const char* at = text.data() + kRunHeader.size();
    const char* const end = text.data() + text.size();
    const std::string_view id = word(at, end);
    const bool has_rank = word(at, end) == "rank";
    bool negative = false;
    std::uint64_t rank = 0, ranks = 0;
    const bool good = has_rank && !id.empty() && integer(at, end, negative, rank) && !negative &&
                      word(at, end) == "of" && integer(at, end, negative, ranks) && !negative && rank < ranks &&
                      ranks <= static_cast<std::uint64_t>(limits_.max_ranks) && skip_space(at, end) == end;
    if (!good) return fail("should be \"zbs-log/1 run ID rank R of N\"");
    std::string run = std::string(id) + " of " + std::to_string(ranks);
    if (run_.empty()) run_ = run;
    if (run != run_) return fail("this log is of another run than the ones before; give the logs of one run");
    ranks_of_run_ = ranks;
    if (!logs_seen_.insert(static_cast<TaskIndex>(rank)).second)
        return fail("a log of rank " + std::to_string(rank) + " was given before");
    return true;
}

bool ProfileLogReader::unseen(std::string_view text) {
    const char* at = text.data() + kUnseen.size();
    const char* end = text.data() + text.size();
    bool negative = false;
    std::uint64_t calls = 0;
    const bool is_number = integer(at, end, negative, calls) && !negative;
    at = skip_space(at, end);
    while (end > at && is_space(end[-1])) --end;
    if (is_number && add_unseen(unseen_, std::string_view(at, static_cast<std::size_t>(end - at)), calls)) return true;
    return fail("should be \"zbs-log/1 unseen CALLS FUNCTION\", with at most " + std::to_string(kMaxUnseenFunctions) +
                " functions");
}

bool ProfileLogReader::record(const char* at, const char* end) {
    bool negative = false;
    std::uint64_t value = 0, type = 0;
    bool type_negative = false;
    static constexpr const char* kNames[] = {
        "the line number",   "the event type",     "the first integer", "the second integer",
        "the third integer", "the fourth integer", "the time"};
    const auto missing = [&](const char* name, const char* from) {
        const char* rest = skip_space(from, end);
        if (rest == end) return fail(std::string("record is cut off: ") + name + " is missing");
        const std::string_view bad = word(rest, end);
        return fail(std::string(name) + " should be an integer, not \"" + std::string(bad.substr(0, 40)) + "\"");
    };
    for (int field = 0; field < 7; ++field) {
        if (!integer(at, end, negative, value)) return missing(kNames[field], at);
        if (field == 1) {
            type = value;
            type_negative = negative;
        }
    }

    const auto rank = [&](const char* name, std::uint64_t& to) {
        if (!integer(at, end, negative, to)) return missing(name, at);
        if (negative || to >= static_cast<std::uint64_t>(limits_.max_ranks)) {
            return fail(std::string(name) + " " + (negative ? "-" : "") + std::to_string(to) + " is outside 0.." +
                        std::to_string(limits_.max_ranks - 1));
        }
        ranks_ = std::max(ranks_, static_cast<TaskIndex>(to) + 1);
        return true;
    };
    const auto number = [&](const char* name, std::uint64_t& to) {
        if (!integer(at, end, negative, to)) return missing(name, at);
        if (negative) return fail(std::string(name) + " must not be negative, but is -" + std::to_string(to));
        if (to > kMaxNumber) return fail(std::string(name) + " " + std::to_string(to) + " is larger than 2^50");
        return true;
    };
    const auto literal = [&](std::string_view wanted) {
        const std::string_view found = word(at, end);
        if (found == wanted) return true;
        if (found.empty()) return fail("record is cut off: \"" + std::string(wanted) + "\" is missing");
        return fail("\"" + std::string(wanted) + "\" expected, not \"" + std::string(found.substr(0, 40)) + "\"");
    };
    const auto done = [&] {
        at = skip_space(at, end);
        return at == end ||
               fail("more fields than the record has: \"" + std::string(at, std::min(end, at + 40)) + "\"");
    };

    const bool sent = type_negative && type == 101, received = type_negative && type == 102;
    if (sent || received) {
        std::uint64_t from = 0, to = 0, bytes = 0;
        if (!literal(sent ? "S" : "R") || !rank("the source rank", from) || !literal("D") ||
            !rank("the destination rank", to))
            return false;
        const char* before = at;
        if (sent) {
            if (!literal("SZ")) return false;
        } else if (word(at, end) != "SZ") {
            at = before;
        }
        return number("the size in bytes", bytes) && done() && message(from, to, bytes, sent);
    }
    if (!type_negative && type == 1) {
        std::uint64_t who = 0, us = 0;
        if (!literal("PAPI") || !rank("the rank", who) || !number("the compute time", us) || !done()) return false;
        if (compute_.size() <= who)
            compute_.resize(
                std::max<std::size_t>(who + 1, std::min<std::size_t>(compute_.size() * 2, limits_.max_ranks)));
        Compute& mine = compute_[who];
        if (__builtin_add_overflow(mine.sum_us, us, &mine.sum_us))
            return fail("compute times of a rank add up to more than 2^64");
        ++mine.count;
        return true;
    }
    return fail("unknown event type " + std::string(type_negative ? "-" : "") + std::to_string(type) +
                "; known are -101 (send), -102 (receive) and 1 (PAPI)");
}

bool ProfileLogReader::message(std::uint64_t from, std::uint64_t to, std::uint64_t bytes, bool sent) {
    Traffic* pair = traffic((from << 32 | to) + 1);
    if (!pair) return fail("more than " + std::to_string(limits_.max_pairs) + " pairs of ranks", ErrorCode::kTooLarge);
    std::uint64_t& sum = sent ? pair->sent_bytes : pair->received_bytes;
    if (__builtin_add_overflow(sum, bytes, &sum)) return fail("bytes of a pair add up to more than 2^64");
    ++(sent ? pair->sent : pair->received);
    return true;
}

ProfileLogReader::Traffic* ProfileLogReader::traffic(std::uint64_t key) {
    for (;;) {
        const std::size_t mask = table_.size() - 1;
        std::size_t slot = home_slot(key, mask);
        while (table_[slot].key != 0 && table_[slot].key != key) slot = (slot + 1) & mask;
        if (table_[slot].key == key) return &table_[slot];
        if (pairs_ >= limits_.max_pairs) return nullptr;
        if (pairs_ * 2 < table_.size()) {
            table_[slot].key = key;
            ++pairs_;
            return &table_[slot];
        }
        grow_traffic();
    }
}

void ProfileLogReader::grow_traffic() {
    std::vector<Traffic> old(table_.size() * 2);
    old.swap(table_);
    const std::size_t mask = table_.size() - 1;
    for (const Traffic& entry : old) {
        if (entry.key == 0) continue;
        std::size_t slot = home_slot(entry.key, mask);
        while (table_[slot].key != 0) slot = (slot + 1) & mask;
        table_[slot] = entry;
    }
}

Result<ApplicationModel> ProfileLogReader::finish() {
    if (Result<void> ended = end_source(); !ended) return ended.error();
    if (records_ == 0) return invalid("the log holds no record", source_);

    std::vector<TaskEdge> edges;
    edges.reserve(pairs_);
    for (const Traffic& pair : table_) {
        if (pair.key == 0) continue;
        const auto from = static_cast<TaskIndex>((pair.key - 1) >> 32),
                   to = static_cast<TaskIndex>((pair.key - 1) & 0xffffffffU);
        if (from == to) continue;
        const bool by_sends = pair.sent > 0;
        edges.push_back({std::min(from, to), std::max(from, to),
                         static_cast<double>(by_sends ? pair.sent_bytes : pair.received_bytes),
                         static_cast<double>(by_sends ? pair.sent : pair.received)});
    }
    std::sort(edges.begin(), edges.end(),
              [](const TaskEdge& a, const TaskEdge& b) { return a.u != b.u ? a.u < b.u : a.v < b.v; });
    std::size_t kept = 0;
    for (const TaskEdge& edge : edges) {
        if (kept > 0 && edges[kept - 1].u == edge.u && edges[kept - 1].v == edge.v) {
            edges[kept - 1].bytes += edge.bytes;
            edges[kept - 1].messages += edge.messages;
        } else {
            edges[kept++] = edge;
        }
    }
    edges.resize(kept);

    ranks_ = std::max(ranks_, static_cast<TaskIndex>(ranks_of_run_));
    std::vector<double> compute(static_cast<std::size_t>(ranks_), 0.0);
    for (std::size_t rank = 0; rank < std::min(compute.size(), compute_.size()); ++rank) {
        const Compute& mine = compute_[rank];
        if (mine.count > 0) compute[rank] = static_cast<double>(mine.sum_us) / static_cast<double>(mine.count) * 1e-6;
    }
    Result<TaskGraph> graph = TaskGraph::make(std::move(compute), std::move(edges));
    if (!graph) return graph.error();
    return ApplicationModel{.program = {},
                            .complete = logs_seen_.size() == ranks_of_run_ && unseen_.empty() && !is_cut_,
                            .graph = *std::move(graph),
                            .unseen = std::move(unseen_)};
}

void ProfileLogWriter::send(const Message& m) {
    const std::string from = std::to_string(m.from), to = std::to_string(m.to);
    out_ += std::to_string(++line_) + " -101 " + from + " 0 " + to + " 0 " + std::to_string(m.at_us) + " S " + from +
            " D " + to + " SZ " + std::to_string(m.bytes) + '\n';
}
void ProfileLogWriter::receive(const Message& m) {
    const std::string from = std::to_string(m.from), to = std::to_string(m.to);
    out_ += std::to_string(++line_) + " -102 " + to + " 0 " + from + " 0 " + std::to_string(m.at_us) + " R " + from +
            " D " + to + " " + std::to_string(m.bytes) + '\n';
}
void ProfileLogWriter::compute(int rank, std::int64_t compute_us, std::int64_t at_us) {
    out_ += std::to_string(++line_) + " 1 " + std::to_string(rank) + " 0 0 0 " + std::to_string(at_us) + " PAPI " +
            std::to_string(rank) + " " + std::to_string(compute_us) + '\n';
}

}  // namespace zbs::formats

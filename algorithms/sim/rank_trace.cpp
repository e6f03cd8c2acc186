#include "algorithms/sim/rank_trace.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "algorithms/base/trace_layout.hpp"
#include "algorithms/base/utf8.hpp"
#include "algorithms/sim/collectives.hpp"

namespace zbs {
namespace {

constexpr std::size_t kMaxGroups = std::size_t{1} << 28;
constexpr std::uint64_t kMaxBytes = 1'000'000'000'000'000'000U;

Result<RankTraceHeader> read_header(std::string_view file, const std::string& at) {
    RankTraceHeader header{};
    if (file.size() < sizeof header) return invalid("trace file is shorter than its header", at);
    std::memcpy(&header, file.data(), sizeof header);
    if (std::memcmp(header.magic, RankTraceHeader::kMagic, sizeof header.magic) != 0)
        return invalid("not a trace file of a rank", at);
    if (header.version != RankTraceHeader::kVersion || header.header_bytes != sizeof header) {
        return invalid("trace file of version " + std::to_string(header.version) +
                           "; this program reads version 1 of the same machine type",
                       at);
    }
    if (header.world_size == 0 || header.world_size > static_cast<std::uint32_t>(Trace::kMaxRanks))
        return invalid("trace file names a world of " + std::to_string(header.world_size) + " ranks", at);
    if (header.rank >= header.world_size)
        return invalid("trace file of rank " + std::to_string(header.rank) + " outside its world", at);
    return header;
}

std::string program_of(const RankTraceHeader& header) {
    std::string program(header.program, std::find(std::begin(header.program), std::end(header.program), '\0'));
    const bool readable = is_utf8(program);
    for (char& c : program) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !readable)) c = '?';
    }
    return program;
}

/// One collective of one group of ranks: what all its members together sent.
struct Instance {
    std::vector<CollectiveMessage> messages;  // ranks of the world
    std::vector<std::int32_t> members;
    CollectiveSchedule schedule;
};

class Merger {
  public:
    explicit Merger(std::span<const std::string_view> files) : files_(files) {}
    Result<Trace> merge();

  private:
    using Kind = RankTraceRecord::Kind;

    std::size_t record_count(std::size_t file) const {
        return (files_[file].size() - sizeof(RankTraceHeader)) / sizeof(RankTraceRecord);
    }
    RankTraceRecord record(std::size_t file, std::size_t index) const {
        RankTraceRecord found{};
        std::memcpy(&found, files_[file].data() + sizeof(RankTraceHeader) + index * sizeof found, sizeof found);
        return found;
    }
    Result<void> check(const RankTraceRecord& record, bool in_collective, const std::string& at) const;
    Result<void> collect(std::size_t file);
    /// Records that the name takes which follows a kUnseen, else 0.
    static std::size_t name_records(const RankTraceRecord& record) {
        if (record.kind != Kind::kUnseen) return 0;
        return (std::size_t{record.reserved} + sizeof record - 1) / sizeof record;
    }
    void emit(std::size_t file, TraceBuilder& builder) const;
    Instance& instance(std::uint64_t group, std::uint64_t number) { return instances_[group_of_.at(group)][number]; }

    std::span<const std::string_view> files_;
    std::vector<RankTraceHeader> headers_;
    UnseenCalls unseen_;
    std::unordered_map<std::uint64_t, std::size_t> group_of_;
    std::vector<std::unordered_map<std::uint64_t, Instance>> instances_;  // by group, by number
    bool complete_ = true;
};

Result<void> Merger::check(const RankTraceRecord& record, bool in_collective, const std::string& at) const {
    const bool message =
        record.kind == Kind::kSend || record.kind == Kind::kReceive || record.kind == Kind::kCollectiveMessage;
    if (record.kind < Kind::kCompute || record.kind > Kind::kUnseen)
        return invalid("trace file holds an unknown record", at);
    if (message && (record.peer < 0 || static_cast<std::uint32_t>(record.peer) >= headers_[0].world_size))
        return invalid("trace file names rank " + std::to_string(record.peer) + " outside its world", at);
    if (message && record.tag < 0) return invalid("trace file holds a negative tag", at);
    if (message && record.value > kMaxBytes) return invalid("trace file holds a message that is too large", at);
    if (record.kind == Kind::kCollectiveMessage && !in_collective)
        return invalid("trace file holds a message of a collective that has not begun", at);
    return {};
}

Result<void> Merger::collect(std::size_t file) {
    const std::string at = "/" + std::to_string(file);
    const auto rank = static_cast<std::int32_t>(headers_[file].rank);
    bool ended = false;
    Instance* current = nullptr;
    for (std::size_t i = 0; i < record_count(file); ++i) {
        const RankTraceRecord r = record(file, i);
        if (ended) return invalid("trace file goes on after its end", at);
        if (auto ok = check(r, current != nullptr, at); !ok) return ok;
        if (r.kind == Kind::kEnd) ended = true;
        if (r.kind == Kind::kUnseen) {
            if (name_records(r) >= record_count(file) - i) break;  // cut off
            const std::size_t name = sizeof(RankTraceHeader) + (i + 1) * sizeof r;
            if (!add_unseen(unseen_, files_[file].substr(name, r.reserved), r.value))
                return invalid("trace file names calls of no function", at);
            i += name_records(r);
        }
        if (r.kind == Kind::kCompute || r.kind == Kind::kUnseen || r.kind == Kind::kEnd) continue;
        if (const auto [found, added] = group_of_.try_emplace(r.group, group_of_.size()); added) {
            if (group_of_.size() > kMaxGroups) return invalid("trace files name too many communicators", at);
            instances_.emplace_back();
        }
        if (r.kind == Kind::kCollective) current = &instance(r.group, r.value);
        if (r.kind == Kind::kCollectiveMessage)
            current->messages.push_back({rank, r.peer, r.tag, static_cast<double>(r.value)});
    }
    complete_ = complete_ && ended;
    return {};
}

void Merger::emit(std::size_t file, TraceBuilder& builder) const {
    const auto rank = static_cast<std::int32_t>(headers_[file].rank);
    for (std::size_t i = 0; i < record_count(file); ++i) {
        const RankTraceRecord r = record(file, i);
        i += name_records(r);
        if (r.kind == Kind::kCompute) builder.compute(rank, static_cast<double>(r.value) * 1e-9);
        if (r.kind != Kind::kSend && r.kind != Kind::kReceive && r.kind != Kind::kCollective) continue;
        const auto group = group_of_.at(r.group);
        const std::int64_t tags = static_cast<std::int64_t>(group) << 32;  // groups do not share tags
        if (r.kind == Kind::kSend) builder.send(rank, r.peer, static_cast<double>(r.value), tags | r.tag);
        if (r.kind == Kind::kReceive) builder.receive(rank, r.peer, tags | r.tag);
        if (r.kind != Kind::kCollective) continue;
        const Instance& collective = instances_[group].at(r.value);
        const auto member = std::ranges::lower_bound(collective.members, rank);
        if (member == collective.members.end() || *member != rank) continue;
        append_member(builder, collective.schedule, collective.members,
                      static_cast<std::size_t>(member - collective.members.begin()), tags | (std::int64_t{1} << 31));
    }
}

Result<Trace> Merger::merge() {
    if (files_.empty()) return invalid("no trace file");
    std::vector<bool> seen;
    for (std::size_t i = 0; i < files_.size(); ++i) {
        const std::string at = "/" + std::to_string(i);
        Result<RankTraceHeader> header = read_header(files_[i], at);
        if (!header) return header.error();
        headers_.push_back(*header);
        seen.resize(headers_[0].world_size);
        if (header->run_id != headers_[0].run_id || header->world_size != headers_[0].world_size)
            return invalid("trace file is of another run than the first", at);
        if (seen[header->rank]) return invalid("a second trace file of rank " + std::to_string(header->rank), at);
        seen[header->rank] = true;
    }
    complete_ = files_.size() == headers_[0].world_size;
    for (std::size_t i = 0; i < files_.size(); ++i) {
        if (auto ok = collect(i); !ok) return ok.error();
    }
    for (auto& group : instances_) {
        for (auto& [number, collective] : group) {
            std::vector<std::int32_t>& members = collective.members;
            for (const CollectiveMessage& m : collective.messages) members.insert(members.end(), {m.from, m.to});
            std::ranges::sort(members);
            members.erase(std::ranges::unique(members).begin(), members.end());
            const auto local = [&members](std::int32_t rank) {
                return static_cast<std::int32_t>(std::ranges::lower_bound(members, rank) - members.begin());
            };
            for (CollectiveMessage& m : collective.messages) {
                m.from = local(m.from);
                m.to = local(m.to);
            }
            collective.schedule =
                make_schedule(static_cast<std::int32_t>(members.size()), std::move(collective.messages));
        }
    }
    TraceBuilder builder(static_cast<std::int32_t>(headers_[0].world_size));
    builder.set_program(program_of(headers_[0]));
    if (!complete_) builder.set_incomplete();
    for (const auto& [function, calls] : unseen_) builder.add_unseen(function, calls);
    for (std::size_t i = 0; i < files_.size(); ++i) emit(i, builder);
    return std::move(builder).finish();
}

}  // namespace

Result<Trace> merge_rank_traces(std::span<const std::string_view> files) { return Merger(files).merge(); }

}  // namespace zbs

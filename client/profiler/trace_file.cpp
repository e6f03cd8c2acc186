#include "client/profiler/trace_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "algorithms/base/trace_layout.hpp"
#include "services/common/adapters/descriptor/descriptor.hpp"

namespace zbs::profiler {
namespace {

using Kind = RankTraceRecord::Kind;

constexpr std::size_t kBuffered = 4096;          // records, 128 KiB
constexpr std::uint64_t kDefaultLimitMiB = 256;  // 8 million records
constexpr int kAccessTag = 0x7fffffff;           // no tag that a program may use

int file = -1;
std::uint64_t records_left = 0;
std::size_t buffered = 0;
RankTraceRecord buffer[kBuffered];
SpinLock lock;

void stop(const char* why) {
    recorder.tracing = false;
    std::fprintf(stderr, "zbs-profile: rank %d stops tracing: %s\n", recorder.world_rank, why);
}

void flush() {
    if (buffered > 0 && !write_all(file, {reinterpret_cast<const char*>(buffer), buffered * sizeof(RankTraceRecord)}))
        stop(std::strerror(errno));
    buffered = 0;
}

void put(const RankTraceRecord& record) {
    const MaybeLocked guard(lock);
    if (!recorder.tracing) return;
    if (records_left == 0) return stop("its file is as long as ZBS_PROFILE_TRACE_MIB allows");
    --records_left;
    buffer[buffered++] = record;
    if (buffered == kBuffered) flush();
}

/// The rank in MPI_COMM_WORLD; -1 outside of it.
int world_rank(const Members& members, int rank) {
    if (rank < 0 || rank >= members.size) return -1;
    const int world = members.world[rank];
    return world >= 0 && world < recorder.world_size ? world : -1;
}

void put_message(const Group& group, int to, int tag, std::uint64_t bytes, Kind kind, std::uint32_t reserved) {
    if (!recorder.tracing || !group.members) return;
    const int world = world_rank(*group.members, to);
    if (world >= 0) put({bytes, group.members->id, world, tag, kind, reserved});
}

}  // namespace

void open_trace(std::uint64_t run_id, const char* program) noexcept {
    const char* prefix = std::getenv("ZBS_PROFILE_TRACE");
    if (!prefix || !*prefix) return;
    char path[4096];
    const int n = std::snprintf(path, sizeof path, "%s.%d", prefix, recorder.world_rank);
    file = n > 0 && static_cast<std::size_t>(n) < sizeof path
               ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)
               : -1;
    if (file < 0) {
        std::fprintf(stderr, "zbs-profile: rank %d cannot write the trace %s: %s\n", recorder.world_rank, path,
                     std::strerror(errno));
        return;
    }
    std::uint64_t mebibytes = kDefaultLimitMiB;
    if (const char* limit = std::getenv("ZBS_PROFILE_TRACE_MIB"); limit && *limit) {
        char* end = nullptr;
        const unsigned long long wanted = std::strtoull(limit, &end, 10);
        if (end != limit && *end == '\0' && wanted > 0) mebibytes = std::min<std::uint64_t>(wanted, 1U << 24);
    }
    records_left = (mebibytes << 20) / sizeof(RankTraceRecord);
    RankTraceHeader header{};
    std::memcpy(header.magic, RankTraceHeader::kMagic, sizeof header.magic);
    header.version = RankTraceHeader::kVersion;
    header.header_bytes = sizeof header;
    header.run_id = run_id;
    header.world_size = static_cast<std::uint32_t>(recorder.world_size);
    header.rank = static_cast<std::uint32_t>(recorder.world_rank);
    std::snprintf(header.program, sizeof header.program, "%s", program);
    recorder.tracing = true;
    if (!write_all(file, {reinterpret_cast<const char*>(&header), sizeof header})) stop(std::strerror(errno));
}

void close_trace(bool finalized) noexcept {
    if (file < 0) return;
    if (recorder.tracing && finalized) put({0, 0, 0, 0, Kind::kEnd, 0});
    if (recorder.tracing) flush();
    recorder.tracing = false;
    close(file);
    file = -1;
}

void trace_compute(std::int64_t ns) noexcept {
    if (recorder.tracing && ns > 0) put({static_cast<std::uint64_t>(ns), 0, 0, 0, Kind::kCompute, 0});
}

void trace_unseen(std::string_view function, std::uint64_t calls) noexcept {
    if (!recorder.tracing) return;
    put({calls, 0, 0, 0, Kind::kUnseen, static_cast<std::uint32_t>(function.size())});
    for (; !function.empty(); function.remove_prefix(std::min(function.size(), sizeof(RankTraceRecord)))) {
        RankTraceRecord name{};
        std::memcpy(&name, function.data(), std::min(function.size(), sizeof name));
        put(name);
    }
}

void trace_send(const Group& group, int to, int tag, std::uint64_t bytes) noexcept {
    if (tag >= 0) put_message(group, to, tag, bytes, Kind::kSend, 0);
}

void trace_access(const Group& group, int target, std::uint64_t bytes) noexcept {
    put_message(group, target, kAccessTag, bytes, Kind::kSend, 1);
}

void trace_receive(const Members& members, int from, int tag) noexcept {
    const int world = recorder.tracing && tag >= 0 ? world_rank(members, from) : -1;
    if (world >= 0) put({0, members.id, world, tag, Kind::kReceive, 0});
}

void trace_collective(const Group& group) noexcept {
    if (!recorder.tracing || !group.members) return;
    std::uint64_t number = 0;
    {
        const MaybeLocked guard(lock);
        number = group.members->collectives++;
    }
    put({number, group.members->id, 0, 0, Kind::kCollective, 0});
}

void trace_collective_message(const Group& group, int to, std::uint64_t bytes, int round) noexcept {
    put_message(group, to, round, bytes, Kind::kCollectiveMessage, 0);
}

}  // namespace zbs::profiler

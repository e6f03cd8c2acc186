#include "algorithms/formats/rank_profile.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/profile_layout.hpp"
#include "algorithms/base/utf8.hpp"

namespace zbs::formats {
namespace {

Result<ProfileHeader> read_header(std::string_view file, const std::string& at) {
    ProfileHeader header{};
    if (file.size() < sizeof header) return invalid("rank file is shorter than its header", at);
    std::memcpy(&header, file.data(), sizeof header);
    if (std::memcmp(header.magic, ProfileHeader::kMagic, sizeof header.magic) != 0)
        return invalid("not a rank file", at);
    if (header.version != ProfileHeader::kVersion || header.header_bytes != sizeof header) {
        return invalid("rank file of version " + std::to_string(header.version) +
                           "; this program reads version 1 of the same machine type",
                       at);
    }
    if (header.world_size == 0 || header.world_size > static_cast<std::uint32_t>(TaskGraph::kMaxTasks)) {
        return invalid("rank file names a world of " + std::to_string(header.world_size) + " ranks", at);
    }
    if (header.rank >= header.world_size)
        return invalid("rank file of rank " + std::to_string(header.rank) + " outside its world", at);
    if (file.size() != rank_file_bytes(header.world_size)) return invalid("rank file has the wrong length", at);
    return header;
}

std::string program_of(const ProfileHeader& header) {
    std::string program(header.program, std::find(std::begin(header.program), std::end(header.program), '\0'));
    const bool readable = is_utf8(program);
    for (char& c : program) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !readable)) c = '?';
    }
    return program;
}

}  // namespace

Result<ApplicationModel> merge_rank_files(std::span<const std::string_view> files) {
    if (files.empty()) return invalid("no rank file");
    ProfileHeader first{};
    std::vector<double> compute;
    std::vector<bool> seen;
    std::map<std::pair<TaskIndex, TaskIndex>, std::pair<double, double>> traffic;
    bool all_finalized = true;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const std::string at = "/" + std::to_string(i);
        const Result<ProfileHeader> header = read_header(files[i], at);
        if (!header) return header.error();
        if (i == 0) {
            first = *header;
            compute.assign(first.world_size, 0.0);
            seen.assign(first.world_size, false);
        }
        if (header->run_id != first.run_id || header->world_size != first.world_size)
            return invalid("rank file of another run", at);
        if (seen[header->rank]) return invalid("rank " + std::to_string(header->rank) + " has two rank files", at);
        seen[header->rank] = true;
        all_finalized = all_finalized && header->state == RankState::kFinalized;
        if (header->compute_count > 0) {
            compute[header->rank] =
                static_cast<double>(header->compute_ns) / static_cast<double>(header->compute_count) * 1e-9;
        }
        const auto self = static_cast<TaskIndex>(header->rank);
        for (TaskIndex peer = 0; peer < static_cast<TaskIndex>(first.world_size); ++peer) {
            ProfilePeer sent{};
            std::memcpy(&sent, files[i].data() + sizeof(ProfileHeader) + static_cast<std::size_t>(peer) * sizeof sent,
                        sizeof sent);
            if (sent.messages == 0 || peer == self) continue;
            auto& [bytes, messages] = traffic[{std::min(self, peer), std::max(self, peer)}];
            bytes += static_cast<double>(sent.bytes);
            messages += static_cast<double>(sent.messages);
        }
    }
    std::vector<TaskEdge> edges;
    edges.reserve(traffic.size());
    for (const auto& [pair, sum] : traffic) edges.push_back({pair.first, pair.second, sum.first, sum.second});
    const bool all_there = std::find(seen.begin(), seen.end(), false) == seen.end();
    Result<TaskGraph> graph = TaskGraph::make(std::move(compute), std::move(edges));
    if (!graph) return graph.error();
    return ApplicationModel{
        .program = program_of(first), .complete = all_there && all_finalized, .graph = *std::move(graph)};
}

}  // namespace zbs::formats

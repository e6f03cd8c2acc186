#include "client/profiler/model_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "algorithms/base/utf8.hpp"
#include "services/common/adapters/descriptor/descriptor.hpp"

namespace zbs::profiler {
namespace {

void append_quoted(std::string& text, const std::string& value) {
    // A path may hold any bytes, JSON only UTF-8.
    const bool readable = is_utf8(value);
    text += '"';
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            text += '\\';
            text += c;
        } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !readable)) {
            text += '?';
        } else {
            text += c;
        }
    }
    text += '"';
}

}  // namespace

void Model::add_row(int rank, const std::uint64_t* row, std::size_t words) {
    if (words < 2) return;
    compute[static_cast<std::size_t>(rank)] =
        row[1] > 0 ? static_cast<double>(row[0]) * 1e-9 / static_cast<double>(row[1]) : 0;
    for (std::size_t i = 2; i + 2 < words; i += 3) {
        const auto self = static_cast<std::uint64_t>(rank), peer = row[i];
        if (peer == self || peer >= compute.size()) continue;
        Traffic& pair = traffic[std::min(self, peer) << 32 | std::max(self, peer)];
        pair.bytes += row[i + 1];
        pair.messages += row[i + 2];
    }
}

bool Model::add_rank_file(const char* path, int rank, const ProfileHeader& own, RankState& state) {
    FILE* file = std::fopen(path, "rbe");
    if (!file) return false;
    ProfileHeader header{};
    bool good = std::fread(&header, sizeof header, 1, file) == 1 &&
                std::memcmp(header.magic, ProfileHeader::kMagic, sizeof header.magic) == 0 &&
                header.version == own.version && header.run_id == own.run_id && header.world_size == own.world_size &&
                header.rank == static_cast<std::uint32_t>(rank);
    std::vector<std::uint64_t> row = {header.compute_ns, header.compute_count};
    for (std::uint32_t peer = 0; good && peer < header.world_size; ++peer) {
        ProfilePeer to{};
        good = std::fread(&to, sizeof to, 1, file) == 1;
        if (good && to.messages > 0) row.insert(row.end(), {peer, to.bytes, to.messages});
    }
    std::fclose(file);
    if (!good) return false;
    add_row(rank, row.data(), row.size());
    state = header.state;
    return true;
}

bool Model::write(const char* path) const {
    std::string text = "{\"format\":\"zbs-model/1\",\"program\":";
    append_quoted(text, program);
    if (!complete) text += ",\"complete\":false";
    if (!unseen.empty()) {
        text += ",\"unseen\":{";
        for (const auto& [name, calls] : unseen) {
            if (text.back() != '{') text += ',';
            append_quoted(text, name);
            text += ':' + std::to_string(calls);
        }
        text += '}';
    }
    text += ",\"ranks\":" + std::to_string(compute.size()) + ",\"compute\":[";
    char number[40];
    for (std::size_t i = 0; i < compute.size(); ++i) {
        std::snprintf(number, sizeof number, "%s%.9g", i ? "," : "", compute[i]);
        // Some programs set a locale that writes a comma; JSON knows only the point.
        if (char* comma = std::strchr(number + 1, ',')) *comma = '.';
        text += number;
    }
    text += "],\"edges\":[";
    std::vector<std::uint64_t> keys;
    keys.reserve(traffic.size());
    for (const auto& [key, pair] : traffic) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    bool first = true;
    for (const std::uint64_t key : keys) {
        const Traffic& pair = traffic.at(key);
        text += first ? "[" : ",[";
        first = false;
        text += std::to_string(key >> 32) + ',' + std::to_string(key & 0xffffffffU) + ',' + std::to_string(pair.bytes) +
                ',' + std::to_string(pair.messages) + ']';
    }
    text += "]}\n";

    const std::string temporary = std::string(path) + ".tmp." + std::to_string(getpid());
    const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool done = file >= 0 && write_all(file, text);
    if (file >= 0) done = fsync(file) == 0 && done;
    if (file >= 0) done = close(file) == 0 && done;
    done = done && std::rename(temporary.c_str(), path) == 0;
    if (!done) {
        std::fprintf(stderr, "zbs-profile: cannot write %s: %s\n", path, std::strerror(errno));
        unlink(temporary.c_str());
    }
    return done;
}

}  // namespace zbs::profiler

#pragma once
#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/common/ports/storage/file_depot.hpp"

namespace zbs::test {

/// FileDepot in memory, whose checksum is no SHA-256 but looks like one. It outlives the service that uses it.
class MemoryDepot : public FileDepot {
  public:
    std::uint64_t room = std::numeric_limits<std::uint64_t>::max();  ///< bytes that the disk takes

    std::set<std::string> unremovable;  ///< names of files and shelves that resist

    /// What the clock on the wall says to it; the order in which files were used counts in any case.
    std::function<Time()> now = [] { return Time{}; };

    static std::string digest_of(std::string_view bytes) {
        std::string out;
        for (int i = 0; i < 4; ++i) {
            char word[24];
            std::snprintf(word, sizeof word, "%016zx",
                          std::hash<std::string>{}(std::to_string(i) + std::string(bytes)));
            out += word;
        }
        return out;
    }
    /// As if all of it had been taken in.
    void put(const std::string& shelf, const std::string& name, std::string bytes) {
        forget(shelf, name);
        used_ += bytes.size();
        shelves_[shelf][name] = {std::move(bytes), true, next_turn(), 0};
    }

    Result<std::optional<File>> find(const std::string& shelf, const std::string& name) override {
        const Entry* entry = entry_of(shelf, name);
        if (entry == nullptr) return std::optional<File>{};
        return std::optional(file_of(name, *entry));
    }
    Result<File> append(const std::string& shelf, const std::string& name, const Piece& piece) override {
        if (const Entry* known = entry_of(shelf, name); known != nullptr && known->complete)
            return file_of(name, *known);
        if (piece.offset > piece.size || piece.bytes.size() > piece.size - piece.offset)
            return invalid("the piece goes over the end of the file");
        Entry& entry = shelves_[shelf][name];
        if (entry.size > 0 && entry.size != piece.size)
            return Error{ErrorCode::kConflict, "it began as a file of another size", {}};
        entry.size = piece.size;
        if (piece.offset > entry.bytes.size()) return Error{ErrorCode::kConflict, "a gap", {}};
        const std::size_t known = std::min(entry.bytes.size() - piece.offset, piece.bytes.size());
        if (used_ + piece.bytes.size() - known > room)
            return Error{ErrorCode::kRejected, "the disk of this zone has no room for staged files", {}};
        entry.bytes += piece.bytes.substr(known);
        used_ += piece.bytes.size() - known;
        entry.turn = next_turn();
        if (entry.bytes.size() < piece.size) return file_of(name, entry);
        File done = file_of(name, entry);
        done.digest = digest_of(entry.bytes);
        if (!piece.digest.empty() && done.digest != piece.digest) {
            forget(shelf, name);
            return Error{ErrorCode::kConflict, "the checksum of what came is " + done.digest, {}};
        }
        done.complete = entry.complete = true;
        return done;
    }
    Result<std::string> read(const std::string& shelf, const std::string& name, std::uint64_t offset,
                             std::size_t limit) override {
        const Entry* entry = entry_of(shelf, name);
        if (entry == nullptr || !entry->complete) return Error{ErrorCode::kNotFound, "no file " + name, {}};
        return offset >= entry->bytes.size() ? std::string{} : entry->bytes.substr(offset, limit);
    }
    Result<std::vector<File>> list(const std::string& shelf) override {
        std::vector<File> files;
        if (const auto at = shelves_.find(shelf); at != shelves_.end())
            for (const auto& [name, entry] : at->second) files.push_back(file_of(name, entry));
        return files;
    }
    Result<void> remove(const std::string& shelf, const std::string& name) override {
        if (unremovable.contains(name)) return Error{ErrorCode::kUnavailable, "cannot remove a staged file", {}};
        forget(shelf, name);
        return {};
    }
    Result<void> remove_shelf(const std::string& shelf) override {
        if (unremovable.contains(shelf)) return Error{ErrorCode::kUnavailable, "cannot remove a shelf", {}};
        const auto at = shelves_.find(shelf);
        if (at == shelves_.end()) return {};
        for (const auto& [name, entry] : at->second) used_ -= entry.bytes.size();
        shelves_.erase(at);
        return {};
    }
    void touch(const std::string& shelf, const std::string& name) override {
        if (entry_of(shelf, name) != nullptr) shelves_[shelf][name].turn = next_turn();
    }
    std::string path(const std::string& shelf, const std::string& name) const override {
        return "/depot/" + shelf + "/" + name;
    }
    std::uint64_t bytes() const override { return used_; }
    Result<std::vector<std::string>> shelves() override {
        std::vector<std::string> names;
        for (const auto& [name, files] : shelves_) names.push_back(name);
        return names;
    }

  private:
    struct Entry {
        std::string bytes;
        bool complete = false;
        std::int64_t turn = 0;  ///< microseconds since the epoch
        std::uint64_t size = 0;
    };
    const Entry* entry_of(const std::string& shelf, const std::string& name) const {
        const auto at = shelves_.find(shelf);
        if (at == shelves_.end()) return nullptr;
        const auto file = at->second.find(name);
        return file == at->second.end() ? nullptr : &file->second;
    }
    static File file_of(const std::string& name, const Entry& entry) {
        return {.name = name,
                .bytes = entry.bytes.size(),
                .size = entry.complete ? entry.bytes.size() : entry.size,
                .complete = entry.complete,
                .used = time_from_microseconds(entry.turn),
                .digest = {}};
    }
    std::int64_t next_turn() { return to_microseconds(now()) + ++turn_; }
    void forget(const std::string& shelf, const std::string& name) {
        const auto at = shelves_.find(shelf);
        if (at == shelves_.end()) return;
        const auto file = at->second.find(name);
        if (file == at->second.end()) return;
        used_ -= file->second.bytes.size();
        at->second.erase(file);
    }

    std::map<std::string, std::map<std::string, Entry>> shelves_;
    std::uint64_t used_ = 0;  ///< bytes in all shelves
    std::int64_t turn_ = 0;
};

}  // namespace zbs::test

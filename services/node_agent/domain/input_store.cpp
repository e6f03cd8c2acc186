#include "services/node_agent/domain/input_store.hpp"

#include <algorithm>

namespace zbs {
namespace {

constexpr const char* kInputShelf = "inputs";

/// What is on its way counts whole, from its first piece on.
std::uint64_t weight_of(const FileDepot::File& file) { return std::max(file.size, file.bytes); }

}  // namespace

void InputStore::resume() {
    remove_unused();
    clock_.after(kCheckInterval, [this] { resume(); });
}

Result<FilePresence> InputStore::find(const std::string& digest) {
    const Result<std::optional<FileDepot::File>> file = depot_.find(kInputShelf, digest);
    if (!file) return file.error();
    if (!*file) return FilePresence{digest, 0, false};
    depot_.touch(kInputShelf, digest);
    return FilePresence{digest, (*file)->bytes, (*file)->complete};
}

Result<FilePresence> InputStore::put(const std::string& digest, const FileChunk& chunk) {
    if (chunk.size > most_bytes_)
        return Error{ErrorCode::kTooLarge,
                     "a file of " + std::to_string(chunk.size) + " bytes is larger than this agent keeps (" +
                         std::to_string(most_bytes_ >> 20) + " MiB; 'files_MiB' in its configuration)",
                     "/size"};
    const Result<std::optional<FileDepot::File>> known = depot_.find(kInputShelf, digest);
    if (!known) return known.error();
    if (*known && (*known)->complete) return find(digest);
    if (!*known || ((*known)->size != chunk.size && chunk.offset == 0)) {  // it begins, or begins anew
        if (auto removed = depot_.remove(kInputShelf, digest); !removed) return removed.error();
        if (auto room = make_room(digest, chunk.size); !room) return room.error();
    }
    const Result<FileDepot::File> file = depot_.append(
        kInputShelf, digest, {.size = chunk.size, .offset = chunk.offset, .bytes = chunk.bytes, .digest = digest});
    if (!file) return file.error();
    return FilePresence{digest, file->bytes, file->complete};
}

Result<void> InputStore::make_room(const std::string& digest, std::uint64_t bytes) {
    Result<std::vector<FileDepot::File>> files = depot_.list(kInputShelf);
    if (!files) return files.error();
    std::erase_if(*files, [&](const FileDepot::File& file) { return file.name == digest; });
    std::ranges::stable_sort(*files, {}, &FileDepot::File::used);
    std::uint64_t sum = bytes;
    std::size_t count = 1 + files->size();
    for (const FileDepot::File& file : *files) sum += weight_of(file);
    for (const FileDepot::File& file : *files) {
        if (sum <= most_bytes_ && count <= kMaxFiles) break;
        // By the wall clock, as file times are: a file used "later than now" was used before somebody set the clock
        // back.
        const Time now = clock_.now();
        if (file.used < now + kKept && file.used + kKept > now) continue;
        if (auto removed = depot_.remove(kInputShelf, file.name); !removed) return removed;
        sum -= weight_of(file);
        --count;
    }
    if (sum <= most_bytes_ && count <= kMaxFiles) return {};
    return Error{ErrorCode::kUnavailable,
                 "this agent keeps at most " + std::to_string(most_bytes_ >> 20) +
                     " MiB of inputs ('files_MiB' in its configuration), and needs those that are here now; ask again",
                 {}};
}

Result<void> InputStore::locate(std::vector<StepSpec::Input>& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Result<FilePresence> here = find(inputs[i].digest);
        if (!here) return here.error();
        const std::string at = "/inputs/" + std::to_string(i);
        if (!here->complete)
            return Error{ErrorCode::kConflict, "file " + inputs[i].name + " is not here; send it first",
                         at + "/digest"};
        if (here->have != inputs[i].size)
            return invalid("file " + inputs[i].name + " has " + std::to_string(here->have) + " bytes", at + "/size");
        inputs[i].path = depot_.path(kInputShelf, inputs[i].digest);
    }
    return {};
}

/// What cannot be removed does not keep the others.
void InputStore::remove_unused() {
    const Result<std::vector<FileDepot::File>> files = depot_.list(kInputShelf);
    if (!files) return log_.warn("inputs_not_listed", {{"reason", files.error().message}});
    for (const FileDepot::File& file : *files) {
        if (file.used + kUnusedAfter > clock_.now()) continue;
        if (auto removed = depot_.remove(kInputShelf, file.name); !removed)
            log_.warn("input_not_removed", {{"file", file.name}, {"reason", removed.error().message}});
    }
}

}  // namespace zbs

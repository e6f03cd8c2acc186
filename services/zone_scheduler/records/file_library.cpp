#include "services/zone_scheduler/records/file_library.hpp"

#include <algorithm>
#include <optional>

namespace zbs {
namespace {

constexpr const char* kUserShelf = "user+";
constexpr std::size_t kMaxFilesPerUser = 4'096;  ///< whole or begun
/// Begun by one user and needed by nothing yet; the one that has not grown for longest gives way. The depot remembers
/// the checksums of more.
constexpr std::size_t kMaxBegunPerUser = 64;
/// All users of another organisation together may have so many times what one user may.
constexpr std::uint64_t kUsersOfAPeer = 4;

/// Names of organisations and users hold no '+'.
std::string shelf_of(const Caller& owner) { return kUserShelf + owner.organisation + "+" + owner.name; }

std::optional<Caller> owner_of_shelf(const std::string& shelf) {
    const std::size_t first = std::string_view(kUserShelf).size();
    if (!shelf.starts_with(kUserShelf)) return std::nullopt;
    const std::size_t plus = shelf.find('+', first);
    if (plus == std::string::npos) return std::nullopt;
    return Caller{CallerKind::kUser, OrganisationName(shelf.substr(first, plus - first)), shelf.substr(plus + 1)};
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

Result<FilePresence> FileLibrary::look(const Caller& owner, const std::string& digest) const {
    const Result<std::optional<FileDepot::File>> file = depot_.find(shelf_of(owner), digest);
    if (!file) return file.error();
    if (!*file) return FilePresence{digest, 0, false};
    return FilePresence{digest, (*file)->bytes, (*file)->complete};
}

Result<FilePresence> FileLibrary::find(const Caller& owner, const std::string& digest) const {
    Result<FilePresence> file = look(owner, digest);
    if (file && file->have == 0 && !file->complete)
        return Error{ErrorCode::kNotFound, "no file " + digest + " of yours is here", {}};
    return file;
}

Result<FilePresence> FileLibrary::put(const Caller& owner, const std::string& digest, const FileChunk& chunk) {
    if (config_.staging.job_bytes == 0)
        return Error{ErrorCode::kRejected, "zone " + config_.zone.name + " takes no files of users", {}};
    if (chunk.size > config_.staging.file_bytes)
        return Error{ErrorCode::kTooLarge,
                     "a file of " + std::to_string(chunk.size) + " bytes is larger than zone " + config_.zone.name +
                         " takes (" + mebibytes(config_.staging.file_bytes) + ")",
                     "/size"};
    const Result<std::optional<FileDepot::File>> known = depot_.find(shelf_of(owner), digest);
    if (!known) return known.error();
    if (*known && (*known)->complete) return FilePresence{digest, (*known)->bytes, true};
    if (!*known || (*known)->size != chunk.size) {
        if (*known && (*known)->size > 0) {
            if (chunk.offset > 0)
                return Error{ErrorCode::kConflict,
                             "this file began with a size of " + std::to_string((*known)->size) +
                                 " bytes; send it from its beginning to begin anew",
                             "/size"};
            if (auto removed = remove(shelf_of(owner), digest); !removed) return removed.error();
        }
        if (auto room = make_room(owner, digest, chunk.size); !room) return room.error();
    }
    const Result<FileDepot::File> file = depot_.append(
        shelf_of(owner), digest, {.size = chunk.size, .offset = chunk.offset, .bytes = chunk.bytes, .digest = digest});
    if (!file) {
        sums_.erase(owner.organisation);  // it may have gone
        return file.error();
    }
    return FilePresence{digest, file->bytes, file->complete};
}

/// What is on its way counts whole, from its first piece on.
Result<void> FileLibrary::make_room(const Caller& owner, const std::string& digest, std::uint64_t bytes) {
    Result<std::vector<FileDepot::File>> files = depot_.list(shelf_of(owner));
    if (!files) return files.error();
    std::erase_if(*files, [&](const FileDepot::File& file) { return file.name == digest; });
    std::sort(files->begin(), files->end(),
              [](const FileDepot::File& a, const FileDepot::File& b) { return a.used < b.used; });
    std::uint64_t sum = bytes;
    std::size_t count = 1 + files->size();
    const auto weight = [](const FileDepot::File& file) { return std::max(file.size, file.bytes); };
    const auto fits = [&] { return sum <= config_.staging.user_bytes && count <= kMaxFilesPerUser; };
    std::size_t begun = 1;
    for (const FileDepot::File& file : *files) {
        sum += weight(file);
        begun += !file.complete;
    }
    for (const FileDepot::File& file : *files) {
        const bool is_much = begun > kMaxBegunPerUser && !file.complete;
        if (fits() && begun <= kMaxBegunPerUser) break;
        if ((fits() && !is_much) || is_in_use(owner, file.name)) continue;
        if (auto removed = remove(shelf_of(owner), file.name); !removed) return removed;
        sum -= weight(file);
        --count;
        begun -= !file.complete;
    }
    if (fits()) return owner.organisation == config_.organisation ? Result<void>{} : check_organisation(owner, bytes);
    return Error{ErrorCode::kTooLarge,
                 "one user may have " + mebibytes(config_.staging.user_bytes) + " in " +
                     std::to_string(kMaxFilesPerUser) + " files at zone " + config_.zone.name +
                     ", and applications that have not ended need the others; wait for them",
                 "/size"};
}

/// Cost: that of looking at all its files.
Result<FileLibrary::Sum> FileLibrary::sum_of(const OrganisationName& organisation) const {
    const Result<std::vector<std::string>> shelves = depot_.shelves();
    if (!shelves) return shelves.error();
    Sum sum;
    for (const std::string& shelf : *shelves) {
        const std::optional<Caller> other = owner_of_shelf(shelf);
        if (!other || other->organisation != organisation) continue;
        const Result<std::vector<FileDepot::File>> files = depot_.list(shelf);
        if (!files) return files.error();
        for (const FileDepot::File& file : *files) sum.bytes += std::max(file.size, file.bytes);
        sum.files += files->size();
    }
    return sum;
}

/// Who comes from elsewhere shares a bound with all of that organisation, whatever users it names. Cost: nothing but
/// where something was removed since.
Result<void> FileLibrary::check_organisation(const Caller& owner, std::uint64_t bytes) {
    auto at = sums_.find(owner.organisation);
    if (at == sums_.end()) {
        const Result<Sum> looked = sum_of(owner.organisation);
        if (!looked) return looked.error();
        at = sums_.emplace(owner.organisation, *looked).first;
    }
    Sum& sum = at->second;
    if (sum.bytes + bytes <= kUsersOfAPeer * config_.staging.user_bytes &&
        sum.files < kUsersOfAPeer * kMaxFilesPerUser) {
        sum.bytes += bytes;
        ++sum.files;
        return {};
    }
    return Error{ErrorCode::kTooLarge,
                 "users of " + owner.organisation + " together may have " +
                     mebibytes(kUsersOfAPeer * config_.staging.user_bytes) + " in " +
                     std::to_string(kUsersOfAPeer * kMaxFilesPerUser) + " files at zone " + config_.zone.name,
                 "/size"};
}

Result<void> FileLibrary::remove(const std::string& shelf, const std::string& name) {
    sums_.clear();
    return depot_.remove(shelf, name);
}

Result<std::string> FileLibrary::read(const Caller& owner, const std::string& digest, std::uint64_t offset,
                                      std::size_t limit) const {
    return depot_.read(shelf_of(owner), digest, offset, limit);
}

void FileLibrary::touch(const Caller& owner, const std::string& digest) { depot_.touch(shelf_of(owner), digest); }

std::string FileLibrary::path(const Caller& owner, const std::string& digest) const {
    return depot_.path(shelf_of(owner), digest);
}

Result<void> FileLibrary::check_bounds(const Staging& staging, const char* pointer) const {
    std::uint64_t sum = 0;
    if (config_.staging.job_bytes == 0 && !staging.empty())
        return Error{ErrorCode::kRejected, "zone " + config_.zone.name + " takes no files of users", pointer};
    for (std::size_t i = 0; i < staging.inputs.size(); ++i) {
        const StagedFile& file = staging.inputs[i];
        if (file.size > config_.staging.file_bytes)
            return Error{ErrorCode::kTooLarge,
                         "file " + file.name + " is larger than zone " + config_.zone.name + " takes (" +
                             mebibytes(config_.staging.file_bytes) + ")",
                         std::string(pointer) + "/inputs/" + std::to_string(i) + "/size"};
        sum += file.size;
    }
    if (sum > config_.staging.job_bytes)
        return Error{ErrorCode::kTooLarge,
                     "the files of this application are larger than zone " + config_.zone.name + " takes for one (" +
                         mebibytes(config_.staging.job_bytes) + ")",
                     std::string(pointer) + "/inputs"};
    return {};
}

Result<void> FileLibrary::remove_unused_since(Time time) {
    const Result<std::vector<std::string>> shelves = depot_.shelves();
    if (!shelves) return shelves.error();
    Result<void> all;
    for (const std::string& shelf : *shelves) {
        const std::optional<Caller> owner = owner_of_shelf(shelf);
        if (!owner) continue;
        const Result<std::vector<FileDepot::File>> files = depot_.list(shelf);
        if (!files && all) all = files.error();
        if (!files) continue;
        for (const FileDepot::File& file : *files) {
            if (file.used >= time || is_in_use(*owner, file.name)) continue;
            if (auto removed = remove(shelf, file.name); !removed && all) all = removed.error();
        }
    }
    return all;
}

bool FileLibrary::is_in_use(const Caller& owner, const std::string& digest) const {
    return std::any_of(in_use_.begin(), in_use_.end(), [&](const InUse& used) { return used(owner, digest); });
}

}  // namespace zbs

#include "client/api/staged_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "services/common/http/call.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/checksum.hpp"

namespace zbs::client {
namespace {

constexpr std::size_t kPiece = limits::kMaxFileChunkBytes;
/// Tries of a whole file, where the checksum of what came was wrong.
constexpr int kTries = 3;

Error cannot(const std::string& what, const std::string& path) {
    return {ErrorCode::kUnavailable, "cannot " + what + " " + path + ": " + std::strerror(errno), {}};
}

Descriptor open_in(int folder, const std::string& name, int flags, mode_t mode = 0) {
    return Descriptor(openat(folder, name.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, mode));
}

/// Of all that is in an open file.
Result<Checksum> checksum_of(int fd) {
    Checksum sum;
    for (;;) {
        const std::optional<std::string> piece = read_at(fd, sum.taken(), kPiece);
        if (!piece) return cannot("read", "a file");
        if (piece->empty()) return sum;
        sum.add(*piece);
    }
}

Result<FilePresence> decode(const Result<codec::Json>& answer) {
    if (!answer) return answer.error();
    return codec::decode_file_presence(*answer);
}

/// Whether the file called so holds just this; nothing where there is none.
Result<std::optional<bool>> holds(int folder, const std::string& name, const ResultFile& file) {
    const Descriptor known = open_in(folder, name, O_RDONLY | O_NOFOLLOW);
    struct stat info {};
    if (!known && errno == ENOENT) return std::optional<bool>{};
    if (!known || fstat(known.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::optional(false);
    if (static_cast<std::uint64_t>(info.st_size) != file.size) return std::optional(false);
    Result<Checksum> sum = checksum_of(known.get());
    if (!sum) return sum.error();
    return std::optional(sum->text() == file.digest);
}

Result<void> fetch_into(ZoneClient& zone, const std::string& application, const ResultFile& file, int fd,
                        const std::string& path) {
    Result<Checksum> begun = checksum_of(fd);
    if (!begun) return begun.error();
    Checksum sum = *std::move(begun);
    for (int tries = 1;; ++tries) {
        while (sum.taken() < file.size) {
            const Result<codec::Json> answer =
                zone.get("/v1/applications/" + application + "/results/" + http::encode_percent(file.name) +
                         "?offset=" + std::to_string(sum.taken()));
            if (!answer) return answer.error();
            const Result<FileChunk> chunk = codec::decode_file_chunk(*answer);
            if (!chunk) return chunk.error();
            if (chunk->size != file.size || chunk->offset != sum.taken())
                return Error{ErrorCode::kUnavailable, "the zone sent another piece than was asked for", {}};
            if (!write_all(fd, chunk->bytes)) return cannot("write", path);
            sum.add(chunk->bytes);
        }
        const bool right = sum.taken() == file.size && sum.text() == file.digest;
        if (right && fsync(fd) == 0) return {};
        if (right || ftruncate(fd, 0) != 0) return cannot("write", path);
        if (tries >= kTries)
            return Error{ErrorCode::kConflict,
                         file.name + ": the received file has another checksum than its zone announced",
                         {}};
        sum = Checksum{};
    }
}

}  // namespace

Result<StagedFile> describe_file(const std::string& path, const std::string& name) {
    const Descriptor file = open_in(AT_FDCWD, path, O_RDONLY);
    struct stat info {};
    if (!file || fstat(file.get(), &info) != 0)
        return Error{ErrorCode::kNotFound, "cannot read " + path + ": " + std::strerror(errno), {}};
    if (!S_ISREG(info.st_mode)) return Error{ErrorCode::kNotFound, path + " is no regular file", {}};
    Result<Checksum> sum = checksum_of(file.get());
    if (!sum) return sum.error();
    StagedFile staged{.name = name, .digest = {}, .size = sum->taken(), .executable = (info.st_mode & S_IXUSR) != 0};
    staged.digest = sum->text();
    return staged;
}

Result<void> check_unchanged(const std::string& path, const StagedFile& file) {
    const Result<StagedFile> now = describe_file(path, file.name);
    if (!now) return now.error();
    if (now->digest == file.digest && now->size == file.size) return {};
    return Error{ErrorCode::kConflict,
                 "the file changed while it was read; try again when no program writes to it, or send a copy of it",
                 {}};
}

Result<std::uint64_t> send_file(ZoneClient& zone, const std::string& path, const StagedFile& file) {
    const Descriptor opened = open_in(AT_FDCWD, path, O_RDONLY);
    if (!opened) return cannot("read", path);
    const std::string at = "/v1/files/" + file.digest;
    Result<FilePresence> here = decode(zone.get(at));
    if (!here && here.error().code != ErrorCode::kNotFound) return here.error();
    std::uint64_t offset = here ? here->have : 0, sent = 0;
    for (int tries = 0; !(here && here->complete);) {
        // All is there, but its checksum was not looked at: one byte once more makes home look.
        if (offset >= file.size) offset = file.size > 0 ? file.size - 1 : 0;
        const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, file.size - offset));
        std::optional<std::string> bytes = read_at(opened.get(), offset, wanted);
        if (!bytes) return cannot("read", "a file");
        if (bytes->size() < wanted) {
            if (auto same = check_unchanged(path, file); !same) return same.error();
            return Error{ErrorCode::kConflict, "the file became shorter while it was read", {}};
        }
        sent += wanted;
        here = decode(zone.call("PUT", at, codec::encode(FileChunk{0, file.size, offset, *std::move(bytes)})));
        if (!here) {
            if (here.error().code != ErrorCode::kConflict) return here.error();
            if (++tries >= kTries) {
                // A zone knows the checksum of what came, and not why it is another one.
                if (auto same = check_unchanged(path, file); !same) return same.error();
                return here.error();
            }
            const Result<FilePresence> left = decode(zone.get(at));  // a gap, or thrown away for its checksum
            offset = left ? left->have : 0;
        } else {
            offset = here->have;
        }
    }
    return sent;
}

Result<void> check_fetch_folder(const std::string& folder, const std::vector<std::string>& results) {
    const Descriptor into = open_in(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY);
    if (into && faccessat(into.get(), ".", W_OK | X_OK, AT_EACCESS) == 0) {
        for (const std::string& name : results) {
            struct stat info {};
            if (!is_pattern(name) && fstatat(into.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
                return Error{ErrorCode::kConflict,
                             folder + "/" + name +
                                 " is there already, and would not be replaced; move it, or name another folder "
                                 "(--results)",
                             "--stage-out"};
        }
        return {};
    }
    return Error{errno == EACCES || errno == EROFS ? ErrorCode::kDenied : ErrorCode::kNotFound,
                 "what comes back cannot be put there: " + std::string(std::strerror(errno)) +
                     "; make the folder, or name another one",
                 folder};
}

Result<bool> fetch_file(ZoneClient& zone, const std::string& application, const ResultFile& file,
                        const std::string& folder) {
    if (const std::string wrong = result_name_fault(file.name); !wrong.empty())
        return Error{ErrorCode::kRejected, "a result has a name that " + wrong, {}};
    Descriptor into = open_in(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY);
    if (!into) return cannot("open folder", folder);
    std::string leaf = file.name;
    for (std::size_t end; (end = leaf.find('/')) != std::string::npos; leaf.erase(0, end + 1)) {
        const std::string below = leaf.substr(0, end);
        if (mkdirat(into.get(), below.c_str(), 0777) != 0 && errno != EEXIST)
            return cannot("make the folder of", folder + "/" + file.name);
        Descriptor inside = open_in(into.get(), below, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (!inside && (errno == ENOTDIR || errno == ELOOP))
            return Error{ErrorCode::kConflict,
                         folder + "/" + file.name + ": " + below +
                             " is a link or a file, no folder; fetch into another folder (-d)",
                         {}};
        if (!inside) return cannot("open the folder of", folder + "/" + file.name);
        into = std::move(inside);
    }
    const Error taken{
        ErrorCode::kConflict,
        folder + "/" + file.name + " is there already, with other content; fetch into another folder (-d)",
        {}};
    const std::string part = "." + leaf + ".zbs-" + file.digest.substr(0, 16);
    for (;;) {
        const Result<std::optional<bool>> known = holds(into.get(), leaf, file);
        if (!known) return known.error();
        if (*known) return **known ? Result<bool>(false) : taken;
        const Descriptor out =
            open_in(into.get(), part, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, file.executable ? 0777 : 0666);
        if (!out) return cannot("write", folder + "/" + part);
        struct stat info {
        }, named{};
        if (fstat(out.get(), &info) != 0 || !S_ISREG(info.st_mode))
            return Error{ErrorCode::kConflict, folder + "/" + part + " is no regular file", {}};
        // Another command may fetch the same content: one writes and names the file, the others wait for it. A file
        // system may have no locks; then the size shows that two have written.
        while (flock(out.get(), LOCK_EX) != 0 && errno == EINTR) {
        }
        const bool is_still_part = fstatat(into.get(), part.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                                   named.st_ino == info.st_ino && named.st_dev == info.st_dev;
        if (!is_still_part) continue;
        if (auto fetched = fetch_into(zone, application, file, out.get(), folder + "/" + part); !fetched)
            return fetched.error();
        if (fstat(out.get(), &info) != 0 || static_cast<std::uint64_t>(info.st_size) != file.size)
            return Error{ErrorCode::kConflict,
                         folder + "/" + part + " was written by another command, too; remove it and fetch again",
                         {}};
        // A link is never put in the place of a file that is there.
        const bool linked = linkat(into.get(), part.c_str(), into.get(), leaf.c_str(), 0) == 0;
        const int fault = errno;
        if (!linked && fault == EEXIST) return taken;
        const bool is_named =
            linked ? unlinkat(into.get(), part.c_str(), 0) == 0
                   : renameat2(into.get(), part.c_str(), into.get(), leaf.c_str(), RENAME_NOREPLACE) == 0;
        if (!is_named) return errno == EEXIST ? Result<bool>(taken) : cannot("name", folder + "/" + file.name);
        return true;
    }
}

}  // namespace zbs::client

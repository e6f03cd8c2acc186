#include "services/common/adapters/files/file_depot.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>

#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/common/messages/text/checksum.hpp"

namespace zbs::files {
namespace {

constexpr std::size_t kReadPiece = 1 << 18;
constexpr std::size_t kMaxNameBytes = 200;
/// Of one file, that the disk has not got yet: about twice as much at most.
constexpr std::uint64_t kMaxUnwritten = 16ULL << 20;
constexpr const char* kPartSuffix = ".part";
/// A link beside a file on its way, whose text is the size that the file is to have: it comes and goes whole.
constexpr const char* kSizeSuffix = ".size";
/// Files on their way whose checksum is remembered, those that grew last; another one costs reading what is there.
constexpr std::size_t kMaxRemembered = 256;

bool is_depot_name(const std::string& name) {
    return !name.empty() && name.size() <= kMaxNameBytes && name[0] != '.' &&
           std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 127 && c != '/'; });
}

Error fault_of(const std::string& what, int number) {
    if (number == ENOSPC || number == EDQUOT)
        return {ErrorCode::kRejected, "the disk has no room for staged files", {}};
    return {ErrorCode::kUnavailable, "cannot " + what + ": " + std::strerror(number), {}};
}

/// Whether so many bytes more leave what others on this disk need, the database of the zone among them.
Result<void> check_reserve(const std::string& folder, const Reserve& reserve, std::uint64_t bytes) {
    struct statvfs disk {};
    if (statvfs(folder.c_str(), &disk) != 0) return fault_of("look at the disk of staged files", errno);
    const std::uint64_t free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
    const std::uint64_t share = static_cast<std::uint64_t>(disk.f_blocks) * disk.f_frsize / 100 * reserve.percent;
    const std::uint64_t kept = std::max(reserve.bytes, share);
    if (free >= kept && free - kept >= bytes) return {};
    return Error{ErrorCode::kUnavailable,
                 "the disk of staged files is nearly full: its last " + std::to_string(kept >> 20) +
                     " MiB are kept for the service itself; make room there, or try again later",
                 {}};
}

class FolderDepot : public FileDepot {
  public:
    FolderDepot(std::string folder, const Reserve& reserve) : folder_(std::move(folder)), reserve_(reserve) {}

    /// Once, before anything else.
    Result<void> weigh() {
        const Result<std::vector<std::string>> all = shelves();
        if (!all) return all.error();
        for (const std::string& shelf : *all) {
            const Result<std::vector<File>> files = list(shelf);
            if (!files) return files.error();
            for (const File& file : *files) bytes_ += file.bytes;
        }
        return {};
    }

    Result<std::optional<File>> find(const std::string& shelf, const std::string& name) override {
        check(shelf, name);
        struct stat info {};
        if (lstat(path(shelf, name).c_str(), &info) == 0) return std::optional(file_of(name, info, true));
        if (lstat(part_of(shelf, name).c_str(), &info) == 0)
            return std::optional(file_of(name, info, false, declared_size(shelf, name)));
        return std::optional<File>{};
    }

    Result<File> append(const std::string& shelf, const std::string& name, const Piece& piece) override {
        const Result<std::optional<File>> known = find(shelf, name);
        if (!known) return known.error();
        if (*known && (*known)->complete) return **known;
        if (piece.offset > piece.size || piece.bytes.size() > piece.size - piece.offset)
            return invalid("the piece goes over the end of the file, which has " + std::to_string(piece.size) +
                           " bytes");
        const std::uint64_t declared = *known ? (*known)->size : 0;
        if (declared > 0 && declared != piece.size)
            return Error{ErrorCode::kConflict, "it began as a file of " + std::to_string(declared) + " bytes", {}};
        if (auto room = check_reserve(folder_, reserve_, piece.bytes.size()); !room) return room.error();
        mkdir(shelf_path(shelf).c_str(), 0700);
        if (declared == 0) {
            if (auto noted = record_size(shelf, name, piece.size); !noted) return noted.error();
        }
        const Descriptor file(open(part_of(shelf, name).c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file) return fault_of("make a staged file", errno);
        Result<Checksum*> sum = checksum_of(shelf, name, file.get());
        if (!sum) return sum.error();
        const std::uint64_t have = (*sum)->taken();
        if (have > piece.size) {
            forget(shelf, name);
            return Error{ErrorCode::kConflict, "more of it is here than it is long; begin anew", {}};
        }
        if (piece.offset > have) {
            return Error{
                ErrorCode::kConflict, "only " + std::to_string(have) + " bytes of it are here; go on from there", {}};
        }
        const auto known_bytes =
            static_cast<std::size_t>(std::min<std::uint64_t>(have - piece.offset, piece.bytes.size()));
        const std::string_view fresh = piece.bytes.substr(known_bytes);
        if (!write_at(file.get(), have, fresh)) {
            const Error fault = fault_of("write a staged file", errno);
            if (ftruncate(file.get(), static_cast<off_t>(have)) != 0) forget(shelf, name);
            return fault;
        }
        bytes_ += fresh.size();
        // Written out by and by: the last piece has to wait for all that is left, and nobody is answered meanwhile.
        static_cast<void>(sync_file_range(file.get(), static_cast<off_t>(have), static_cast<off_t>(fresh.size()),
                                          SYNC_FILE_RANGE_WRITE));
        if (have > 2 * kMaxUnwritten)
            static_cast<void>(sync_file_range(file.get(), static_cast<off_t>(have - 2 * kMaxUnwritten),
                                              static_cast<off_t>(kMaxUnwritten), SYNC_FILE_RANGE_WAIT_BEFORE));
        (*sum)->add(fresh);
        File now{
            .name = name, .bytes = (*sum)->taken(), .size = piece.size, .complete = false, .used = {}, .digest = {}};
        if (now.bytes < piece.size) return now;
        return complete(shelf, file.get(), piece.digest, std::move(now));
    }

    Result<std::string> read(const std::string& shelf, const std::string& name, std::uint64_t offset,
                             std::size_t limit) override {
        check(shelf, name);
        const Descriptor file(open(path(shelf, name).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        struct stat info {};
        if (!file || fstat(file.get(), &info) != 0) return Error{ErrorCode::kNotFound, "no file " + name, {}};
        const auto size = static_cast<std::uint64_t>(info.st_size);
        const std::uint64_t rest = size - std::min(offset, size);
        auto piece = read_at(file.get(), offset, static_cast<std::size_t>(std::min<std::uint64_t>(limit, rest)));
        if (!piece) return fault_of("read a staged file", errno);
        return *std::move(piece);
    }

    Result<std::vector<File>> list(const std::string& shelf) override {
        std::vector<File> files;
        const Result<std::vector<std::string>> names = names_in(shelf_path(shelf));
        if (!names) return names.error();
        for (const std::string& entry : *names) {
            const bool part = entry.starts_with('.') && entry.ends_with(kPartSuffix);
            const std::string name = part ? entry.substr(1, entry.size() - 1 - std::strlen(kPartSuffix)) : entry;
            struct stat info {};
            if (is_depot_name(name) && lstat((shelf_path(shelf) + "/" + entry).c_str(), &info) == 0)
                files.push_back(file_of(name, info, !part, part ? declared_size(shelf, name) : 0));
        }
        std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.name < b.name; });
        return files;
    }

    Result<void> remove(const std::string& shelf, const std::string& name) override {
        check(shelf, name);
        forget(shelf, name);
        if (!drop(path(shelf, name)) && errno != ENOENT) return fault_of("remove a staged file", errno);
        return {};
    }

    Result<void> remove_shelf(const std::string& shelf) override {
        const Result<std::vector<File>> files = list(shelf);
        if (!files) return files.error();
        for (const File& file : *files)
            if (auto removed = remove(shelf, file.name); !removed) return removed;
        const Result<std::vector<std::string>> left = names_in(shelf_path(shelf));  // sizes of files that never began
        if (!left) return left.error();
        for (const std::string& entry : *left)
            if (entry.ends_with(kSizeSuffix)) unlink((shelf_path(shelf) + "/" + entry).c_str());
        if (rmdir(shelf_path(shelf).c_str()) != 0 && errno != ENOENT) return fault_of("remove a shelf", errno);
        return {};
    }

    void touch(const std::string& shelf, const std::string& name) override {
        check(shelf, name);
        utimensat(AT_FDCWD, path(shelf, name).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
    }

    std::string path(const std::string& shelf, const std::string& name) const override {
        return shelf_path(shelf) + "/" + name;
    }

    std::uint64_t bytes() const override { return bytes_; }

    Result<std::vector<std::string>> shelves() override {
        Result<std::vector<std::string>> names = names_in(folder_);
        if (names) std::erase_if(*names, [](const std::string& name) { return !is_depot_name(name); });
        return names;
    }

  private:
    static void check(const std::string& shelf, const std::string& name) {
        ZBS_EXPECTS(is_depot_name(shelf) && is_depot_name(name));
    }
    static File file_of(const std::string& name, const struct stat& info, bool complete, std::uint64_t size = 0) {
        return {.name = name,
                .bytes = static_cast<std::uint64_t>(info.st_size),
                .size = complete ? static_cast<std::uint64_t>(info.st_size) : size,
                .complete = complete,
                .used = time_from_microseconds(static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000),
                .digest = {}};
    }
    std::string shelf_path(const std::string& shelf) const { return folder_ + "/" + shelf; }
    std::string part_of(const std::string& shelf, const std::string& name) const {
        return shelf_path(shelf) + "/." + name + kPartSuffix;
    }
    std::string size_of(const std::string& shelf, const std::string& name) const {
        return shelf_path(shelf) + "/." + name + kSizeSuffix;
    }

    std::uint64_t declared_size(const std::string& shelf, const std::string& name) const {
        char text[32];
        const ssize_t length = readlink(size_of(shelf, name).c_str(), text, sizeof text);
        std::uint64_t size = 0;
        if (length > 0) std::from_chars(text, text + length, size);
        return size;
    }
    Result<void> record_size(const std::string& shelf, const std::string& name, std::uint64_t size) const {
        const std::string at = size_of(shelf, name);
        unlink(at.c_str());  // of one that never began
        if (symlink(std::to_string(size).c_str(), at.c_str()) != 0) return fault_of("note the size of a file", errno);
        return {};
    }

    static Result<std::vector<std::string>> names_in(const std::string& folder) {
        std::vector<std::string> names;
        const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
        if (!entries && errno == ENOENT) return names;
        if (!entries) return fault_of("list staged files", errno);
        while (const dirent* entry = readdir(entries.get())) names.emplace_back(entry->d_name);
        std::sort(names.begin(), names.end());
        return names;
    }

    /// Of what is in the file, which may be more or less than what was remembered of it: then it is read.
    Result<Checksum*> checksum_of(const std::string& shelf, const std::string& name, int fd) {
        struct stat info {};
        if (fstat(fd, &info) != 0) return fault_of("look at a staged file", errno);
        const auto bytes = static_cast<std::uint64_t>(info.st_size);
        const auto key = std::pair(shelf, name);
        if (const auto at = sums_.find(key); at != sums_.end() && at->second.sum.taken() == bytes) {
            at->second.turn = ++turns_;
            return &at->second.sum;
        }
        if (sums_.size() >= kMaxRemembered)
            sums_.erase(std::ranges::min_element(sums_, {}, [](const auto& one) { return one.second.turn; }));
        Checksum sum;
        while (sum.taken() < bytes) {
            const auto piece = read_at(fd, sum.taken(), kReadPiece);
            if (!piece) return fault_of("read a staged file", errno);
            if (piece->empty()) break;
            sum.add(*piece);
        }
        sums_.erase(key);
        return &sums_.emplace(key, Remembered{std::move(sum), ++turns_}).first->second.sum;
    }

    Result<File> complete(const std::string& shelf, int fd, std::string_view digest, File file) {
        file.digest = sums_.at({shelf, file.name}).sum.text();
        sums_.erase({shelf, file.name});
        if (file.digest.empty()) {
            forget(shelf, file.name);
            return Error{ErrorCode::kInternal, "the checksum of a staged file could not be made", {}};
        }
        if (!digest.empty() && file.digest != digest) {
            forget(shelf, file.name);
            return Error{ErrorCode::kConflict,
                         "the checksum of what came is " + file.digest + ", not " + std::string(digest) +
                             "; what came is thrown away, begin anew",
                         {}};
        }
        if (fsync(fd) != 0) {  // once more would say that all is well, whatever was lost
            const Error fault = fault_of("write a staged file", errno);
            forget(shelf, file.name);
            return fault;
        }
        if (rename(part_of(shelf, file.name).c_str(), path(shelf, file.name).c_str()) != 0)
            return fault_of("name a staged file", errno);
        for (const std::string& folder : {shelf_path(shelf), folder_}) {
            const Descriptor entry(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
            if (entry && fsync(entry.get()) == 0) continue;
            const Error fault = fault_of("write the folder of staged files", errno);
            drop(path(shelf, file.name));
            return fault;
        }
        unlink(size_of(shelf, file.name).c_str());
        file.size = file.bytes;
        file.complete = true;
        return file;
    }

    void forget(const std::string& shelf, const std::string& name) {
        sums_.erase({shelf, name});
        drop(part_of(shelf, name));
        unlink(size_of(shelf, name).c_str());
    }

    /// Removes a file, and what it weighs. False: errno says why it is still there.
    bool drop(const std::string& path) {
        struct stat info {};
        if (lstat(path.c_str(), &info) != 0 || unlink(path.c_str()) != 0) return false;
        if (S_ISREG(info.st_mode)) bytes_ -= std::min(bytes_, static_cast<std::uint64_t>(info.st_size));
        return true;
    }

    std::string folder_;
    Reserve reserve_;
    std::uint64_t bytes_ = 0;  ///< of all files
    struct Remembered {
        Checksum sum;
        std::uint64_t turn = 0;  ///< larger for the one that was used later
    };
    std::map<std::pair<std::string, std::string>, Remembered> sums_;
    std::uint64_t turns_ = 0;
};

}  // namespace

Result<std::unique_ptr<FileDepot>> open_file_depot(const std::string& folder, const Reserve& reserve) {
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return fault_of("make the folder " + folder, errno);
    auto depot = std::make_unique<FolderDepot>(folder, reserve);
    if (auto weighed = depot->weigh(); !weighed) return weighed.error();
    return std::unique_ptr<FileDepot>(std::move(depot));
}

}  // namespace zbs::files

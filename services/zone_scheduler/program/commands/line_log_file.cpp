#include "services/zone_scheduler/program/commands/line_log_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "services/common/codec/records/queue_log_codec.hpp"
#include "services/zone_scheduler/program/commands/part_log_codec.hpp"

namespace zbs {
namespace {

/// Where the last whole line ends: a killed zone may have left another one unfinished.
off_t end_of_lines(int fd, off_t size) {
    std::string tail(4096, '\0');
    for (off_t end = size; end > 0;) {
        const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(tail.size()));
        const ssize_t got = ::pread(fd, tail.data(), static_cast<std::size_t>(end - begin), begin);
        if (got <= 0) return size;
        const std::size_t line = tail.rfind('\n', static_cast<std::size_t>(got) - 1);
        if (line != std::string::npos) return begin + static_cast<off_t>(line) + 1;
        end = begin;
    }
    return 0;
}

/// What is there already is a log of this kind: nothing else is ever cut.
bool begins_as_one(const LineLogKind& kind, int fd, off_t size) {
    std::string head(static_cast<std::size_t>(std::min<off_t>(size, 64 * 1024)), '\0');
    const ssize_t got = ::pread(fd, head.data(), head.size(), 0);
    if (got < 0) return false;
    const std::size_t end = head.find('\n');
    if (end == std::string::npos) return size < static_cast<off_t>(head.size()) && head.starts_with("{\"event\":");
    const Result<codec::Json> json = codec::parse(std::string_view(head).substr(0, end));
    return json && kind.fits(*json);
}

std::string name_of(const LineLogKind& kind, const std::string& path) {
    return "'" + std::string(kind.setting) + "' " + path;
}

Error cannot_be_written(const LineLogKind& kind, const std::string& path, int fault) {
    return {ErrorCode::kUnavailable,
            name_of(kind, path) + " cannot be written: " + std::strerror(fault) + "; name another file",
            {}};
}

Result<void> check_open(const LineLogKind& kind, const std::string& path, int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return cannot_be_written(kind, path, EINVAL);
    if (status.st_size > 0 && !begins_as_one(kind, fd, status.st_size))
        return invalid(name_of(kind, path) + " exists and is no log of " + kind.subject + "; name another file");
    return {};
}

}  // namespace

const LineLogKind kQueueLog{"queue_log", "a queue",
                            [](const codec::Json& line) { return codec::decode_queue_event(line).has_value(); }};
const LineLogKind kPartLog{"part_log", "parts",
                           [](const codec::Json& line) { return codec::decode_step_log_line(line).has_value(); }};

Result<void> LineLogFile::check(const LineLogKind& kind, const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) {  // who opens it makes it
        const std::size_t slash = path.rfind('/');
        const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
        if (::access(folder.c_str(), W_OK | X_OK) != 0) return cannot_be_written(kind, path, errno);
        return {};
    }
    if (fd < 0) return cannot_be_written(kind, path, errno);
    Result<void> good = check_open(kind, path, fd);
    ::close(fd);
    return good;
}

Result<std::shared_ptr<LineLogFile>> LineLogFile::open(const LineLogKind& kind, const std::string& path, Log& log,
                                                       std::size_t most_bytes) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return cannot_be_written(kind, path, errno);
    File file(::fdopen(fd, "a"));
    if (!file) {
        ::close(fd);
        return cannot_be_written(kind, path, ENOMEM);
    }
    if (auto good = check_open(kind, path, fd); !good) return good.error();
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0)
        return Error{ErrorCode::kConflict, name_of(kind, path) + " is being written by another zone", {}};
    const off_t kept = end_of_lines(fd, ::lseek(fd, 0, SEEK_END));
    if (::ftruncate(fd, kept) != 0) return cannot_be_written(kind, path, errno);
    return std::shared_ptr<LineLogFile>(
        new LineLogFile(kind, std::move(file), path, static_cast<std::size_t>(kept), most_bytes, log));
}

void LineLogFile::write(const codec::Json& entry, bool may_turn_over) {
    if (file_ == nullptr) return;
    const std::string line = codec::dump(entry) + "\n";
    if (bytes_ + line.size() > most_bytes_) return stop("it is as large as a reader takes; move it away");
    bytes_ += line.size();
    const bool good =
        std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size() && std::fflush(file_.get()) == 0;
    if (!good) return stop(std::strerror(errno));
    if (may_turn_over && begin_anew_ && bytes_ > most_bytes_ / 2) turn_over();
}

void LineLogFile::turn_over() {
    const std::string old = path_ + ".1";
    if (std::rename(path_.c_str(), old.c_str()) != 0)
        return stop("cannot be renamed to " + old + ": " + std::strerror(errno));
    Result<std::shared_ptr<LineLogFile>> next = open(kind_, path_, log_, most_bytes_);
    if (!next) return stop(next.error().message);
    file_ = std::move((*next)->file_);
    bytes_ = 0;
    log_.info((std::string(kind_.setting) + "_turned_over").c_str(), {{"file", path_}, {"before", old}});
    begin_anew_();
}

void LineLogFile::stop(const std::string& why) {
    log_.warn((std::string(kind_.setting) + "_ended").c_str(), {{"file", path_}, {"reason", why}});
    file_.reset();
}

}  // namespace zbs

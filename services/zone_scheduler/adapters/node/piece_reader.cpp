#include "services/zone_scheduler/adapters/node/piece_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace zbs::node {

Result<std::string> read_piece(const FilePiece& piece) {
    const auto fault = [&] {
        return Error{ErrorCode::kUnavailable, "cannot read " + piece.path + ": " + std::strerror(errno), {}};
    };
    const int fd = ::open(piece.path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return fault();
    std::string bytes(piece.limit, '\0');
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        const ssize_t got =
            ::pread(fd, bytes.data() + filled, bytes.size() - filled, static_cast<off_t>(piece.offset + filled));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            const Error error = fault();
            ::close(fd);
            return error;
        }
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    ::close(fd);
    bytes.resize(filled);
    return bytes;
}

PieceReader::PieceReader(Post post) : post_(std::move(post)), thread_([this] { work(); }) {}

PieceReader::~PieceReader() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void PieceReader::read(FilePiece piece, std::function<void(Result<std::string>)> answer) {
    {
        const std::lock_guard lock(mutex_);
        wanted_.emplace_back(std::move(piece), std::move(answer));
    }
    changed_.notify_all();
}

void PieceReader::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return is_ending_ || !wanted_.empty(); });
        if (is_ending_) return;
        Wanted wanted = std::move(wanted_.front());
        wanted_.pop_front();
        lock.unlock();
        Result<std::string> bytes = read_piece(wanted.first);
        post_([answer = std::move(wanted.second), bytes = std::move(bytes)]() mutable { answer(std::move(bytes)); });
        lock.lock();
    }
}

}  // namespace zbs::node

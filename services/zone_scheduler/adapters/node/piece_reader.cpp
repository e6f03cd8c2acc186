#include "services/zone_scheduler/adapters/node/piece_reader.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "services/common/adapters/descriptor/descriptor.hpp"

namespace zbs::node {

Result<std::string> read_piece(const FilePiece& piece) {
    const Descriptor file(::open(piece.path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    std::optional<std::string> bytes = file ? read_at(file.get(), piece.offset, piece.limit) : std::nullopt;
    if (bytes) return *std::move(bytes);
    return Error{ErrorCode::kUnavailable, "cannot read " + piece.path + ": " + std::strerror(errno), {}};
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

#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "algorithms/base/result.hpp"

namespace zbs::node {

struct FilePiece {
    std::string path;
    std::uint64_t offset = 0;
    std::size_t limit = 0;  ///< bytes; fewer come at the end of the file
};
/// Reads it, and answers on the domain's strand, now or later. Errors: kUnavailable.
using ReadPiece = std::function<void(FilePiece piece, std::function<void(Result<std::string>)> answer)>;

/// On the caller's own thread.
Result<std::string> read_piece(const FilePiece& piece);

/// Reads on a thread of its own, one piece after the other: a disk that is slow keeps nobody waiting but who wants a
/// piece.
class PieceReader {
  public:
    /// `post`: puts work on the domain's strand, from any thread.
    using Post = std::function<void(std::function<void()>)>;

    explicit PieceReader(Post post);
    /// Waits for the piece that is being read; what was not read yet is not answered.
    ~PieceReader();
    PieceReader(const PieceReader&) = delete;
    PieceReader& operator=(const PieceReader&) = delete;

    void read(FilePiece piece, std::function<void(Result<std::string>)> answer);

  private:
    using Wanted = std::pair<FilePiece, std::function<void(Result<std::string>)>>;
    void work();

    Post post_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Wanted> wanted_;
    bool is_ending_ = false;
    std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace zbs::node

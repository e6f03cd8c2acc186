#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/model/trace.hpp"

namespace zbs::cli {

/// One input, plain or gzip, read in pieces.
class Input {
  public:
    static constexpr std::size_t kPiece = 1 << 20;

    /// "-" is standard input. Errors name the path.
    static Result<std::unique_ptr<Input>> open(const std::string& path);
    ~Input();
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    /// Bytes taken from the file so far; fewer than came out where it is compressed.
    std::size_t bytes_taken() const;
    bool compressed() const;
    /// The next piece, at most kPiece bytes, valid until the next call; empty at the end.
    Result<std::string_view> next();
    /// After an error of `next`: what could be read before the fault.
    std::string_view salvaged() const { return salvaged_; }

  private:
    Input(void* file, std::string path) : file_(file), path_(std::move(path)), buffer_(kPiece, '\0') {}
    void* file_;
    std::string path_;
    std::string buffer_;
    std::string_view salvaged_;
};

/// The whole input. Errors name the path: what `open` and `next` say; more than `max_bytes`, or gzip data that grows to
/// more than 200 times its size (kTooLarge). Where compressed data is damaged, `before` receives what comes before
/// that.
Result<std::string> read_all(const std::string& path, std::size_t max_bytes = std::size_t{1} << 40,
                             std::string* before = nullptr);

/// Whether a file that begins so holds an execution trace, of one rank or of all.
bool is_trace(std::string_view begin);
/// One trace in text form, or the trace files of the ranks of one run. Errors name the file, and the line where there
/// are lines.
Result<Trace> read_traces(const std::vector<std::string>& paths);

}  // namespace zbs::cli

#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/model/task_graph.hpp"
#include "algorithms/model/trace.hpp"
#include "services/common/codec/json/json.hpp"

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
    /// The next piece, at most kPiece bytes, valid until the next call; empty at the end. Data of another compressor is
    /// an error that names it.
    Result<std::string_view> next();
    /// After an error of `next`: what could be read before the fault.
    std::string_view salvaged() const { return salvaged_; }

  private:
    Input(void* file, std::string path) : file_(file), path_(std::move(path)), buffer_(kPiece, '\0') {}
    void* file_;
    std::string path_;
    std::string buffer_;
    std::string_view salvaged_;
    bool is_begun_ = false;  ///< a piece came out
};

/// The whole input. Errors name the path: what `open` and `next` say; more than `max_bytes`, or gzip data that grows to
/// more than 200 times its size (kTooLarge). Where compressed data is damaged, `before` receives what comes before
/// that.
Result<std::string> read_all(const std::string& path, std::size_t max_bytes = std::size_t{1} << 40,
                             std::string* before = nullptr);

/// The error with the file in front of its place.
Error in_file(const Error& error, const std::string& path);
Result<codec::Json> parse_json(const std::string& text, const std::string& path);
Result<codec::Json> read_json(const std::string& path);
/// A model file (zbs-model/1). Errors name the file, and the JSON pointer in it.
Result<ApplicationModel> read_model_file(const std::string& path);

/// What `merge` makes of the contents of several files, the files of the ranks of a run. An error at "/N" becomes one
/// of the file at that index.
template <class Merge>
auto merge_files(const std::vector<std::string>& paths, const Merge& merge)
    -> decltype(merge(std::vector<std::string_view>{})) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        Result<std::string> bytes = read_all(path);
        if (!bytes) return bytes.error();
        files.push_back(*std::move(bytes));
    }
    auto merged = merge(std::vector<std::string_view>(files.begin(), files.end()));
    if (merged) return merged;
    for (std::size_t i = 0; i < paths.size(); ++i)
        if (merged.error().pointer == "/" + std::to_string(i))
            return Error{merged.error().code, merged.error().message, paths[i]};
    return merged;
}

/// Whether a file that begins so holds an execution trace, of one rank or of all.
bool is_trace(std::string_view begin);
/// One trace in text form, or the trace files of the ranks of one run. Errors name the file, and the line where there
/// are lines.
Result<Trace> read_traces(const std::vector<std::string>& paths);

}  // namespace zbs::cli

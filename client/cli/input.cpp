#include "client/cli/input.hpp"

#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "algorithms/formats/trace_log.hpp"
#include "algorithms/sim/rank_trace.hpp"
#include "client/cli/context.hpp"
#include "services/common/codec/model_codec.hpp"

namespace zbs::cli {
namespace {

/// The program that unpacks a file which begins so; null where none of the known ones does.
const char* unpacker_of(std::string_view begin) {
    if (begin.starts_with("\xfd"
                          "7zXZ"))
        return "xz";
    if (begin.starts_with("BZh")) return "bzip2";
    if (begin.starts_with("\x28\xb5\x2f\xfd")) return "zstd";
    return nullptr;
}

}  // namespace

Result<std::unique_ptr<Input>> Input::open(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return invalid("is a directory", path);
    gzFile file = path == "-" ? gzdopen(dup(0), "rb") : gzopen(path.c_str(), "rb");
    if (file == nullptr)
        return Error{ErrorCode::kNotFound, std::string("cannot be read: ") + std::strerror(errno), path};
    gzbuffer(file, 256 * 1024);
    return std::unique_ptr<Input>(new Input(file, path));
}

Input::~Input() { gzclose_r(static_cast<gzFile>(file_)); }

Result<std::string_view> Input::next() {
    auto* const file = static_cast<gzFile>(file_);
    const int got = gzread(file, buffer_.data(), static_cast<unsigned>(buffer_.size()));
    int fault = Z_OK;
    const char* why = gzerror(file, &fault);
    if (got < 0 || (fault != Z_OK && fault != Z_STREAM_END)) {
        salvaged_ = std::string_view(buffer_).substr(0, got > 0 ? static_cast<std::size_t>(got) : 0);
        return invalid(std::string("the compressed data is damaged or cut off: ") + why, path_);
    }
    const std::string_view piece(buffer_.data(), static_cast<std::size_t>(got));
    if (const char* const program = is_begun_ ? nullptr : unpacker_of(piece))
        return invalid(std::string("is compressed with ") + program + ", and gzip is read only; unpack it with '" +
                           program + " -dk' first",
                       path_);
    is_begun_ = true;
    return piece;
}

std::size_t Input::bytes_taken() const {
    const auto offset = gzoffset(static_cast<gzFile>(file_));
    return offset < 0 ? 0 : static_cast<std::size_t>(offset);
}

bool Input::compressed() const { return gzdirect(static_cast<gzFile>(file_)) == 0; }

Result<std::string> read_all(const std::string& path, std::size_t max_bytes, std::string* before) {
    // Logs shrink to a tenth or a twentieth; what grows 200 times is made to fill the memory.
    constexpr std::size_t kMaxGrowth = 200, kUnsuspected = std::size_t{64} << 20;
    auto input = Input::open(path);
    if (!input) return input.error();
    std::string all;
    for (;;) {
        const auto piece = (*input)->next();
        if (!piece) {
            if (before != nullptr) *before = all.append((*input)->salvaged());
            return piece.error();
        }
        if (piece->empty()) return all;
        if (piece->size() > max_bytes - all.size())
            return Error{ErrorCode::kTooLarge, "holds more than " + human_bytes(static_cast<double>(max_bytes)), path};
        all.append(*piece);
        if (all.size() > kUnsuspected && (*input)->compressed() && (*input)->bytes_taken() > 0 &&
            all.size() / kMaxGrowth > (*input)->bytes_taken())
            return Error{
                ErrorCode::kTooLarge,
                "the compressed data grows to more than 200 times its size; unpack it yourself if it is meant so",
                path};
    }
}

Error in_file(const Error& error, const std::string& path) {
    return {error.code, error.message, path + " " + error.pointer};
}

Result<codec::Json> parse_json(const std::string& text, const std::string& path) {
    Result<codec::Json> json = codec::parse(text);
    if (!json) return in_file(json.error(), path);
    return json;
}

Result<codec::Json> read_json(const std::string& path) {
    const Result<std::string> text = read_all(path);
    if (!text) return text.error();
    return parse_json(*text, path);
}

Result<ApplicationModel> read_model_file(const std::string& path) {
    const Result<codec::Json> json = read_json(path);
    if (!json) return json.error();
    Result<ApplicationModel> model = codec::decode_model(*json);
    if (!model) return in_file(model.error(), path);
    return model;
}

bool is_trace(std::string_view begin) { return begin.starts_with("ZBSTRAC1") || begin.starts_with("zbs-trace/"); }

Result<Trace> read_traces(const std::vector<std::string>& paths) {
    return merge_files(paths, [&](const std::vector<std::string_view>& files) -> Result<Trace> {
        if (files[0].starts_with("ZBSTRAC1")) return merge_rank_traces(files);
        if (files.size() > 1) return invalid("only one trace in text form can be read at a time", paths[1]);
        return formats::read_trace(files[0], paths[0]);
    });
}

}  // namespace zbs::cli

#include "tests/support/reference_traces.hpp"
#include "tests/support/source_folder.hpp"

#include <zlib.h>

namespace zbs::test {

std::optional<std::string> read_packed(const std::string& path) {
    gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr) return std::nullopt;
    std::string text, piece(1 << 20, '\0');
    for (int got; (got = gzread(file, piece.data(), static_cast<unsigned>(piece.size()))) > 0;)
        text.append(piece, 0, static_cast<std::size_t>(got));
    const bool whole = gzclose_r(file) == Z_OK;
    return whole ? std::optional(std::move(text)) : std::nullopt;
}

std::optional<std::string> read_reference_trace(const std::string& name) {
    return read_packed(source_folder() + "/../shared/data/swf/" + name + ".gz");
}

}  // namespace zbs::test

#include "services/common/adapters/sqlite/database_size.hpp"

#include <filesystem>

namespace zbs::sqlite {

std::uint64_t database_bytes(const std::string& path) {
    std::uint64_t bytes = 0;
    for (const char* suffix : {"", "-wal"}) {
        std::error_code none;
        const auto size = std::filesystem::file_size(path + suffix, none);
        if (!none) bytes += size;
    }
    return bytes;
}

}  // namespace zbs::sqlite

#pragma once
#include <cstdint>
#include <string>

namespace zbs::sqlite {

/// Bytes of a database's files, its write-ahead log among them; what is not there counts 0. Any thread.
std::uint64_t database_bytes(const std::string& path);

}  // namespace zbs::sqlite

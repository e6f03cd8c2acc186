#pragma once
#include <string>

/// Files in memory that go from process to process as descriptors.
namespace zbs::process {

/// One that holds `text`; -1 with errno. For its reader it has to be pread.
int make_memory_file(const char* name, const std::string& text);

bool is_memory_file(int fd);

/// All of it; cut one byte behind `limit`, so that it is seen to be too long.
std::string read_memory_file(int fd, std::size_t limit);

}  // namespace zbs::process

#include "services/common/adapters/process/start/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "services/common/adapters/descriptor/file_bytes.hpp"

namespace zbs::process {

int make_memory_file(const char* name, const std::string& text) {
    const int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0 || write_at(fd, 0, text)) return fd;
    const int fault = errno;
    close(fd);
    errno = fault;
    return -1;
}

bool is_memory_file(int fd) { return fcntl(fd, F_GET_SEALS) >= 0; }

std::string read_memory_file(int fd, std::size_t limit) { return read_at(fd, 0, limit + 1).value_or(""); }

}  // namespace zbs::process

#include "services/common/adapters/process/start/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace zbs::process {

int make_memory_file(const char* name, const std::string& text) {
    const int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0) return -1;
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t put = pwrite(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
        if (put <= 0) {
            const int fault = put < 0 ? errno : ENOSPC;
            close(fd);
            errno = fault;
            return -1;
        }
        done += static_cast<std::size_t>(put);
    }
    return fd;
}

bool is_memory_file(int fd) { return fcntl(fd, F_GET_SEALS) >= 0; }

std::string read_memory_file(int fd, std::size_t limit) {
    std::string text(limit + 1, '\0');
    std::size_t size = 0;
    for (ssize_t got;
         size < text.size() && (got = pread(fd, text.data() + size, text.size() - size, static_cast<off_t>(size))) > 0;)
        size += static_cast<std::size_t>(got);
    text.resize(size);
    return text;
}

}  // namespace zbs::process

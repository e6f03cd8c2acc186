#include "services/common/adapters/process/start/descriptor_message.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "algorithms/base/expects.hpp"

namespace zbs::process {
namespace {

constexpr std::size_t kRoom = CMSG_SPACE(kMaxDescriptorsOfMessage * sizeof(int));

}  // namespace

Descriptor connect_to(const std::string& path, int flags) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (path.size() >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return Descriptor();
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
    if (!made) return made;
    while (connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        if (errno == EINTR) continue;
        const int fault = errno;
        made = Descriptor();
        errno = fault;
        break;
    }
    return made;
}

int send_message(int socket, std::string_view text, std::span<const int> given) {
    ZBS_EXPECTS(given.size() <= kMaxDescriptorsOfMessage);
    std::string copy(text);
    iovec part{.iov_base = copy.data(), .iov_len = copy.size()};
    alignas(cmsghdr) std::array<char, kRoom> room{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!given.empty()) {
        message.msg_control = room.data();
        message.msg_controllen = CMSG_SPACE(given.size_bytes());
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(given.size_bytes());
        std::memcpy(CMSG_DATA(header), given.data(), given.size_bytes());
    }
    for (;;) {
        if (sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return 0;
        if (errno != EINTR) return errno;
    }
}

DescriptorMessage receive_message(int socket, int flags) {
    DescriptorMessage received;
    std::array<char, kMaxDescriptorMessageBytes> bytes{};
    iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
    alignas(cmsghdr) std::array<char, kRoom> room{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    ssize_t got = 0;
    do got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
    while (got < 0 && errno == EINTR);
    if (got < 0) return received;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
            received.given.emplace_back(fd);
        }
    }
    received.text.assign(bytes.data(), static_cast<std::size_t>(got));
    received.is_whole = got > 0 && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
    if (got == 0) errno = 0;
    return received;
}

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

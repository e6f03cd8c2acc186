#include "services/common/adapters/process/step_starter.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/common/adapters/process/account.hpp"
#include "services/common/adapters/process/starter_message.hpp"

namespace zbs::process {
namespace {

constexpr timeval kPatience{.tv_sec = 3, .tv_usec = 0};

Error out_of_reach(const std::string& socket, const std::string& why) {
    return {ErrorCode::kUnavailable,
            "steps cannot be started: their starter at " + socket + " " + why +
                "; see 'systemctl status zbs-steps' (zbs-step serve), which has to run",
            {}};
}

Error out_of_reach(const std::string& socket, int fault) {
    const bool is_late = fault == EAGAIN || fault == EINPROGRESS;
    return out_of_reach(socket, is_late ? "does not answer" : std::string("is out of reach: ") + std::strerror(fault));
}

/// A connection to the starter.
class Connection {
  public:
    int fd() const { return fd_.get(); }

    static Result<Connection> open(const std::string& socket_path) {
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        if (socket_path.size() >= sizeof address.sun_path)
            return out_of_reach(socket_path, "has a path that is too long");
        std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
        Connection made(Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)));
        if (made.fd() < 0) return out_of_reach(socket_path, errno);
        for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO})
            setsockopt(made.fd(), SOL_SOCKET, direction, &kPatience, sizeof kPatience);
        while (connect(made.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            if (errno != EINTR) return out_of_reach(socket_path, errno);
        return made;
    }

    Result<ucred> peer(const std::string& socket_path) const {
        ucred who{};
        socklen_t size = sizeof who;
        if (getsockopt(fd(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return out_of_reach(socket_path, errno);
        if (who.uid != geteuid())
            return out_of_reach(socket_path, "runs as " + user_name(who.uid) + ", not as " + user_name(geteuid()));
        return who;
    }

  private:
    explicit Connection(Descriptor fd) : fd_(std::move(fd)) {}
    Descriptor fd_;
};

/// 0, or an error number.
int send_request(int fd, const std::array<int, kStarterDescriptors>& given) {
    std::string text(kStarterRequest);
    iovec part{.iov_base = text.data(), .iov_len = text.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof given)> room{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof given);
    std::memcpy(CMSG_DATA(header), given.data(), sizeof given);
    for (;;) {
        if (sendmsg(fd, &message, MSG_NOSIGNAL) >= 0) return 0;
        if (errno != EINTR) return errno;
    }
}

}  // namespace

Result<pid_t> find_starter(const std::string& socket) {
    const auto connection = Connection::open(socket);
    if (!connection) return connection.error();
    const auto who = connection->peer(socket);
    if (!who) return who.error();
    return who->pid;
}

Result<pid_t> ask_starter(const std::string& socket, const std::vector<std::string>& arguments,
                          const SupervisorDescriptors& given) {
    const std::string text = encode_arguments(arguments);
    if (auto good = decode_arguments(text); !good) return good.error();
    const auto connection = Connection::open(socket);
    if (!connection) return connection.error();
    if (auto who = connection->peer(socket); !who) return who.error();
    const int words = make_memory_file("zbs-step-arguments", text);
    if (words < 0) return out_of_reach(socket, errno);
    const int fault = send_request(connection->fd(), {words, given.log, given.answer, given.input});
    close(words);
    if (fault != 0) return out_of_reach(socket, fault);
    std::array<char, kMaxStarterReplyBytes + 1> room{};
    ssize_t got = 0;
    do got = recv(connection->fd(), room.data(), room.size(), 0);
    while (got < 0 && errno == EINTR);
    if (got < 0) return out_of_reach(socket, errno);
    const auto reply = decode_starter_reply({room.data(), static_cast<std::size_t>(got)});
    if (!reply) return out_of_reach(socket, got == 0 ? "went away" : "says what is not understood");
    if (reply->pid == 0)
        return Error{ErrorCode::kUnavailable, "the starter at " + socket + " refuses the step: " + reply->fault, {}};
    return reply->pid;
}

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

}  // namespace zbs::process

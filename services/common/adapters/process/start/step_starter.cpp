#include "services/common/adapters/process/start/step_starter.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/common/adapters/process/account.hpp"
#include "services/common/adapters/process/start/descriptor_message.hpp"
#include "services/common/adapters/process/start/starter_message.hpp"

namespace zbs::process {
namespace {

constexpr timeval kPatience{.tv_sec = kStarterPatienceS, .tv_usec = 0};

Error out_of_reach(const std::string& socket, const std::string& why) {
    return {ErrorCode::kUnavailable,
            "steps cannot be started: their starter at " + socket + " " + why +
                "; see 'systemctl status zbs-steps' (zbs-step serve), which has to run",
            {}};
}

Error out_of_reach(const std::string& socket, int fault) {
    const bool is_late = fault == EAGAIN || fault == EINPROGRESS;
    if (fault == ENAMETOOLONG) return out_of_reach(socket, "has a path that is too long");
    return out_of_reach(socket, is_late ? "does not answer" : std::string("is out of reach: ") + std::strerror(fault));
}

/// A connection to the starter, which has kPatience for every word.
Result<Descriptor> open_connection(const std::string& socket_path) {
    Descriptor made = connect_to(socket_path);
    if (!made) return out_of_reach(socket_path, errno);
    for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO})
        setsockopt(made.get(), SOL_SOCKET, direction, &kPatience, sizeof kPatience);
    return made;
}

/// Who serves there. Errors: it is another user's.
Result<ucred> server_of(const Descriptor& connection, const std::string& socket_path) {
    ucred who{};
    socklen_t size = sizeof who;
    if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
        return out_of_reach(socket_path, errno);
    if (who.uid != geteuid())
        return out_of_reach(socket_path, "runs as " + user_name(who.uid) + ", not as " + user_name(geteuid()));
    return who;
}

}  // namespace

Result<pid_t> find_starter(const std::string& socket) {
    const auto connection = open_connection(socket);
    if (!connection) return connection.error();
    const auto who = server_of(*connection, socket);
    if (!who) return who.error();
    return who->pid;
}

Result<pid_t> ask_starter(const std::string& socket, const std::vector<std::string>& arguments,
                          const SupervisorDescriptors& given) {
    const std::string text = encode_arguments(arguments);
    if (auto good = decode_arguments(text); !good) return good.error();
    const auto connection = open_connection(socket);
    if (!connection) return connection.error();
    if (auto who = server_of(*connection, socket); !who) return who.error();
    const Descriptor words(make_memory_file("zbs-step-arguments", text));
    if (!words) return out_of_reach(socket, errno);
    const std::array<int, kStarterDescriptors> all{words.get(), given.log, given.answer, given.input};
    const int fault = send_message(connection->get(), kStarterRequest, all);
    if (fault != 0) return out_of_reach(socket, fault);
    std::array<char, kMaxStarterReplyBytes + 1> room{};
    ssize_t got = 0;
    do got = recv(connection->get(), room.data(), room.size(), 0);
    while (got < 0 && errno == EINTR);
    if (got < 0) return out_of_reach(socket, errno);
    const auto reply = decode_starter_reply({room.data(), static_cast<std::size_t>(got)});
    if (!reply) return out_of_reach(socket, got == 0 ? "went away" : "says what is not understood");
    if (reply->pid == 0)
        return Error{ErrorCode::kUnavailable, "the starter at " + socket + " refuses the step: " + reply->fault, {}};
    return reply->pid;
}

}  // namespace zbs::process

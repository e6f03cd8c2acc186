#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/common/adapters/descriptor/descriptor.hpp"

/// Messages with descriptors, over local sockets that keep messages apart (SOCK_SEQPACKET).
/// Files in memory that go from process to process as descriptors.
namespace zbs::process {

/// What one message holds at most: what is longer arrives cut, and says so.
inline constexpr std::size_t kMaxDescriptorMessageBytes = 64;
inline constexpr std::size_t kMaxDescriptorsOfMessage = 16;

/// The socket at `path`, closed in children and not waiting where `flags` say so; errno where it is none:
/// ENAMETOOLONG for a path over 107 bytes.
Descriptor connect_to(const std::string& path, int flags = 0);

/// Sends `text` with copies of `given`, at most kMaxDescriptorsOfMessage. 0, or an error number.
int send_message(int socket, std::string_view text, std::span<const int> given = {});

struct DescriptorMessage {
    std::string text;
    std::vector<Descriptor> given;  ///< closed in children
    bool is_whole = false;          ///< nothing was cut; false where there was no message, too
};

/// One message; `flags` as of recvmsg(2). Nothing where there is none, with errno, 0 at the end of the connection.
DescriptorMessage receive_message(int socket, int flags = 0);

/// One that holds `text`; -1 with errno. For its reader it has to be pread.
int make_memory_file(const char* name, const std::string& text);

bool is_memory_file(int fd);

/// All of it; cut one byte behind `limit`, so that it is seen to be too long.
std::string read_memory_file(int fd, std::size_t limit);

}  // namespace zbs::process

#include "services/node_agent/step/exit_record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "services/common/adapters/process/process_tree.hpp"

namespace zbs::step {
namespace {

constexpr std::size_t kPlace = 4'096;  ///< bytes
constexpr std::size_t kLongestReason = 4'000;

std::string new_file(const std::string& path) { return path + ".new"; }

}  // namespace

ExitRecord::ExitRecord(const std::string& folder) : path_(folder + "/exit") {
    fd_ = open(new_file(path_).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd_ < 0 || write_in_place({})) return;
    close(fd_);
    fd_ = -1;
}

ExitRecord::~ExitRecord() {
    if (fd_ >= 0) close(fd_);
}

/// Readers end at the first line.
bool ExitRecord::write_in_place(const std::string& text) {
    const std::string whole = text + std::string(kPlace - text.size(), '\n');
    return pwrite(fd_, whole.data(), whole.size(), 0) == static_cast<ssize_t>(whole.size()) && fsync(fd_) == 0;
}

bool ExitRecord::write(int code, const std::string& reason) {
    const std::string text = std::to_string(code) + " " + reason.substr(0, kLongestReason) + "\n";
    if (fd_ >= 0 && write_in_place(text)) {
        const bool is_first = link(new_file(path_).c_str(), path_.c_str()) == 0;
        if (is_first || errno == EEXIST) return unlink(new_file(path_).c_str()), true;
        if (rename(new_file(path_).c_str(), path_.c_str()) == 0) return true;  // a file system without links
    }
    return process::write_file(path_, text);
}

}  // namespace zbs::step

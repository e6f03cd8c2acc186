#include "services/common/adapters/process/start/supervisor_record.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "services/common/messages/steps/lost_machine.hpp"

namespace zbs::process {
namespace {

const std::string kNoId = "-";  ///< where the kernel reports none

std::string first_word_of(const std::string& path) {
    std::string word;
    std::istringstream(read_file(path).value_or("")) >> word;
    return word;
}

HostLife find_this_host() {
    HostLife host{.id = {}, .name = first_word_of("/proc/sys/kernel/hostname")};
    const std::string boot = first_word_of("/proc/sys/kernel/random/boot_id");
    std::array<char, 64> processes{};
    if (!boot.empty() && readlink("/proc/self/ns/pid", processes.data(), processes.size() - 1) > 0)
        host.id = boot + "/" + processes.data();
    return host;
}

}  // namespace

const HostLife& this_host() {
    static const HostLife host = find_this_host();
    return host;
}

std::string SupervisorRecord::why_out_of_reach() const {
    const std::string& here = this_host().name;
    if (host.name == here)
        return std::string(kLostMachineReason) + ": host " + here +
               " (or its container) was started anew while this ran on it";
    return "it ran on host " + host.name + ", whose processes the scheduler's host " + here +
           " cannot see; it was given up, and what is left of it there is ended";
}

bool is_supervised(const std::string& folder) {
    const int lock = open((folder + "/lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) return false;
    const bool is_held = flock(lock, LOCK_EX | LOCK_NB) != 0;
    close(lock);
    return is_held;
}

std::string where_supervised(const std::string& folder) {
    const auto record = read_supervisor_record(folder);
    return record && !record->is_of_this_host() ? " on host " + record->host.name : std::string{};
}

std::optional<SupervisorRecord> read_supervisor_record(const std::string& folder) {
    const auto text = read_file(folder + "/supervisor");
    if (!text) return std::nullopt;
    SupervisorRecord record;
    std::istringstream words(*text);
    if (!(words >> record.process.pid >> record.process.start_time >> record.host.id >> record.host.name))
        return std::nullopt;
    if (record.host.id == kNoId) record.host.id.clear();
    return record;
}

bool write_supervisor_record(const std::string& folder, const ProcessRef& process) {
    const HostLife& host = this_host();
    return write_file(folder + "/supervisor", std::to_string(process.pid) + " " + std::to_string(process.start_time) +
                                                  " " + (host.id.empty() ? kNoId : host.id) + " " + host.name + "\n");
}

}  // namespace zbs::process

#include "services/node_agent/step/step_units.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "services/common/adapters/process/start/descriptor_message.hpp"
#include "services/common/adapters/process/start/supervisor_launch.hpp"

namespace zbs::step {
namespace {
using namespace process;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMaxBegun = 64;  ///< at once; an agent starts one step after the other
constexpr std::size_t kMaxComplaint = 500;

void refuse(const Descriptor& caller, const std::string& why) { answer(caller, {0, why}); }

std::string random_number() {
    std::array<unsigned char, kRequestNumberLength / 2> bytes{};
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
    std::string text;
    for (const unsigned char byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", byte);
        text += digits;
    }
    return text;
}

/// What is in the pipe, as one line.
std::string read_complaint(int pipe) {
    std::string text(kMaxComplaint, '\0');
    const ssize_t got = read(pipe, text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    std::ranges::replace_if(
        text, [](unsigned char letter) { return letter < ' ' || letter == 127; }, ' ');
    return text;
}

}  // namespace

void answer(const Descriptor& caller, const StarterReply& reply) {
    if (reply.pid == 0) std::fprintf(stderr, "zbs-step: refused a start: %s\n", reply.fault.c_str());
    const std::string text = encode(reply);
    send(caller.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

int StepUnits::run_maker(Begun& begun) const {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    begun.complaints = Descriptor(ends[0]);
    const Descriptor written(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    const std::vector<std::string> arguments = {"--quiet",
                                                "--collect",
                                                "--no-ask-password",
                                                "--service-type=exec",
                                                "--unit=" + begun.unit,
                                                "--description=ZBS " + begun.unit.substr(0, begun.unit.rfind('-')),
                                                "--",
                                                step_,
                                                "attend",
                                                "--socket",
                                                socket_,
                                                "--request",
                                                begun.number};
    return spawn_tool(unit_maker_, arguments, written.get(), begun.maker);
}

void StepUnits::begin(Request request) {
    if (begun_.size() >= kMaxBegun) return refuse(request.caller, "too many steps begin at once");
    Begun begun{.request = std::move(request),
                .number = random_number(),
                .until = SteadyClock::now() + std::chrono::seconds(kUnitPatienceS)};
    if (begun.number.empty()) return refuse(begun.request.caller, "the system gives no random numbers");
    begun.unit = name_unit(begun.request.arguments, begun.number);
    if (const int fault = run_maker(begun); fault != 0)
        return refuse(begun.request.caller, "cannot run " + unit_maker_ + ": " + std::strerror(fault));
    begun_.push_back(std::move(begun));
}

void StepUnits::attend(int connection, pid_t who, const std::string& text) {
    const auto number = decode_attendance(text);
    const auto found = number ? std::ranges::find(begun_, *number, &Begun::number) : begun_.end();
    if (found == begun_.end()) {
        std::fprintf(stderr, "zbs-step: process %d comes for a step that is not begun\n", who);
        return;
    }
    std::array<int, kStarterDescriptors> all{};
    std::ranges::transform(found->request.given, all.begin(), &Descriptor::get);
    const int fault = send_message(connection, kStarterRequest, all);
    if (fault != 0) {
        refuse(found->request.caller, "cannot hand over to " + found->unit + ": " + std::strerror(fault));
    } else {
        answer(found->request.caller, {who, {}});
    }
    begun_.erase(found);
}

void StepUnits::record_ended(pid_t child, int status) {
    const auto found = std::ranges::find(begun_, child, &Begun::maker);
    if (found == begun_.end()) return;
    found->maker = 0;
    if (status == 0) return;
    const std::string said = read_complaint(found->complaints.get());
    refuse(found->request.caller, "the service manager begins no " + found->unit + ": " +
                                      (said.empty() ? "it does not say why" : said) + "; see 'journalctl -u " +
                                      found->unit + "'");
    begun_.erase(found);
}

void StepUnits::give_up_late() {
    const auto now = SteadyClock::now();
    while (!begun_.empty() && begun_.front().until <= now) {
        refuse(begun_.front().request.caller, begun_.front().unit + " does not begin within " +
                                                  std::to_string(kUnitPatienceS) + " s; see 'journalctl -u " +
                                                  begun_.front().unit + "'");
        begun_.pop_front();
    }
}

SteadyClock::time_point StepUnits::next() const {
    return begun_.empty() ? SteadyClock::time_point::max() : begun_.front().until;
}

}  // namespace zbs::step

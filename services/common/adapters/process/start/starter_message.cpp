#include "services/common/adapters/process/start/starter_message.hpp"

#include <algorithm>

#include "algorithms/base/text.hpp"

namespace zbs::process {
namespace {

constexpr std::string_view kStarted = "started ", kRefused = "refused ";
constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
constexpr std::size_t kMaxOperationInName = 120;  // a name has at most 255 bytes
constexpr std::size_t kNumberInName = 8;

}  // namespace

std::string encode_arguments(const std::vector<std::string>& arguments) {
    std::string text;
    for (const std::string& argument : arguments) {
        text += argument;
        text += '\0';
    }
    return text;
}

Result<std::vector<std::string>> decode_arguments(std::string_view text) {
    if (text.size() > kMaxSupervisorArgumentBytes ||
        static_cast<std::size_t>(std::ranges::count(text, '\0')) > kMaxSupervisorArguments)
        return Error{ErrorCode::kTooLarge,
                     "a supervisor takes at most " + std::to_string(kMaxSupervisorArguments) + " arguments of " +
                         std::to_string(kMaxSupervisorArgumentBytes) + " bytes together",
                     {}};
    if (text.empty() || text.back() != '\0') return invalid("the arguments of the supervisor are cut");
    if (!text.starts_with("--")) return invalid("the first argument of a supervisor must be an option");
    std::vector<std::string> arguments;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\0', at);
        arguments.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    return arguments;
}

std::optional<std::string> decode_attendance(std::string_view text) {
    if (!text.starts_with(kAttendance)) return std::nullopt;
    text.remove_prefix(kAttendance.size());
    if (text.size() != kRequestNumberLength || text.find_first_not_of(kDigits) != text.npos) return std::nullopt;
    return std::string(text);
}

std::string name_unit(const std::vector<std::string>& arguments, std::string_view number) {
    const auto option = std::ranges::find(arguments, "--operation");
    std::string name = option == arguments.end() || option + 1 == arguments.end()
                           ? "probe"
                           : (option + 1)->substr(0, kMaxOperationInName);
    for (char& letter : name)
        if (kLetters.find(letter) == kLetters.npos) letter = '_';
    return "zbs-step-" + name + "-" + std::string(number.substr(0, kNumberInName)) + ".service";
}

std::string encode(const StarterReply& reply) {
    if (reply.pid > 0) return std::string(kStarted) + std::to_string(reply.pid);
    return (std::string(kRefused) + reply.fault).substr(0, kMaxStarterReplyBytes);
}

std::optional<StarterReply> decode_starter_reply(std::string_view text) {
    if (text.size() > kMaxStarterReplyBytes) return std::nullopt;
    if (text.starts_with(kRefused)) return StarterReply{0, std::string(text.substr(kRefused.size()))};
    if (!text.starts_with(kStarted)) return std::nullopt;
    const auto pid = parse_number<pid_t>(text.substr(kStarted.size()));
    if (!pid || *pid <= 0) return std::nullopt;
    return StarterReply{*pid, {}};
}

}  // namespace zbs::process

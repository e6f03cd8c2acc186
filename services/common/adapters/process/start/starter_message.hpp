#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"

/// What is said between a service and the starter of its steps (`zbs-step serve`), one request and one reply on a
/// connection that keeps messages apart (SOCK_SEQPACKET). A request is `kStarterRequest` with four descriptors: the
/// arguments in a memory file, then what the supervisor gets: its log, the pipe of its answer, its StepInput.
///
/// A starter that has its steps begun by the service manager is asked for these four, at its socket's path and
/// `kStepSocketSuffix`, by the process that the service manager makes (`zbs-step attend`): with the number of the
/// request it was made for, once.
namespace zbs::process {

inline constexpr std::string_view kStarterRequest = "zbs-step start 1";
inline constexpr std::size_t kStarterDescriptors = 4;
inline constexpr std::string_view kStepSocketSuffix = ".steps";
inline constexpr std::string_view kAttendance = "zbs-step attend ";  ///< the number of the request follows
inline constexpr std::size_t kRequestNumberLength = 32;              ///< hexadecimal digits
/// A unit that has not come for its descriptors by then is given up.
inline constexpr int kUnitPatienceS = 5;
inline constexpr std::size_t kMaxStarterReplyBytes = 1'024;
/// Of the arguments of one supervisor, those of its job among them.
inline constexpr std::size_t kMaxSupervisorArgumentBytes = 1 << 20;
inline constexpr std::size_t kMaxSupervisorArguments = 16'384;
/// Of a control group that a starter divides, the one that it is in itself.
inline constexpr std::string_view kStarterGroup = "starter";

/// Precondition: no argument has a zero byte.
std::string encode_arguments(const std::vector<std::string>& arguments);
/// Errors: kTooLarge over the limits above; kInvalidArgument: cut, none, or the first is no option: a supervisor that
/// is started for somebody starts no others.
Result<std::vector<std::string>> decode_arguments(std::string_view text);

/// The number in what an attendant says; nothing where it is not as above.
std::optional<std::string> decode_attendance(std::string_view text);

/// A name for the step's unit: "zbs-step-OPERATION-NUMBER.service", with the operation of `arguments` (a probe has
/// none) as far as a unit's name may have it, and the first digits of the request's number.
std::string name_unit(const std::vector<std::string>& arguments, std::string_view number);

struct StarterReply {
    pid_t pid = 0;      ///< of the supervisor; 0: there is none
    std::string fault;  ///< why not
    bool operator==(const StarterReply&) const = default;
};

/// Cut to kMaxStarterReplyBytes.
std::string encode(const StarterReply& reply);
/// Nothing where `text` was not made by `encode`.
std::optional<StarterReply> decode_starter_reply(std::string_view text);

}  // namespace zbs::process

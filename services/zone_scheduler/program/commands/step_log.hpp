#pragma once
#include <string>

#include "services/common/codec/json/fields.hpp"

/// The lines of a log of steps (`part_log`), one JSON object each: what the machines of parts and of applications
/// share.
namespace zbs::codec {

/// How a step ended.
struct StepOutcome {
    std::string state;   ///< its word
    std::string sha256;  ///< of the whole state as JSON
    std::string error;   ///< of a step that failed; else empty
    bool operator==(const StepOutcome&) const = default;
};

inline constexpr const char* kStepKind =
    "event";  ///< sorts before all other keys of a line: `line_log_file` relies on it

inline constexpr std::int64_t kFarUs = std::int64_t{1} << 50;  ///< 35 years; sums of a few such times do not overflow
constexpr auto steady(const char* key, auto member) { return microseconds(key, member, -kFarUs, kFarUs); }
constexpr auto length(const char* key, auto member) { return microseconds(key, member, 0, kFarUs); }

inline constexpr auto kOutcome =
    fields<StepOutcome>(text("state", &StepOutcome::state, 32), digest("sha256", &StepOutcome::sha256),
                        optional(cut_text("error", &StepOutcome::error)));

}  // namespace zbs::codec

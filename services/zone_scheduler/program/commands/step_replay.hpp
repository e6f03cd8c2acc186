#pragma once
#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>

#include "services/zone_scheduler/program/commands/part_log_codec.hpp"

namespace zbs {

/// The result of taking all steps of a log once more.
struct StepReplay {
    struct Difference {
        std::size_t line = 0;
        std::string kind;   ///< "part" or "application"
        std::string id;     ///< of it
        std::string event;  ///< its word
        codec::StepOutcome logged, replayed;
    };
    std::size_t events = 0;  ///< compared
    std::size_t parts = 0, applications = 0;
    bool is_cut = false;  ///< the last line is unfinished, as a zone leaves it that is killed
    std::optional<Difference> first_difference{};
};

/// Stops at the first difference. Memory grows with what has not ended. Errors: a line that cannot be, or that does not
/// follow from those before it, at `name` and its number.
Result<StepReplay> replay_steps(std::istream& log, const std::string& name);

namespace codec {
Json encode(const StepReplay& replay);
}

}  // namespace zbs

#pragma once
#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>

#include "services/zone_scheduler/program/commands/part_log_codec.hpp"

namespace zbs {

/// The result of taking all steps of a log of parts again.
struct PartReplay {
    struct Difference {
        std::size_t line = 0;
        codec::LoggedStep logged;
        codec::PartOutcome replayed;
    };
    std::size_t events = 0;
    std::size_t parts = 0;
    bool is_cut = false;  ///< the last line is unfinished, as a zone leaves it that is killed
    std::optional<Difference> first_difference{};
};

/// Stops at the first difference. Memory grows with the parts that have not ended. Errors: a line that cannot be, or
/// that does not follow from those before it, at `name` and its number.
Result<PartReplay> replay_parts(std::istream& log, const std::string& name);

}  // namespace zbs

#pragma once
#include <string>

#include "client/cli/context.hpp"

namespace CLI {
class App;
}

/// Lists of applications, by as many pages of the home zone as they need.
namespace zbs::cli {

/// No list looks at more rows than this.
inline constexpr std::size_t kMostRowsLookedAt = 10'000;

/// Which applications a list is of, before `--filter` chooses among them.
struct ApplicationChoice {
    std::string states;  ///< words with commas between them; empty: what `--filter state=` says, else all
    std::string user;    ///< a name or a URI; empty: everybody whose applications the caller may see
    std::string since{};  ///< `command_line::parse_since`; empty: ever
    int limit = 100;
    bool limit_was_asked = false;  ///< whoever asks for three need not be told that there are more
    /// The zone pages by id, and ids carry the clocks of those who submitted: among so many rows the newest are found
    /// by the zone's own clock.
    std::size_t least_looked_at = 0;
    std::size_t most_looked_at = kMostRowsLookedAt;
};

/// "state=running" and so on: what completion offers for --filter.
std::vector<std::string> state_filters();

/// --state, --user and --limit.
void add_application_choice(CLI::App& command, ApplicationChoice& choice);

struct FoundApplications {
    Listing rows;     ///< truncated where there are more, or may be because `kMostRowsLookedAt` were looked at
    std::string cut;  ///< what to say of that, with the remedy; empty where there is nothing to say
};

/// The applications that pass the filters, newest first by the zone's clock, or with `--sort` the first of all: at most
/// `choice.limit`, with the columns that were asked for. Errors: as `listing::chosen`; kInvalidArgument (no such state,
/// no such user), kDenied (another's, and no operator), those of a call.
Result<FoundApplications> find_applications(const Context& context, client::ZoneClient& zone,
                                            const ApplicationChoice& choice);

}  // namespace zbs::cli

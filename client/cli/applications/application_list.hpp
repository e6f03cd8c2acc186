#pragma once
#include <string>
#include <vector>

#include "client/cli/context.hpp"
#include "services/common/messages/limits.hpp"

namespace CLI {
class App;
}

/// Lists of applications, by as many pages of the home zone as they need.
namespace zbs::cli {

/// No list that has to sort or to filter looks at more rows than this.
inline constexpr std::size_t kMaxRowsExamined = 10'000;

/// Which applications a list is of, before `--filter` chooses among them.
struct ApplicationChoice {
    std::string states;   ///< words with commas between them; empty: what `--filter state=` says, else all
    std::string user;     ///< a name or a URI; empty: everybody whose applications the caller may see
    std::string since{};  ///< `command_line::parse_since`; empty: ever
    std::string name{};   ///< a shell pattern that the name fits; empty: any
    int limit = 100;
    bool limit_was_asked = false;  ///< by the user: then no note that there are more
    std::size_t max_examined = kMaxRowsExamined;
};

/// The states of applications that have not ended, with commas between them.
std::string open_states();

/// "state=running" and so on: what completion offers for --filter.
std::vector<std::string> state_filters();

/// --state, --user and --limit.
void add_application_choice(CLI::App& command, ApplicationChoice& choice);

struct FoundApplications {
    Listing rows;  ///< truncated where there are more, or may be because `kMaxRowsExamined` were looked at
    std::vector<std::string> ids;  ///< of the rows
    std::string cut;               ///< what to say of that, with the remedy; empty where there is nothing to say
};

/// The applications that pass the filters, newest first by the zone's clock, or with `--sort` the first of all: at most
/// `choice.limit`, with the columns that were asked for. Errors: as `listing::chosen`; kInvalidArgument (no such state,
/// no such user), kDenied (another's, and no operator), those of a call.
Result<FoundApplications> find_applications(const Context& context, client::ZoneClient& zone,
                                            const ApplicationChoice& choice);

/// The same, with states in groups: those in a state of the first group stand before those of the second, with `--sort`
/// all where they belong. Of a group without ended ones all are looked at, however many there are.
Result<FoundApplications> find_applications(const Context& context, client::ZoneClient& zone,
                                            const ApplicationChoice& choice, const std::vector<std::string>& groups);

}  // namespace zbs::cli

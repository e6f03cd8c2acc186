#include "client/cli/applications/application_list.hpp"

#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <set>

#include "algorithms/base/suggestion.hpp"
#include "algorithms/base/text.hpp"
#include "client/cli/applications/application_view.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/json/words.hpp"
#include "services/common/codec/message_codec.hpp"

namespace zbs::cli {
namespace {

using codec::Json;

/// The states that a filter "state=running" leaves; empty where none is so.
std::string states_of(const std::vector<std::string>& filters) {
    for (const std::string& filter : filters) {
        const std::size_t at = filter.find('=');
        if (at == std::string::npos || !CLI::detail::to_lower(filter).starts_with("state=")) continue;
        return filter.substr(filter.compare(at, 2, "==") == 0 ? at + 2 : at + 1);
    }
    return {};
}

/// A filter is about one value: several states are no word that a row could have.
Result<void> check_state_filters(const std::vector<std::string>& filters) {
    for (const std::string& filter : filters) {
        const std::string lower = CLI::detail::to_lower(filter);
        if (!lower.starts_with("state=") && !lower.starts_with("state!=")) continue;
        const std::string words = filter.substr(filter.find_last_of('=') + 1);
        if (words.find(',') == std::string::npos) continue;
        return invalid(
            "'" + harmless_line(words) + "' is not one state; --state takes several: --state running,launching",
            "--filter");
    }
    return {};
}

/// Errors: kInvalidArgument (no state, with the nearest).
Result<void> check_states(std::string_view words, const char* option) {
    std::vector<std::string_view> known;
    for (const ApplicationState state : kAll<ApplicationState>) known.emplace_back(to_string(state));
    for (const std::string_view word : split(words, ','))
        if (!find_word<ApplicationState>(word))
            return invalid("there is no state '" + harmless_line(word) + "'" + did_you_mean(word, known), option);
    return {};
}

/// The instant that `since` names, where a zone can be asked for it. What it took six hours ago, its own clock says.
Result<std::optional<Time>> since_of(client::ZoneClient& zone, const ApplicationChoice& choice) {
    if (choice.since.empty()) return std::optional<Time>{};
    Time now = system::wall_clock();
    if (command_line::counts_from_now(choice.since))
        if (const Result<Time> clock = zone.clock()) now = *clock;
    const Result<Time> since = command_line::parse_since(choice.since, now);
    if (!since) return since.error();
    constexpr Time kLast = time_from_microseconds(253'402'300'799'000'000);  // of the year 9999
    return std::optional(std::clamp(*since, Time{}, kLast));
}

/// Whom `word` names. Errors: kInvalidArgument, kDenied (another, and the caller is no operator).
Result<Caller> owner_of(const std::string& word, const Caller& caller) {
    const bool is_name = word.find(':') == std::string::npos;
    const std::optional<Caller> owner =
        parse_identity(is_name ? to_uri({CallerKind::kUser, caller.organisation, word}) : word);
    if (!owner) return invalid("must be the name of a user, or spiffe://ORGANISATION/user/NAME", "--user");
    if (caller.kind != CallerKind::kOperator && !(*owner == caller))
        return Error{ErrorCode::kDenied, "only operators see the applications of others", "--user"};
    return *owner;
}

/// What the zone is asked: states, owner and the instant where the list begins.
Result<client::ZoneClient::ListQuery> query_of(const Context& context, client::ZoneClient& zone, const Caller& caller,
                                               const ApplicationChoice& choice) {
    if (const Result<void> good = check_state_filters(context.choice.filters); !good) return good.error();
    client::ZoneClient::ListQuery query{.states = choice.states};
    if (query.states.empty()) query.states = states_of(context.choice.filters);
    if (!query.states.empty()) {
        const Result<void> good = check_states(query.states, choice.states.empty() ? "--filter" : "--state");
        if (!good) return good.error();
    }
    if (!choice.user.empty()) {
        const Result<Caller> owner = owner_of(choice.user, caller);
        if (!owner) return owner.error();
        query.owner = to_uri(*owner);
    }
    const Result<std::optional<Time>> since = since_of(zone, choice);
    if (!since) return since.error();
    query.since = *since;
    return query;
}

/// Over the pages of lists.
class Walk {
  public:
    Walk(const Context& context, client::ZoneClient& zone, const ApplicationChoice& choice, const Caller& caller)
        : context_(context), zone_(zone), choice_(choice), caller_(caller) {}

    /// Adds those that fit to `found`, newest first, until there are more than `wanted` of them. True where there are
    /// more, or may be.
    Result<bool> collect(client::ZoneClient::ListQuery query, std::size_t wanted, std::size_t max_examined,
                         std::vector<ApplicationView>& found) {
        std::vector<ApplicationView> fitting;
        bool more = true;
        for (std::size_t examined_count = 0; more && examined_count < max_examined && fitting.size() <= wanted;) {
            query.limit = chooses_here() ? limits::kMaxApplicationRows
                                         : std::min(limits::kMaxApplicationRows - 1, wanted - fitting.size()) + 1;
            const Result<Json> page = zone_.list(query);
            if (!page) return page.error();
            client::ApplicationListView list = client::decode_application_list(*page);
            examined_count += list.applications.size();
            if (auto added = add_fitting(std::move(list.applications), fitting); !added) return added.error();
            query.after = std::move(list.next);
            more = !query.after.empty();
        }
        std::ranges::stable_sort(fitting, std::greater<>(), &ApplicationView::submitted);
        for (ApplicationView& row : fitting)  // between two walks one may have come to another state
            if (seen_.insert(row.id).second) found.push_back(std::move(row));
        return more;
    }

  private:
    /// Whether not all rows of a page are wanted, as far as is known before.
    bool chooses_here() const {
        return !context_.choice.sort.empty() || !context_.choice.filters.empty() || !choice_.name.empty();
    }

    Result<void> add_fitting(std::vector<ApplicationView> rows, std::vector<ApplicationView>& fitting) const {
        std::erase_if(rows, [this](const ApplicationView& row) {
            return !choice_.name.empty() && fnmatch(choice_.name.c_str(), row.name.c_str(), 0) != 0;
        });
        const Result<Listing> kept = chosen(applications_of(rows, caller_), {.filters = context_.choice.filters});
        if (!kept) return kept.error();
        for (const Json& item : kept->items) fitting.push_back(client::decode_application_view(item));
        return {};
    }

    const Context& context_;
    client::ZoneClient& zone_;
    const ApplicationChoice& choice_;
    const Caller& caller_;
    std::set<std::string> seen_;
};

/// Of the words those that are in `group`, too; with no words all of the group.
std::string common_states(const std::string& words, const std::string& group) {
    if (words.empty()) return group;
    std::string common;
    for (const ApplicationState state : kAll<ApplicationState>) {
        const std::string word = "," + std::string(to_string(state)) + ",";
        const auto names = [&](const std::string& list) { return ("," + list + ",").find(word) != std::string::npos; };
        if (names(words) && names(group)) common += (common.empty() ? "" : ",") + std::string(to_string(state));
    }
    return common;
}

bool has_ended_states(const std::string& words) {
    return common_states(words, open_states()) != common_states(words, words);
}

void keep_first(Listing& listing, std::size_t count) {
    if (listing.rows.size() <= count) return;
    listing.rows.erase(listing.rows.begin() + static_cast<std::ptrdiff_t>(count), listing.rows.end());
    listing.items.erase(listing.items.begin() + static_cast<std::ptrdiff_t>(count), listing.items.end());
}

}  // namespace

void add_application_choice(CLI::App& command, ApplicationChoice& choice) {
    command_line::Offers states{.words = {}, .is_list = true};
    for (const ApplicationState state : kAll<ApplicationState>) states.words.push_back(to_string(state));
    command_line::offer(command.add_option("--state", choice.states, "only in one of these states: running,launching"),
                        states);
    command.add_option("--user", choice.user, "for operators: only this user's, by name or spiffe://...");
    command.add_option("--limit", choice.limit, "at most this many")
        ->check(command_line::whole_number_in(1, static_cast<int>(kMaxRowsExamined)))
        ->each([&choice](const std::string&) { choice.limit_was_asked = true; })
        ->capture_default_str();
}

std::string open_states() {
    std::string states;
    for (const ApplicationState state : kAll<ApplicationState>)
        if (!is_final(state)) states += (states.empty() ? "" : ",") + std::string(to_string(state));
    return states;
}

std::vector<std::string> state_filters() {
    std::vector<std::string> filters;
    for (const ApplicationState state : kAll<ApplicationState>)
        filters.push_back(std::string("state=") + to_string(state));
    return filters;
}

Result<FoundApplications> find_applications(const Context& context, client::ZoneClient& zone,
                                            const ApplicationChoice& choice) {
    return find_applications(context, zone, choice, {});
}

Result<FoundApplications> find_applications(const Context& context, client::ZoneClient& zone,
                                            const ApplicationChoice& choice, const std::vector<std::string>& groups) {
    const Caller caller = context.caller(zone);
    // A wrong word is reported before any request.
    if (const auto good = chosen(applications_of({}, caller), context.choice); !good) return good.error();
    const Result<client::ZoneClient::ListQuery> query = query_of(context, zone, caller, choice);
    if (!query) return query.error();
    const bool needs_all = !context.choice.sort.empty();
    const auto limit = static_cast<std::size_t>(choice.limit);
    Walk walk(context, zone, choice, caller);
    std::vector<ApplicationView> found;
    bool more = false;
    const auto collect = [&](const std::string& states, std::size_t max_examined) -> Result<void> {
        client::ZoneClient::ListQuery part = *query;
        part.states = states;
        const std::size_t wanted =
            needs_all ? std::numeric_limits<std::size_t>::max() - 1 : limit - std::min(limit, found.size());
        const Result<bool> left = walk.collect(part, wanted, max_examined, found);
        if (!left) return left.error();
        more = more || *left;
        return {};
    };
    if (groups.empty()) {
        if (const auto done = collect(query->states, choice.max_examined); !done) return done.error();
    }
    for (const std::string& group : groups) {
        const std::string states = common_states(query->states, group);
        if (states.empty() || (!needs_all && found.size() > limit)) continue;
        const std::size_t most =
            has_ended_states(states) ? choice.max_examined : std::numeric_limits<std::size_t>::max();
        if (const auto done = collect(states, most); !done) return done.error();
    }
    std::optional<Time> now;
    if (std::ranges::any_of(found, runs_still))
        if (const Result<Time> clock = zone.clock()) now = *clock;
    Result<Listing> sorted = chosen(applications_of(found, caller, now), {.sort = context.choice.sort});
    if (!sorted) return sorted.error();
    std::string cut;
    if (more && (needs_all || found.size() <= limit))
        cut = "only the newest " + std::to_string(kMaxRowsExamined) +
              " applications were looked at, and there are more; --state and --user choose before that";
    else if (found.size() > limit && !choice.limit_was_asked)
        cut = "there are more than these " + std::to_string(limit) + "; --limit takes more of them";
    sorted->truncated = !cut.empty() || found.size() > limit;
    keep_first(*sorted, limit);
    std::vector<std::string> ids;
    for (const Json& item : sorted->items) ids.push_back(client::decode_application_view(item).id);
    Result<Listing> rows = chosen(*std::move(sorted), {.columns = context.choice.columns});
    if (!rows) return rows.error();
    rows->has_header = !context.choice.no_header;
    return FoundApplications{*std::move(rows), std::move(ids), std::move(cut)};
}

}  // namespace zbs::cli

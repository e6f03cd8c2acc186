#include "client/cli/application_list.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>

#include "algorithms/base/suggestion.hpp"
#include "client/cli/application_view.hpp"
#include "services/common/adapters/command_line/offers.hpp"
#include "services/common/adapters/command_line/since.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/words.hpp"
#include "services/common/messages/limits.hpp"

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

/// Errors: kInvalidArgument (no state, with the nearest).
Result<void> check_states(std::string_view words, const char* option) {
    std::vector<std::string_view> known;
    for (const ApplicationState state : codec::kApplicationStates) known.emplace_back(to_string(state));
    for (;;) {
        const std::size_t end = std::min(words.find(','), words.size());
        const std::string_view word = words.substr(0, end);
        if (std::ranges::find(known, word) == known.end())
            return invalid("there is no state '" + harmless_line(word) + "'" + did_you_mean(word, known), option);
        if (end == words.size()) return {};
        words.remove_prefix(end + 1);
    }
}

/// What the zone is asked: states and owner.
Result<client::ZoneClient::ListQuery> query_of(const Context& context, const Caller& caller,
                                               const ApplicationChoice& choice) {
    client::ZoneClient::ListQuery query{.states = choice.states};
    if (query.states.empty()) query.states = states_of(context.choice.filters);
    if (!query.states.empty()) {
        const Result<void> good = check_states(query.states, choice.states.empty() ? "--filter" : "--state");
        if (!good) return good.error();
    }
    if (choice.user.empty()) return query;
    const bool is_name = choice.user.find(':') == std::string::npos;
    const std::optional<Caller> owner =
        parse_identity(is_name ? to_uri({CallerKind::kUser, caller.organisation, choice.user}) : choice.user);
    if (!owner) return invalid("must be the name of a user, or spiffe://ORGANISATION/user/NAME", "--user");
    if (caller.kind != CallerKind::kOperator && !(*owner == caller))
        return Error{ErrorCode::kDenied, "only operators see the applications of others", "--user"};
    query.owner = to_uri(*owner);
    return query;
}

void keep_first(Listing& listing, std::size_t count) {
    if (listing.rows.size() <= count) return;
    listing.rows.erase(listing.rows.begin() + static_cast<std::ptrdiff_t>(count), listing.rows.end());
    listing.items.erase(listing.items.begin() + static_cast<std::ptrdiff_t>(count), listing.items.end());
}

}  // namespace

void add_application_choice(CLI::App& command, ApplicationChoice& choice) {
    command_line::Offers states{.words = {}, .is_list = true};
    for (const ApplicationState state : codec::kApplicationStates) states.words.push_back(to_string(state));
    command_line::offer(command.add_option("--state", choice.states, "only in one of these states: running,launching"),
                        states);
    command.add_option("--user", choice.user, "for operators: only this user's, by name or spiffe://...");
    command.add_option("--limit", choice.limit, "at most this many")
        ->check(command_line::whole_number_in(1, static_cast<int>(kMostRowsLookedAt)))
        ->each([&choice](const std::string&) { choice.limit_was_asked = true; })
        ->capture_default_str();
}

std::vector<std::string> state_filters() {
    std::vector<std::string> filters;
    for (const ApplicationState state : codec::kApplicationStates)
        filters.push_back(std::string("state=") + to_string(state));
    return filters;
}

Result<FoundApplications> find_applications(const Context& context, client::ZoneClient& zone,
                                            const ApplicationChoice& choice) {
    const Caller caller = context.caller(zone);
    Result<client::ZoneClient::ListQuery> query = query_of(context, caller, choice);
    if (!query) return query.error();
    // A wrong word is told before anything is asked.
    if (const auto good = chosen(applications_of(Json::array(), caller), context.choice); !good) return good.error();
    std::int64_t since_us = std::numeric_limits<std::int64_t>::min();
    if (!choice.since.empty()) {
        const Result<Time> since = command_line::parse_since(choice.since, system::wall_clock());
        if (!since) return since.error();
        since_us = to_microseconds(*since);
    }
    const bool needs_all = !context.choice.sort.empty(), needs_many = needs_all || choice.least_looked_at > 0 ||
                                                                      !context.choice.filters.empty() ||
                                                                      !choice.since.empty();
    const auto limit = static_cast<std::size_t>(choice.limit);
    const auto submitted_us = [](const Json& row) { return row.value("submitted_us", std::int64_t{0}); };
    Json found = Json::array();
    bool more = true;
    for (std::size_t looked_at = 0; more && looked_at < choice.most_looked_at &&
                                    (needs_all || found.size() <= limit || looked_at < choice.least_looked_at);) {
        query->limit =
            needs_many ? limits::kMaxApplicationRows : std::min(limits::kMaxApplicationRows, limit + 1 - found.size());
        const Result<Json> page = zone.list(*query);
        if (!page && page.error().code == ErrorCode::kInvalidArgument && choice.states.empty() &&
            !query->states.empty()) {
            query->states.clear();  // a zone that is older than this question: the filter does it alone
            continue;
        }
        if (!page) return page.error();
        const Json rows = page->value("applications", Json::array());
        Json recent = Json::array();
        for (const Json& row : rows)
            if (submitted_us(row) >= since_us) recent.push_back(row);
        const Result<Listing> kept = chosen(applications_of(recent, caller), {.filters = context.choice.filters});
        if (!kept) return kept.error();
        for (const Json& item : kept->items) found.push_back(item);
        looked_at += rows.size();
        query->after = text_of(*page, "next");
        // The order is that of ids, whose times are those of their clients: a page of old ones alone is the end.
        more = !query->after.empty() && (recent.size() > 0 || rows.empty());
    }
    std::stable_sort(found.begin(), found.end(),
                     [&](const Json& a, const Json& b) { return submitted_us(a) > submitted_us(b); });
    Result<Listing> sorted = chosen(applications_of(found, caller), {.sort = context.choice.sort});
    if (!sorted) return sorted.error();
    std::string cut;
    if (more && (needs_all || found.size() <= limit))
        cut = "only the newest " + std::to_string(kMostRowsLookedAt) +
              " applications were looked at, and there are more; --state and --user choose before that";
    else if (found.size() > limit && !choice.limit_was_asked)
        cut = "there are more than these " + std::to_string(limit) + "; --limit takes more of them";
    sorted->truncated = !cut.empty() || found.size() > limit;
    keep_first(*sorted, limit);
    Result<Listing> rows = chosen(*std::move(sorted), {.columns = context.choice.columns});
    if (!rows) return rows.error();
    rows->has_header = !context.choice.no_header;
    return FoundApplications{*std::move(rows), std::move(cut)};
}

}  // namespace zbs::cli

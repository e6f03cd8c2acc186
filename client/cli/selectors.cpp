#include "client/cli/selectors.hpp"

#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "algorithms/base/ids.hpp"
#include "client/cli/application_list.hpp"
#include "client/cli/application_view.hpp"
#include "services/common/adapters/command_line/offers.hpp"

namespace zbs::cli {
namespace {

using codec::Json;

constexpr const char* kName = "name=";
constexpr const char* kHelp =
    "an id, 'last' (your newest by the zone's clock, of the 10,000 with the newest ids), 'name=PATTERN' (a shell "
    "pattern: "
    "*, ?, [a-z])";

/// The caller's own, newest first by the zone's clock: an operator, who sees everybody's, means hers too.
Result<Json> own_applications(const Context& context, client::ZoneClient& zone) {
    Context plain = context;
    plain.choice = {};
    ApplicationChoice choice{
        .states = {}, .user = {}, .limit = static_cast<int>(kMostRowsLookedAt), .limit_was_asked = true};
    const Caller caller = context.caller(zone);
    if (caller.kind == CallerKind::kOperator) choice.user = to_uri(caller);
    Result<FoundApplications> found = find_applications(plain, zone, choice);
    if (!found) return found.error();
    return std::move(found->rows.items);
}

void add_once(std::vector<std::string>& ids, const std::string& id) {
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
}

Error nothing_named(const std::string& word, Meant meant) {
    const std::string what = meant == Meant::kOpen ? "application of yours that has not ended" : "application of yours";
    const std::string how = word == "all" || word == "last" ? "" : " has a name like " + ascii(word.substr(5));
    return {ErrorCode::kNotFound, (how.empty() ? "there is no " : "no ") + what + how + "; 'zbs list' shows them", {}};
}

/// Of `all` and of a pattern.
std::vector<std::string> matches(const Json& applications, const std::string& word, Meant meant) {
    std::vector<std::string> open, ended;
    for (const Json& one : applications) {
        if (word != "all" && fnmatch(word.substr(5).c_str(), text_of(one, "name").c_str(), 0) != 0) continue;
        if (meant == Meant::kNewest) return {text_of(one, "id")};
        (is_ended(text_of(one, "state")) ? ended : open).push_back(text_of(one, "id"));
    }
    if (open.empty() && meant == Meant::kOpenElseNewest && word != "all" && !ended.empty()) return {ended.front()};
    return open;
}

}  // namespace

bool check_selectors(Context& context, const std::vector<std::string>& words, Meant meant) {
    for (const std::string& word : words) {
        const bool is_pattern = word.starts_with(kName) && word.size() > 5;
        if (parse_id128(word) || word == "last" || is_pattern || (word == "all" && meant != Meant::kNewest)) continue;
        const std::string all = meant == Meant::kNewest ? "" : ", 'all'";
        context.fail(invalid("'" + ascii(word) + "' is no id (26 characters; 'zbs list' shows them), and not 'last'" +
                             all + " or 'name=PATTERN'"));
        return false;
    }
    return true;
}

Result<std::vector<std::string>> find_selected(const Context& context, client::ZoneClient& zone,
                                               const std::vector<std::string>& words, Meant meant) {
    std::vector<std::string> ids;
    for (const std::string& word : words) {
        if (parse_id128(word)) {
            add_once(ids, word);
            continue;
        }
        const Result<Json> own = own_applications(context, zone);
        if (!own) return own.error();
        const std::vector<std::string> found = word != "last" ? matches(*own, word, meant)
                                               : own->empty() ? std::vector<std::string>{}
                                                              : std::vector<std::string>{text_of(own->front(), "id")};
        if (found.empty()) return nothing_named(word, word == "last" ? Meant::kNewest : meant);
        for (const std::string& id : found) add_once(ids, id);
    }
    return ids;
}

bool may_name_many(const std::vector<std::string>& words) {
    return std::ranges::any_of(words, [](const std::string& word) { return word == "all" || word.starts_with(kName); });
}

void add_selector(CLI::App& command, std::string& id) {
    command_line::offer(command.add_option("id", id, std::string("application: ") + kHelp)->required(),
                        {.words = {"last", kName}, .kind = "applications"});
}

void add_selectors(CLI::App& command, std::vector<std::string>& ids) {
    command_line::offer(
        command.add_option("id", ids, std::string("applications: ") + kHelp + ", 'all' (yours that have not ended)")
            ->required(),
        {.words = {"last", "all", kName}, .kind = "open-applications"});
}

}  // namespace zbs::cli

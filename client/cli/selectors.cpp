#include "client/cli/selectors.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include "algorithms/base/ids.hpp"
#include "client/cli/applications/application_list.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/codec/json/words.hpp"

namespace zbs::cli {
namespace {

using codec::Json;

constexpr const char* kName = "name=";
constexpr const char* kHelp =
    "an id, 'last' (your newest by the zone's clock), 'name=PATTERN' (a shell pattern: *, ?, [a-z])";
constexpr std::size_t kNoEnd = std::numeric_limits<std::size_t>::max();

/// The caller's own that fit (with `states` those that have not ended), newest first by the zone's clock: an operator,
/// who sees everybody's, means hers too.
Result<std::vector<std::string>> own_applications(const Context& context, client::ZoneClient& zone,
                                                  ApplicationChoice choice) {
    Context plain = context;
    plain.choice = {};
    const Caller caller = context.caller(zone);
    if (caller.kind == CallerKind::kOperator) choice.user = to_uri(caller);
    const Result<FoundApplications> found = find_applications(plain, zone, choice);
    if (!found) return found.error();
    return found->ids;
}

void add_once(std::vector<std::string>& ids, const std::string& id) {
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
}

Error nothing_named(const std::string& word, SelectionMode mode) {
    if (word == "last") return {ErrorCode::kNotFound, "there is no application of yours; 'zbs list' shows them", {}};
    const std::string what =
        mode == SelectionMode::kOpen ? "application of yours that has not ended" : "application of yours";
    return {ErrorCode::kNotFound,
            "no " + what + " has a name like " + ascii(word.substr(5)) + "; 'zbs list' shows them",
            {}};
}

/// What one word names that is no id.
Result<std::vector<std::string>> find_named(const Context& context, client::ZoneClient& zone, const std::string& word,
                                            SelectionMode mode) {
    const std::string name = word.starts_with(kName) ? word.substr(5) : "";
    if (word != "last" && mode != SelectionMode::kNewest) {
        Result<std::vector<std::string>> open = own_applications(context, zone,
                                                                 {.states = open_states(),
                                                                  .name = name,
                                                                  .limit = std::numeric_limits<int>::max() - 1,
                                                                  .max_examined = kNoEnd});
        if (!open || !open->empty() || word == "all" || mode == SelectionMode::kOpen) return open;
    }
    return own_applications(context, zone, {.states = {}, .name = name, .limit = 1, .max_examined = kNoEnd});
}

}  // namespace

bool check_selectors(Context& context, const std::vector<std::string>& words, SelectionMode mode) {
    for (const std::string& word : words) {
        const bool is_pattern = word.starts_with(kName) && word.size() > 5;
        if (parse_id128(word) || word == "last" || is_pattern || (word == "all" && mode != SelectionMode::kNewest))
            continue;
        const std::string all = mode == SelectionMode::kNewest ? "" : ", 'all'";
        context.fail(invalid("'" + ascii(word) + "' is no id (26 characters; 'zbs list' shows them), and not 'last'" +
                             all + " or 'name=PATTERN'"));
        return false;
    }
    return true;
}

Result<std::vector<std::string>> find_selected(const Context& context, client::ZoneClient& zone,
                                               const std::vector<std::string>& words, SelectionMode mode) {
    std::vector<std::string> ids;
    for (const std::string& word : words) {
        if (parse_id128(word)) {
            add_once(ids, word);
            continue;
        }
        const Result<std::vector<std::string>> found = find_named(context, zone, word, mode);
        if (!found) return found.error();
        if (found->empty() && word != "all") return nothing_named(word, mode);
        for (const std::string& id : *found) add_once(ids, id);
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

#include "services/zone_scheduler/program/commands/peer_options.hpp"

#include <CLI/CLI.hpp>

#include "algorithms/base/duration_text.hpp"
#include "algorithms/base/text.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/trust/site_policy/rights_text.hpp"

namespace zbs::zone_program {
namespace {

/// Sets `value` from its text; the error names the option.
template <class Value, class Parse>
Result<void> read(const std::string& text, const char* option, Parse parse, std::optional<Value>& value) {
    if (text.empty()) return {};
    auto parsed = parse(text);
    if (!parsed) return invalid(parsed.error().message, option);
    value = *std::move(parsed);
    return {};
}

std::vector<std::string> texts_of(const std::vector<std::string_view>& parts) { return {parts.begin(), parts.end()}; }

}  // namespace

void add_rights(CLI::App* command, PeerWish& wish) {
    const std::string none = "; for none, 'zbs-zone peer suspend' or 'reject'";
    command->add_option("--processors", wish.processors, "at once, all its parts together (default: the whole zone)")
        ->check(command_line::whole_number_in(0, limits::kMaxRanks));
    command->add_option("--walltime", wish.walltime, "of one part, at most, e.g. 2h (default: 24h)")
        ->check(command_line::something("write a time as 2h" + none));
    command->add_option("--parts", wish.parts, "at once (default: one per processor)")
        ->check(command_line::whole_number_in(0, limits::kMaxRanks));
    command->add_option("--hours", wish.hours, "when parts may start, UTC, e.g. 18:00-08:00; 'all'")
        ->check(command_line::something("write 'all' for all day" + none));
    command
        ->add_option(
            "--weekdays", wish.weekdays,
            "on which days, e.g. mon-fri; 'all'. Of hours over midnight the day (UTC) of the start itself counts: "
            "22:00-06:00 on mon is Monday until 6:00 and Monday from 22:00")
        ->check(command_line::something("write 'all' for every day" + none));
    command->add_option("--partitions", wish.partitions, "on which partitions, with commas; 'all'")
        ->check(command_line::something("write 'all' for all partitions" + none));
    command->add_option("--share", wish.share, "of the zone's processors at once, 0 to 1")
        ->check(command_line::number_in(0.0, 1.0));
    command
        ->add_option("--overcommit", wish.overcommit,
                     "ranks that may share a processor, as far as the zone's 'max_overcommit' allows it")
        ->check(command_line::whole_number_in(1, limits::kMaxOvercommit));
    command->add_option("--account", wish.account, "map (the account map decides), account:NAME or pool:NAME")
        ->check(command_line::something("write 'map' for the account map"));
    CLI::Option* needed =
        command->add_flag("--delegation", wish.delegation, "every part needs its user's delegation (default)");
    command->add_flag("--no-delegation", wish.no_delegation, "its word is enough")->excludes(needed);
    const std::string floor = " at trust 0 (default: a tenth)";
    command->add_option("--floor-processors", wish.floor_processors, "processors" + floor)
        ->check(command_line::whole_number_in(0, limits::kMaxRanks));
    command->add_option("--floor-walltime", wish.floor_walltime, "walltime" + floor)
        ->check(command_line::something("write a time as 2h"));
    command->add_option("--floor-parts", wish.floor_parts, "parts" + floor)
        ->check(command_line::whole_number_in(0, limits::kMaxRanks));
    command->add_option("--initial-trust", wish.initial_trust, "0 to 1, before it has a history (default: 0.5)")
        ->check(command_line::number_in(0.0, 1.0));
}

Result<PeeringChange> change_of(const PeerWish& wish, PeeringVerb verb) {
    PeeringChange change{.verb = verb, .fingerprint = wish.fingerprint, .reason = wish.reason};
    if (!wish.bundle_file.empty()) {
        auto text = process::read_file(wish.bundle_file, limits::kMaxBundleBytes);
        if (!text) return Error{ErrorCode::kNotFound, "cannot be read", wish.bundle_file};
        change.bundle = *std::move(text);
    }
    RightsChange& rights = change.rights;
    const auto count = [](int value) { return value < 0 ? std::optional<int>{} : std::optional<int>{value}; };
    rights.processors = count(wish.processors);
    rights.concurrent_parts = count(wish.parts);
    rights.floor_processors = count(wish.floor_processors);
    rights.floor_parts = count(wish.floor_parts);
    if (auto ok = read(wish.walltime, "--walltime", parse_duration, rights.walltime); !ok) return ok.error();
    if (auto ok = read(wish.floor_walltime, "--floor-walltime", parse_duration, rights.floor_walltime); !ok)
        return ok.error();
    if (wish.hours == "all")
        rights.hours.emplace();
    else if (auto ok = read(wish.hours, "--hours", parse_hours, rights.hours); !ok)
        return ok.error();
    if (wish.weekdays == "all")
        rights.weekdays = kEveryWeekday;
    else if (auto ok = read(wish.weekdays, "--weekdays", parse_weekdays, rights.weekdays); !ok)
        return ok.error();
    if (wish.partitions == "all")
        rights.partitions.emplace();
    else if (!wish.partitions.empty())
        rights.partitions = texts_of(split(wish.partitions, ','));
    if (wish.share >= 0) rights.share = wish.share;
    if (wish.overcommit > 0) rights.overcommit = wish.overcommit;
    if (!wish.account.empty()) rights.account_rule = wish.account;
    if (wish.delegation || wish.no_delegation) rights.require_delegation = wish.delegation;
    if (wish.initial_trust >= 0) change.initial_trust = wish.initial_trust;
    return change;
}

}  // namespace zbs::zone_program

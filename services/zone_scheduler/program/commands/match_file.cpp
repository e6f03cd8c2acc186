#include "services/zone_scheduler/program/commands/match_file.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "algorithms/base/duration_text.hpp"
#include "algorithms/base/expects.hpp"
#include "algorithms/queue/discipline.hpp"
#include "services/common/adapters/system/config_file.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/config/zone_config_file.hpp"
#include "services/zone_scheduler/program/commands/match_codec.hpp"

namespace zbs::zone_program {
namespace {

using codec::Json;
using listing::Cell;
using listing::Listing;
using system::ConfigFile;

constexpr std::size_t kLongestPartName = 32;
constexpr std::size_t kMachinesWidth = 34;  ///< a row has at most 120 columns, up to day 99

Duration span_of(ConfigFile& file, const std::string& key, Duration fallback) {
    if (!file.has(key)) return fallback;
    const Result<Duration> span = parse_duration(file.text(key, ""));
    if (span) return *span;
    file.fail(key, "'" + key + "': " + span.error().message);
    return fallback;
}

MatchPart part_of(ConfigFile& file, const std::string& at, const ZoneConfig& zone) {
    MatchPart part{.name = file.required_text(at + "name"),
                   .organisation = OrganisationName(file.text(at + "organisation", zone.organisation)),
                   .ranks = static_cast<int>(file.integer(at + "ranks", 1, 1, limits::kMaxRanks))};
    if (!is_valid_name(part.name) || part.name.size() > kLongestPartName)
        file.fail(at + "name", "'name' of a [[part]] must be 1 to " + std::to_string(kLongestPartName) +
                                   " of a-z 0-9 . _ -, starting with a letter or digit");
    if (!is_valid_name(part.organisation))
        file.fail(at + "organisation",
                  "'organisation' must be 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit");
    const int processors = zone.zone.processor_count();
    if (part.ranks > processors)
        file.fail(at + "ranks", "part '" + part.name + "' has " + std::to_string(part.ranks) + " ranks, the zone " +
                                    std::to_string(processors) + " processors; lower 'ranks', or add a [[machine]]");
    file.required_text(at + "walltime");
    part.walltime = span_of(file, at + "walltime", Duration{1});
    part.runtime = span_of(file, at + "runtime", part.walltime);
    part.submit = span_of(file, at + "submit", Duration{0});
    part.start_in = span_of(file, at + "start_in", Duration{0});
    if (part.walltime <= Duration{0}) file.fail(at + "walltime", "'walltime' must be more than 0");
    if (part.runtime <= Duration{0} || part.runtime > part.walltime)
        file.fail(at + "runtime",
                  "'runtime' must be more than 0 and at most the walltime, at which the zone ends the part");
    if (part.start_in > zone.reserve_ahead)
        file.fail(at + "start_in", "'start_in' is more than the " + format_duration(zone.reserve_ahead) +
                                       " for which the zone promises starts; lower it, or raise 'reserve_ahead_s' of "
                                       "[timing]");
    return part;
}

std::vector<MatchPart> parts_of(ConfigFile& file, const ZoneConfig& zone) {
    if (zone.zone.machines.empty())
        file.fail("slurm", "the nodes of Slurm are not known without Slurm; put [[machine]] in place of [slurm]");
    else if (zone.zone.processor_count() > limits::kMaxRanks)
        file.fail("machine", "all machines together have more than " + std::to_string(limits::kMaxRanks) +
                                 " processors; leave some of them out");
    if (zone.queue.empty())
        file.fail("queue", "parts wait in the queue of the zone: set 'queue' to a discipline, e.g. queue = \"easy\"");
    const auto processors = static_cast<std::int32_t>(std::max<std::size_t>(zone.zone.processor_count(), 1));
    if (const auto made = queue_discipline(zone.queue, processors); made && made->needs_agents())
        file.fail("queue",
                  "parts of this policy share processors, so none has the run time of the file; use "
                  "zbs simulate, or a policy such as easy");
    const std::size_t count = file.table_count("part");
    if (count == 0) file.fail("part", "at least one [[part]] is needed, with name, ranks and walltime");
    if (count > limits::kMaxMatchParts)
        file.fail("part", "more than " + std::to_string(limits::kMaxMatchParts) + " [[part]] tables; leave some out");
    std::vector<MatchPart> parts;
    std::map<std::string, std::string> places;  // of names
    for (std::size_t i = 0; i < std::min(count, limits::kMaxMatchParts); ++i) {
        const std::string at = "part." + std::to_string(i) + ".";
        parts.push_back(part_of(file, at, zone));
        const auto [first, is_new] = places.try_emplace(parts.back().name, file.place(at + "name"));
        if (!is_new)
            file.fail(at + "name", "a [[part]] is called '" + parts.back().name + "' already, in " + first->second +
                                       "; give this one another name");
    }
    return parts;
}

/// "00:10:00", "1-00:00:00", which `parse_duration` reads; without fractions of a second.
std::string instant_text(Duration at) {
    const std::int64_t seconds = at / std::chrono::seconds{1}, days = seconds / 86'400;
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%02d:%02d:%02d", static_cast<int>(seconds / 3'600 % 24),
                  static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60));
    return (days > 0 ? std::to_string(days) + "-" : "") + text.data();
}

Cell instant_cell(const std::optional<Duration>& at) {
    return at ? Cell(instant_text(*at), Json(to_seconds(*at))) : Cell("-");
}

/// "m0:0-3,6".
std::string share_text(const MachineShare& share) {
    std::string text = share.machine + ":";
    const std::vector<std::int32_t>& all = share.processors;
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
        for (end = begin + 1; end < all.size() && all[end] == all[end - 1] + 1;) ++end;
        text += (begin > 0 ? "," : "") + std::to_string(all[begin]);
        if (end - begin > 1) text += "-" + std::to_string(all[end - 1]);
    }
    return text;
}

/// As many machines as fit into the column, and how many more.
std::string machines_text(const std::vector<MachineShare>& shares) {
    std::string text;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const std::string next = (i > 0 ? " " : "") + share_text(shares[i]);
        const std::string more = (i > 0 ? " +" : "+") + std::to_string(shares.size() - i) + " machines";
        const std::size_t reserved = i + 1 < shares.size() ? more.size() : 0;
        if (text.size() + next.size() + reserved > kMachinesWidth) return text + more;
        text += next;
    }
    return text.empty() ? "-" : text;
}

}  // namespace

Result<MatchFile> read_match_file(const std::string& path, const std::string& partition) {
    MatchFile read;
    Result<ZoneSettings> settings = read_zone_settings(path, {}, {}, [&](ConfigFile& file, const ZoneConfig& zone) {
        const auto own = std::ranges::find(zone.partitions, partition, &PartitionConfig::name);
        read.zone = zone.partitions.empty() ? zone : config_of(zone, own == zone.partitions.end() ? nullptr : &*own);
        const bool is_unknown = !partition.empty() && own == zone.partitions.end();
        if (is_unknown || (read.zone.zone.machines.empty() && !zone.zone.machines.empty())) {
            std::string names;
            for (const PartitionConfig& one : zone.partitions) names += (names.empty() ? "" : ", ") + one.name;
            file.fail("partition", names.empty() ? "no [[partition]] here: leave --partition out"
                                                 : "name a queue by --partition, one of " + names);
            read.zone = zone;  // for other faults
        }
        read.parts = parts_of(file, read.zone);
    });
    if (!settings) return settings.error();
    return read;
}

Listing matches_of(const std::vector<MatchPart>& parts, const std::vector<Match>& matches) {
    ZBS_EXPECTS(parts.size() == matches.size());
    Listing listing{"parts",
                    {"PART",
                     {"ORGANISATION", true},
                     {"RANKS", true},
                     {"SUBMITTED", "submitted_s"},
                     {"START", "start_s"},
                     {"END", "end_s"},
                     "MACHINES",
                     "WAITS FOR",
                     {"REFUSED", true}}};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const MatchPart& part = parts[i];
        const Match& match = matches[i];
        const std::vector<MachineShare> shares = shares_of(match);
        const std::string waits_for = match.waits_for ? to_string(*match.waits_for) : "";
        listing.items.push_back(codec::encode_match(part, match));
        listing.rows.push_back({part.name, std::string(part.organisation), part.ranks, instant_cell(part.submit),
                                instant_cell(match.start), instant_cell(match.end),
                                Cell(machines_text(shares), codec::encode_shares(shares)),
                                !match.refused.empty() ? "refused"
                                : waits_for.empty()    ? "-"
                                                       : waits_for,
                                match.refused.empty() ? "-" : match.refused});
    }
    return listing;
}

}  // namespace zbs::zone_program

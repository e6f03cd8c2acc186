#include "algorithms/formats/slurm_conf.hpp"

#include <algorithm>

#include "algorithms/base/text.hpp"

namespace zbs::formats {
namespace {

constexpr std::int64_t kMaxNodes = 1'000'000;
constexpr std::int64_t kMaxDays = 1'000'000, kMaxLimit = kMaxDays * 86'400;

/// How many numbers "1-3,7" stands for; none where it is no such list.
std::optional<std::int64_t> count_of_numbers(std::string_view list) {
    std::int64_t count = 0;
    for (const std::string_view part : split(list, ',')) {
        const std::size_t dash = part.find('-');
        const auto first = parse_number<std::uint32_t>(part.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : parse_number<std::uint32_t>(part.substr(dash + 1));
        if (!first || !last || *last < *first) return std::nullopt;
        count += std::int64_t{*last} - *first + 1;
    }
    return count;
}

/// How many nodes "n[1-3,7],rack[0-1]x[08-10]" stands for; none where it is no such list or too long.
std::optional<std::int64_t> count_of_nodes(std::string_view list) {
    std::int64_t all = 0;
    while (true) {
        std::int64_t product = 1;
        std::size_t at = 0;
        for (; at < list.size() && list[at] != ','; ++at) {
            if (list[at] != '[') continue;
            const std::size_t end = list.find(']', at);
            if (end == std::string_view::npos) return std::nullopt;
            const auto count = count_of_numbers(list.substr(at + 1, end - at - 1));
            if (!count || *count > kMaxNodes) return std::nullopt;
            product *= *count;
            if (product > kMaxNodes) return std::nullopt;
            at = end;
        }
        all += product;
        if (at == 0 || all > kMaxNodes) return std::nullopt;
        if (at == list.size()) return all;
        list.remove_prefix(at + 1);
    }
}

struct Setting {
    std::string_view key, value;
};

/// The settings of a line, without its comment.
std::vector<Setting> settings_of(std::string_view line) {
    std::vector<Setting> settings;
    constexpr std::string_view kBlanks = " \t\r\n";
    while (true) {
        line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
        if (line.empty() || line.front() == '#') return settings;
        const std::size_t equals = line.find_first_of("= \t\r\n");
        Setting setting{.key = line.substr(0, equals), .value = {}};
        line.remove_prefix(setting.key.size());
        if (line.starts_with('=')) {
            line.remove_prefix(1);
            const bool quoted = line.starts_with('"');
            if (quoted) line.remove_prefix(1);
            setting.value = line.substr(0, line.find_first_of(quoted ? "\"" : kBlanks));
            line.remove_prefix(std::min(setting.value.size() + (quoted ? 1 : 0), line.size()));
        }
        settings.push_back(setting);
    }
}

class ConfReader {
  public:
    explicit ConfReader(std::string_view source) : source_(source) {}

    Result<void> take(std::string_view line, std::size_t number) {
        line_ = number;
        const std::vector<Setting> settings = settings_of(line);
        if (settings.empty()) return {};
        if (is_same_keyword(settings.front().key, "NodeName")) return take_nodes(settings);
        if (is_same_keyword(settings.front().key, "PartitionName")) return take_partition(settings);
        return {};
    }

    Result<SlurmMachine> finish() {
        if (machine_.processors > 0) return std::move(machine_);
        return invalid(
            "the file has no line NodeName=...: give slurm.conf itself, and where it includes others, all of them in "
            "one file",
            std::string(source_));
    }

  private:
    /// Processors of a node, as far as they are written down.
    struct Node {
        std::int64_t cpus = 0, boards = 1, sockets = 1, cores = 1, threads = 1;
        bool future = false;
    };

    Error fault(const Setting& setting, const std::string& expected) const {
        return invalid("'" + std::string(setting.key) + "=" + std::string(setting.value.substr(0, 80)) +
                           "' cannot be read: " + expected,
                       std::string(source_) + ":" + std::to_string(line_));
    }

    Result<void> take_nodes(const std::vector<Setting>& settings) {
        Node node = default_node_;
        for (const Setting& setting : settings) {
            if (is_same_keyword(setting.key, "State")) node.future = is_same_keyword(setting.value, "FUTURE");
            for (const auto& [name, count] :
                 {std::pair{"CPUs", &node.cpus}, std::pair{"Procs", &node.cpus}, std::pair{"Boards", &node.boards},
                  std::pair{"Sockets", &node.sockets}, std::pair{"SocketsPerBoard", &node.sockets},
                  std::pair{"CoresPerSocket", &node.cores}, std::pair{"ThreadsPerCore", &node.threads}}) {
                if (!is_same_keyword(setting.key, name)) continue;
                const auto value = parse_number<std::int64_t>(setting.value);
                if (!value || *value < 1 || *value > 65'535) return fault(setting, "write a number of 1 to 65535");
                *count = *value;
            }
        }
        if (is_same_keyword(settings.front().value, "DEFAULT")) {
            default_node_ = node;
            return {};
        }
        const auto count = count_of_nodes(settings.front().value);
        if (!count)
            return fault(settings.front(), "write a list of at most " + std::to_string(kMaxNodes) +
                                               " nodes as Slurm does, n[1-3,7],login");
        if (node.future) return {};
        // Bounded step by step, so that nothing overflows.
        std::int64_t cpus = node.cpus;
        if (cpus == 0)
            cpus = std::min(node.boards * node.sockets, SlurmMachine::kMaxProcessors) *
                   std::min(node.cores * node.threads, SlurmMachine::kMaxProcessors);
        if (cpus > SlurmMachine::kMaxProcessors ||
            (machine_.processors += *count * cpus) > SlurmMachine::kMaxProcessors)
            return fault(settings.front(), "the machine has more than " + std::to_string(SlurmMachine::kMaxProcessors) +
                                               " processors; correct the nodes");
        return {};
    }

    Result<void> take_partition(const std::vector<Setting>& settings) {
        SlurmPartition partition{.name = std::string(settings.front().value), .max_time_s = default_max_time_s_};
        for (const Setting& setting : settings) {
            if (!is_same_keyword(setting.key, "MaxTime")) continue;
            const auto limit = parse_slurm_time(setting.value);
            if (!limit) return fault(setting, "write minutes, days-hours:minutes:seconds or UNLIMITED");
            partition.max_time_s = *limit > 0 ? limit : std::nullopt;
        }
        if (is_same_keyword(partition.name, "DEFAULT"))
            default_max_time_s_ = partition.max_time_s;
        else
            machine_.partitions.push_back(std::move(partition));
        return {};
    }

    std::string_view source_;
    std::size_t line_ = 0;
    Node default_node_;
    std::optional<std::int64_t> default_max_time_s_;
    SlurmMachine machine_;
};

}  // namespace

bool is_same_keyword(std::string_view a, std::string_view b) {
    const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::ranges::equal(a, b, {}, small, small);
}

std::optional<std::int64_t> parse_slurm_time(std::string_view text) {
    if (is_same_keyword(text, "UNLIMITED") || is_same_keyword(text, "INFINITE")) return 0;
    const std::size_t dash = text.find('-');
    const bool has_days = dash != std::string_view::npos;
    std::int64_t days = 0;
    if (has_days) {
        days = parse_number<std::uint32_t>(text.substr(0, dash)).value_or(kMaxDays);
        if (days >= kMaxDays) return std::nullopt;
        text.remove_prefix(dash + 1);
    }
    // With days, hours come first; without, the first of three are hours and the first of one or two minutes.
    const std::vector<std::string_view> parts = split(text, ':');
    if (parts.size() > 3) return std::nullopt;
    std::int64_t seconds = days * 86'400, unit = has_days || parts.size() == 3 ? 3'600 : 60;
    for (const std::string_view part : parts) {
        const auto value = parse_number<std::uint32_t>(part);
        if (!value) return std::nullopt;
        seconds += *value * unit;
        unit /= 60;
    }
    if (seconds > kMaxLimit) return std::nullopt;
    return seconds;
}

Result<SlurmMachine> read_slurm_conf(std::string_view text, std::string_view source) {
    ConfReader reader(source);
    std::string joined;  // of lines that end with a backslash
    std::size_t number = 0;
    for (const std::string_view part : split(text, '\n')) {
        ++number;
        std::string_view line = part;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.ends_with('\\')) {
            joined.append(line.substr(0, line.size() - 1)) += ' ';
            continue;
        }
        joined += line;
        if (Result<void> done = reader.take(joined, number); !done) return done.error();
        joined.clear();
    }
    if (Result<void> done = reader.take(joined, number); !done) return done.error();
    return reader.finish();
}

}  // namespace zbs::formats

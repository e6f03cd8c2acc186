#include "services/common/messages/steps/rank_end.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "algorithms/base/text.hpp"
#include "services/common/messages/steps/own_files.hpp"

namespace zbs {
namespace {

constexpr std::string_view kEarly = "early", kBeforeInit = "before_init", kInStop = "in_stop";
constexpr Duration kNoticed = std::chrono::seconds{2};

/// The next word; `text` begins behind it then.
std::string_view take_word(std::string_view& text) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

std::optional<std::int64_t> number(std::string_view word, std::int64_t most, std::int64_t least = 0) {
    const auto value = parse_number<std::int64_t>(word);
    return value && *value >= least && *value <= most ? value : std::nullopt;
}

constexpr std::array kFindings = {RankFinding::kPreloadRemoved, RankFinding::kNotPreloadable, RankFinding::kAlone};
constexpr std::string_view word_of(RankFinding finding) {
    return finding == RankFinding::kPreloadRemoved ? "removed" : finding == RankFinding::kAlone ? "alone" : "static";
}

Time latest(const RankEnd& end) { return end.how == RankEndKind::kAborted ? end.at + kNoticed : end.at; }

}  // namespace

std::string rank_end_file(TaskIndex rank) { return std::string(own_files::kEnd) + std::to_string(rank); }

std::string rank_end_text(const RankEnd& end) {
    return std::to_string(to_microseconds(end.at)) + " " + to_string(end.how) + " " + std::to_string(end.code) +
           (end.before_finalize ? " " + std::string(kEarly) : "") +
           (end.before_init ? " " + std::string(kBeforeInit) : "") + (end.in_stop ? " " + std::string(kInStop) : "") +
           "\n";
}

std::string_view rank_fault(std::string_view text) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
    return text.substr(0, text.find('\n'));
}

std::optional<RankEnd> read_rank_end(std::string_view file, std::string_view text) {
    if (!file.starts_with(own_files::kEnd)) return std::nullopt;
    text = text.substr(0, text.find('\n'));
    const auto rank = number(file.substr(own_files::kEnd.size()), INT32_MAX);
    const auto at = number(take_word(text), INT64_MAX);
    const std::string_view how = take_word(text);
    const bool is_abort = how == to_string(RankEndKind::kAborted);
    const auto code = is_abort ? number(take_word(text), INT32_MAX, INT32_MIN) : number(take_word(text), 255);
    if (!rank || !at || !code) return std::nullopt;
    const std::string_view when = take_word(text);
    const bool in_stop = when == kInStop || take_word(text) == kInStop;
    for (const RankEndKind kind : kAll<RankEndKind>)
        if (how == to_string(kind))
            return RankEnd{.rank = static_cast<TaskIndex>(*rank),
                           .how = kind,
                           .code = static_cast<int>(*code),
                           .before_finalize = when == kEarly,
                           .before_init = when == kBeforeInit,
                           .in_stop = in_stop,
                           .at = time_from_microseconds(*at)};
    return std::nullopt;
}

std::string finding_text(TaskIndex rank, RankFinding finding) {
    return std::to_string(rank) + " " + std::string(word_of(finding)) + "\n";
}

std::string describe(TaskIndex rank, RankFinding finding, std::string_view machine) {
    const char* const what =
        finding == RankFinding::kPreloadRemoved   ? " runs without ZBS's library (LD_PRELOAD was removed)"
        : finding == RankFinding::kNotPreloadable ? " runs without ZBS's library (it is linked statically or setuid)"
                                                  : " runs alone (its program lacks the variables of the MPI launcher)";
    return "rank " + std::to_string(rank) + (machine.empty() ? "" : " on " + std::string(machine)) + what;
}

std::string describe_finding(std::string_view text) {
    const auto rank = number(take_word(text), INT32_MAX);
    const std::string_view word = take_word(text);
    for (const RankFinding finding : kFindings)
        if (rank && word == word_of(finding)) return describe(static_cast<TaskIndex>(*rank), finding, {});
    return {};
}

bool comes_before(const RankEnd& a, const RankEnd& b) {
    return a.in_stop == b.in_stop ? latest(a) < latest(b) : b.in_stop;
}

bool lets_others_end(const RankEnd& end) {
    return end.how == RankEndKind::kExited && !end.before_finalize && !end.before_init && !end.in_stop;
}

std::string describe(const RankEnd& end, std::string_view machine) {
    const std::string code = std::to_string(end.code);
    return "rank " + std::to_string(end.rank) + (machine.empty() ? "" : " on " + std::string(machine)) +
           (end.how == RankEndKind::kExited ? " exited with code " + code
            : end.how == RankEndKind::kSignalled
                ? " ended by signal " + code
                : " called MPI_Abort with code " + code +
                      (end.code == (end.code & 0xff) ? "" : " (exit code " + std::to_string(exit_code_of(end)) + ")")) +
           (end.how != RankEndKind::kExited ? ""
            : end.before_finalize           ? " before MPI_Finalize"
            : end.before_init               ? " before MPI_Init"
                                            : "");
}

int exit_code_of(const RankEnd& end) {
    if (end.how == RankEndKind::kSignalled) return 128 + end.code;
    const int code = end.code & 0xff;
    return code == 0 ? 1 : code;
}

}  // namespace zbs

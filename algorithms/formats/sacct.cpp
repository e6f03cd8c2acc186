#include "algorithms/formats/sacct.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "algorithms/base/instant_text.hpp"
#include "algorithms/base/text.hpp"

namespace zbs::formats {
namespace {

enum class Column : std::uint8_t {
    kJobId,
    kJobIdRaw,
    kSubmit,
    kEligible,
    kStart,
    kEnd,
    kTimelimit,
    kTimelimitRaw,
    kRequested,
    kAllocated,
    kCpus,
    kState,
    kUser,
    kAccount,
    kPartition,
};
constexpr std::array kColumnNames = {"JobID", "JobIDRaw",  "Submit",       "Eligible", "Start",
                                     "End",   "Timelimit", "TimelimitRaw", "ReqCPUS",  "AllocCPUS",
                                     "NCPUS", "State",     "User",         "Account",  "Partition"};
constexpr std::size_t kNoField = ~std::size_t{0};
constexpr std::string_view kCommand =
    "write the file with sacct --allusers --parsable2 --allocations "
    "--format=JobIDRaw,Submit,Eligible,Start,End,Timelimit,ReqCPUS,AllocCPUS,State,User,Account,Partition";

/// Numbers of names, from 1, in the order in which they are asked for.
class Numbering {
  public:
    std::int64_t number_of(std::string_view name) {
        if (name.empty()) return -1;
        const auto found = numbers_.find(name);
        if (found != numbers_.end()) return found->second;
        names_.emplace_back(name);
        numbers_.emplace(name, static_cast<std::int64_t>(names_.size()));
        return static_cast<std::int64_t>(names_.size());
    }
    const std::vector<std::string>& names() const { return names_; }

  private:
    std::map<std::string, std::int64_t, std::less<>> numbers_;
    std::vector<std::string> names_;
};

/// The status of the Standard Workload Format; -1 where the job has not ended. "CANCELLED by 1000" is a state.
std::int64_t status_of(std::string_view state) {
    const std::string_view word = state.substr(0, state.find_first_of(" +"));
    if (word == "COMPLETED") return 1;
    if (word == "CANCELLED") return 5;
    for (const std::string_view failed :
         {"FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "PREEMPTED"})
        if (word == failed) return 0;
    return -1;
}

std::string counted_jobs(std::size_t count) { return std::to_string(count) + (count == 1 ? " job" : " jobs"); }

class SacctReader {
  public:
    SacctReader(std::string_view source, const SlurmMachine* machine) : source_(source), machine_(machine) {
        if (machine == nullptr) return;
        for (const SlurmPartition& partition : machine->partitions) partitions_.number_of(partition.name);
    }

    Error fault(std::string message) const {
        return invalid(std::move(message), std::string(source_) + ":" + std::to_string(line_));
    }

    Result<void> take_header(std::string_view line, std::uint32_t number) {
        line_ = number;
        const std::vector<std::string_view> names = split(line, '|');
        fields_ = names.size();
        for (std::size_t i = 0; i < kColumnNames.size(); ++i) {
            const auto found = std::ranges::find_if(
                names, [&](std::string_view name) { return is_same_keyword(name, kColumnNames[i]); });
            field_of_[i] = found == names.end() ? kNoField : static_cast<std::size_t>(found - names.begin());
        }
        const auto lacks = [&](const std::string& column) {
            return fault("the header has no column " + column + ": " + std::string(kCommand));
        };
        if (!has(Column::kJobIdRaw) && !has(Column::kJobId)) return lacks("JobIDRaw");
        for (const Column column : {Column::kSubmit, Column::kStart, Column::kEnd})
            if (!has(column)) return lacks(kColumnNames[static_cast<std::size_t>(column)]);
        if (!has(Column::kRequested) && !has(Column::kAllocated) && !has(Column::kCpus))
            return lacks("ReqCPUS or AllocCPUS");
        return {};
    }

    /// A line behind the header.
    Result<void> take(std::string_view line, std::uint32_t number) {
        line_ = number;
        words_ = split(line, '|');
        if (words_.size() != fields_)
            return fault("the line has " + std::to_string(words_.size()) + " fields and the header " +
                         std::to_string(fields_) + "; texts of users can hold '|': " + std::string(kCommand) +
                         ", or skip such lines with --lenient");
        const Column id = has(Column::kJobIdRaw) ? Column::kJobIdRaw : Column::kJobId;
        if (word(id).find('.') != std::string_view::npos || word(Column::kJobId).find('.') != std::string_view::npos) {
            ++steps_;
            return {};
        }
        if (log_.trace.records.size() == SwfTrace::kMaxRecords)
            return Error{ErrorCode::kTooLarge,
                         "more than " + std::to_string(SwfTrace::kMaxRecords) + " jobs; split the file",
                         std::string(source_) + ":" + std::to_string(line_)};
        SwfRecord record{.millionths = {}, .line = number};
        record.millionths.fill(-SwfRecord::kUnit);
        record.set_whole(SwfField::kJob, static_cast<std::int64_t>(log_.trace.records.size()) + 1);
        if (has(Column::kJobIdRaw)) {
            const auto raw = parse_number<std::uint32_t>(word(id));
            if (!raw) return unreadable(id, "a number");
            record.set_whole(SwfField::kJob, *raw);
        }
        if (Result<void> done = set_times(record); !done) return done;
        if (Result<void> done = set_sizes(record); !done) return done;
        if (Result<void> done = set_limit(record); !done) return done;
        record.set_whole(SwfField::kStatus, status_of(word(Column::kState)));
        record.set_whole(SwfField::kUser, users_.number_of(word(Column::kUser)));
        record.set_whole(SwfField::kGroup, accounts_.number_of(word(Column::kAccount)));
        record.set_whole(SwfField::kQueue, partitions_.number_of(word(Column::kPartition)));
        log_.trace.records.push_back(record);
        return {};
    }

    void skip(Error fault) {
        if (++log_.trace.skipped_lines == 1) log_.trace.first_skipped = std::move(fault);
    }

    Result<SacctLog> finish() {
        SwfTrace& trace = log_.trace;
        if (trace.records.empty() && trace.skipped_lines == 0)
            return invalid(
                "there are no jobs: sacct shows those of today by default, give it --starttime and --endtime",
                std::string(source_));
        std::int64_t first = SwfTrace::kMaxValue;
        for (const SwfRecord& record : trace.records)
            if (record.whole(SwfField::kSubmit) >= 0) first = std::min(first, record.whole(SwfField::kSubmit));
        for (SwfRecord& record : trace.records)
            if (const std::int64_t submit = record.whole(SwfField::kSubmit); submit >= 0)
                record.set_whole(SwfField::kSubmit, submit - first);
        trace.comments = {" Version: 2.2", " Note: read from the output of sacct"};
        if (first < SwfTrace::kMaxValue) trace.comments.push_back(" UnixStartTime: " + std::to_string(first));
        if (is_local_) trace.comments.emplace_back(" Note: UnixStartTime is local time, as if that were UTC");
        if (machine_ != nullptr) trace.comments.push_back(" MaxProcs: " + std::to_string(machine_->processors));
        for (std::size_t i = 0; i < partitions_.names().size(); ++i)
            trace.comments.push_back(" Queue: " + std::to_string(i + 1) + " " + partitions_.names()[i]);
        const auto note = [&](std::size_t count, const std::string& text) {
            if (count > 0) log_.notes.push_back(counted_jobs(count) + text);
        };
        if (steps_ > 0)
            log_.notes.push_back(std::to_string(steps_) + (steps_ == 1 ? " job step was" : " job steps were") +
                                 " left out");
        note(held_, " of the file became eligible after their submission, and count as submitted then");
        note(limited_by_partition_, " of the file without a time limit got that of their partition");
        note(backwards_,
             " of the file ended before they started, so that no run time is known; where clocks were set back in "
             "between, write the file with SLURM_TIME_FORMAT=%s");
        if (!has(Column::kState))
            log_.notes.emplace_back("there is no column State: no job is taken for cancelled or failed");
        if (machine_ != nullptr && !has(Column::kPartition))
            log_.notes.emplace_back("there is no column Partition: no job has the time limit of its partition");
        return std::move(log_);
    }

  private:
    bool has(Column column) const { return field_of_[static_cast<std::size_t>(column)] != kNoField; }
    /// Of the line; empty where the column is not there.
    std::string_view word(Column column) const {
        return has(column) ? words_[field_of_[static_cast<std::size_t>(column)]] : std::string_view{};
    }
    Error unreadable(Column column, const std::string& expected) const {
        std::string shown;
        for (const char c : word(column).substr(0, 40)) shown += c >= ' ' && c <= '~' ? c : '?';
        return fault("column " + std::string(kColumnNames[static_cast<std::size_t>(column)]) + " is '" + shown +
                     "', not " + expected + "; correct it, or skip such lines with --lenient");
    }

    /// Seconds since 1970 in the clock of the file; -1: not known.
    Result<std::int64_t> instant(Column column) {
        const std::string_view text = word(column);
        if (text.empty() || text == "Unknown" || text == "None" || text == "N/A") return std::int64_t{-1};
        if (const auto seconds = parse_number<std::uint64_t>(text);
            seconds && *seconds <= std::uint64_t{SwfTrace::kMaxValue})
            return static_cast<std::int64_t>(*seconds);
        const std::optional<WrittenTime> written = parse_written_time(text);
        if (!written || !written->of_day || written->east)
            return unreadable(column, "an instant as 2026-11-27T13:00:00 (unset SLURM_TIME_FORMAT for sacct)");
        is_local_ = true;
        return std::int64_t{std::chrono::sys_seconds{std::chrono::sys_days{written->date}}.time_since_epoch().count() +
                            std::chrono::duration_cast<std::chrono::seconds>(*written->of_day).count()};
    }

    Result<void> set_times(SwfRecord& record) {
        std::array<std::int64_t, 4> at{};
        for (std::size_t i = 0; i < at.size(); ++i) {
            constexpr std::array kInstants = {Column::kSubmit, Column::kEligible, Column::kStart, Column::kEnd};
            const Result<std::int64_t> found = instant(kInstants[i]);
            if (!found) return found.error();
            at[i] = *found;
        }
        auto [submit, eligible, start, end] = at;
        if (submit >= 0 && eligible > submit) {
            ++held_;
            submit = eligible;
        }
        record.set_whole(SwfField::kSubmit, submit);
        if (submit >= 0 && start >= 0) record.set_whole(SwfField::kWait, std::max<std::int64_t>(0, start - submit));
        backwards_ += end >= 0 && end < start ? 1 : 0;
        if (start >= 0 && end >= start) record.set_whole(SwfField::kRuntime, end - start);
        return {};
    }

    Result<void> set_sizes(SwfRecord& record) {
        for (const auto& [column, field] : {std::pair{Column::kCpus, SwfField::kAllocatedProcessors},
                                            std::pair{Column::kAllocated, SwfField::kAllocatedProcessors},
                                            std::pair{Column::kRequested, SwfField::kRequestedProcessors}}) {
            if (word(column).empty()) continue;
            const auto count = parse_number<std::uint32_t>(word(column));
            if (!count) return unreadable(column, "a number of processors");
            record.set_whole(field, *count);
        }
        return {};
    }

    Result<void> set_limit(SwfRecord& record) {
        const Column column = has(Column::kTimelimit) ? Column::kTimelimit : Column::kTimelimitRaw;
        const std::string_view text = word(column);
        std::int64_t limit = 0;
        if (!text.empty() && !is_same_keyword(text, "Partition_Limit")) {
            const auto found = parse_slurm_time(text);
            if (!found) return unreadable(column, "a time limit");
            limit = *found;
        }
        if (limit == 0 && machine_ != nullptr) {
            const auto partition =
                std::ranges::find(machine_->partitions, word(Column::kPartition), &SlurmPartition::name);
            if (partition != machine_->partitions.end()) limit = partition->max_time_s.value_or(0);
            limited_by_partition_ += limit > 0 ? 1 : 0;
        }
        if (limit > 0) record.set_whole(SwfField::kRequestedTime, limit);
        return {};
    }

    std::string_view source_;
    const SlurmMachine* machine_;
    std::uint32_t line_ = 0;
    std::size_t fields_ = 0;
    std::array<std::size_t, kColumnNames.size()> field_of_{};
    std::vector<std::string_view> words_;
    Numbering users_, accounts_, partitions_;
    std::size_t steps_ = 0, held_ = 0, limited_by_partition_ = 0, backwards_ = 0;
    bool is_local_ = false;  ///< times are dates, without a zone
    SacctLog log_;
};

}  // namespace

Result<SacctLog> read_sacct(std::string_view text, std::string_view source, const SlurmMachine* machine,
                            const SwfReadOptions& options) {
    SacctReader reader(source, machine);
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    bool has_header = false;
    for (std::uint32_t number = 1; !text.empty(); ++number) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) continue;
        Result<void> done =
            line.size() > SwfTrace::kMaxLine
                ? invalid("the line has " + std::to_string(line.size()) + " bytes; at most " +
                              std::to_string(SwfTrace::kMaxLine) + " are read: is this an output of sacct?",
                          std::string(source) + ":" + std::to_string(number))
            : has_header ? reader.take(line, number)
                         : reader.take_header(line, number);
        if (!done && (!options.lenient || !has_header || done.error().code == ErrorCode::kTooLarge))
            return done.error();
        if (!done) reader.skip(done.error());
        has_header = true;
    }
    if (!has_header) return invalid("the file is empty: " + std::string(kCommand), std::string(source));
    return reader.finish();
}

}  // namespace zbs::formats

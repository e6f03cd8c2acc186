#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/model/workload.hpp"

namespace zbs::formats {

/// The fields of a job in the Standard Workload Format 2.2 [ChapinEtAl1999], in the order of the line. Times are
/// seconds, memory is KiB a processor; -1 means unknown.
enum class SwfField : std::uint8_t {
    kJob,      ///< a counter, from 1
    kSubmit,   ///< since the start of the log
    kWait,     ///< until the start
    kRuntime,  ///< wall clock
    kAllocatedProcessors,
    kCpuTime,  ///< mean of the processors; often with decimals
    kUsedMemory,
    kRequestedProcessors,
    kRequestedTime,
    kRequestedMemory,
    kStatus,  ///< 0 failed, 1 completed, 2 partial, 3 last of partial and completed, 4 the same and failed, 5 cancelled
    kUser,
    kGroup,
    kExecutable,
    kQueue,
    kPartition,
    kPrecedingJob,
    kThinkTime,  ///< from the end of the preceding job
};
inline constexpr std::size_t kSwfFields = 18;

/// A line of the log. Values are kept in millionths, so that decimals survive: six of them, the rest is rounded.
struct SwfRecord {
    static constexpr std::int64_t kUnit = 1'000'000;

    std::array<std::int64_t, kSwfFields> millionths;
    std::uint32_t line = 0;  ///< of the text it was read from, from 1; no part of the value

    std::int64_t millionth(SwfField field) const { return millionths[static_cast<std::size_t>(field)]; }
    /// Rounded towards zero.
    std::int64_t whole(SwfField field) const { return millionth(field) / kUnit; }
    void set_whole(SwfField field, std::int64_t value) { millionths[static_cast<std::size_t>(field)] = value * kUnit; }
    bool operator==(const SwfRecord& other) const { return millionths == other.millionths; }
};

/// How often something was met in a log, and on which line first.
struct SwfCount {
    std::size_t count = 0;
    std::uint32_t first_line = 0;  ///< 0: never
    void add(std::uint32_t line) {
        if (count++ == 0) first_line = line;
    }
};

/// A log as it stands in its file.
struct SwfTrace {
    static constexpr std::size_t kMaxRecords = 100'000'000;
    static constexpr std::size_t kMaxLine = 65'536;             ///< bytes
    static constexpr std::int64_t kMaxValue = 999'999'999'999;  ///< of either sign

    std::vector<std::string> comments;  ///< lines that begin with ';', without it, in their order
    std::vector<SwfRecord> records;

    /// Lines left out by a lenient reader, and what was wrong with the first of them.
    std::size_t skipped_lines = 0;
    std::optional<Error> first_skipped;
    SwfCount wide_lines;   ///< with more than 18 fields, of which the first 18 were kept
    SwfCount label_lines;  ///< with words or long numbers where a job needs no number; -1 was kept

    /// The text of the first header directive "; NAME: text" of this name, if there is one. Header comments of real
    /// logs hold any text, so that nothing in them is a fault.
    std::optional<std::string> directive(std::string_view name) const;
    /// The texts of all of this name, in their order.
    std::vector<std::string> directives(std::string_view name) const;
    /// Replaces the text of the first directive of this name; nothing if there is none.
    void set_directive(std::string_view name, const std::string& text);
    void erase_directive(std::string_view name);
    /// The same as a whole number >= 0; nothing if it is none.
    std::optional<std::int64_t> number(std::string_view name) const;
    /// MaxProcs, else MaxNodes, where they are above zero.
    std::optional<std::int64_t> processors() const;
};

struct SwfReadOptions {
    bool lenient = false;  ///< leaves out lines that cannot be read, and counts them
};

/// Reads a log. Fields are split on blanks and tabs; a byte order mark, empty lines and carriage returns are passed
/// over. Fields behind the 18th are left out and counted, and so are values that are no numbers in fields other than
/// job, submit time, run time, sizes, requested time and status. Linear; several hundred MB a second. Errors have
/// `SOURCE:LINE` as pointer: fewer than 18 fields, no number, a number beyond kMaxValue, a line too long
/// (kInvalidArgument), more than kMaxRecords jobs (kTooLarge).
Result<SwfTrace> read_swf(std::string_view text, std::string_view source, const SwfReadOptions& options = {});

/// Reads the same log piece by piece.
class SwfReader {
  public:
    SwfReader(std::string_view source, const SwfReadOptions& options) : source_(source), options_(options) {}

    /// Adds the whole lines at the beginning of `text` to the trace; returns how many bytes those are. `is_last`: the
    /// log ends with `text`, also in the middle of a line.
    Result<std::size_t> read(std::string_view text, bool is_last);
    /// What was read so far. Its records may be taken out between two calls.
    SwfTrace& trace() { return trace_; }

  private:
    std::optional<Error> read_line(std::string_view line);

    std::string source_;
    SwfReadOptions options_;
    SwfTrace trace_;
    std::size_t records_ = 0;  ///< in all
    std::uint32_t line_number_ = 0;
};

/// The log as text: what `read_swf` reads from it has the same comments and records.
std::string write_swf(const SwfTrace& trace);

/// The workload as a log: sizes as requested and allocated processors, walltimes as requested times. `start`, by job,
/// gives the waits; empty: unknown. Reading and cleaning it gives the same jobs, where times have no more than the
/// format's decimals and priorities are not used.
SwfTrace make_swf(const Workload& workload, std::span<const Time> start = {});

}  // namespace zbs::formats

#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs::formats {

/// Bounds on what a log from outside may make us hold.
struct ProfileLogLimits {
    std::size_t max_line_bytes = 4096;
    TaskIndex max_ranks = TaskGraph::kMaxTasks;  ///< ranks are 0 .. max_ranks-1
    std::size_t max_pairs = 50'000'000;          ///< directed pairs; about 40 bytes each
};

/// Reads augmented ASCII logs [Prabhakar2003, figure 3.2] chunk by chunk and reduces them to an application model.
///
///     LINE -101 a b c d TIME S    SRC  D DST SZ BYTES     message sent
///     LINE -102 a b c d TIME R    SRC  D DST BYTES        message received (a word SZ before BYTES is accepted)
///     LINE    1 a b c d TIME PAPI RANK MICROSECONDS       CPU time since the last communication operation
///
/// Fields are separated by any white space; blank lines are skipped; a first line that does not begin with a number is
/// a header. LINE, a..d and TIME must be integers and are not used. Logs may be one merged file or one file a rank.
/// The profiling library begins each with "zbs-log/1 run ID rank R of N": such a line may stand anywhere, and logs of
/// two runs are refused. Where it names ranks whose logs are missing, the model is not complete. Nor is it where a line
/// "zbs-log/1 unseen CALLS FUNCTION", which may stand anywhere, too, names calls of this rank that were not logged.
///
/// - Edge = bytes and number of messages of both directions. A message is counted once: where any log holds a send from
/// s
///   to d, receives of that directed pair are ignored; else they count. A message to oneself is no edge.
/// - Compute of a rank = mean of its PAPI entries; 0 where it has none. The thesis prints no unit: read as microseconds
/// of
///   CPU time and given in seconds (only the ratio between ranks matters to a mapping).
/// - Ranks of the model = largest rank named + 1.
///
/// Cost O(bytes), memory O(pairs + ranks), whatever the number of lines. Errors have `SOURCE:LINE` as pointer; after
/// one, every later call returns it again. A last line without a newline counts if it has all its fields;
/// the model is then not complete, because the last number may be.
class ProfileLogReader {
  public:
    explicit ProfileLogReader(std::string source, ProfileLogLimits limits = {});

    /// Any piece of the current source; pieces may end anywhere, also inside a line.
    Result<void> feed(std::string_view chunk);
    /// Ends the current source and starts another one, whose lines count from 1.
    Result<void> begin_source(std::string name);
    /// The model of all that was fed. Fails where no record was found. To be called once, last.
    Result<ApplicationModel> finish();

  private:
    struct Traffic {
        std::uint64_t key = 0;  ///< (from << 32 | to) + 1; 0 = free
        std::uint64_t sent_bytes = 0, sent = 0, received_bytes = 0, received = 0;
    };
    struct Compute {
        std::uint64_t sum_us = 0, count = 0;
    };

    Result<void> end_source();
    bool line(std::string_view text);
    bool record(const char* at, const char* end);
    bool header(std::string_view text);
    bool unseen(std::string_view text);
    bool message(std::uint64_t from, std::uint64_t to, std::uint64_t bytes, bool sent);
    bool fail(std::string message, ErrorCode code = ErrorCode::kInvalidArgument);
    Traffic* traffic(std::uint64_t key);
    void grow_traffic();

    std::string source_;
    ProfileLogLimits limits_;
    std::uint64_t line_ = 0;
    std::uint64_t records_ = 0;
    bool first_text_ = true;  ///< no line with text yet in this source: it may be a header
    std::string rest_;        ///< begin of a line whose end has not been fed
    bool is_cut_ = false;     ///< a source ended so
    std::optional<Error> error_;
    std::string run_;                ///< ID and number of ranks, from the first header; empty before it
    std::size_t ranks_of_run_ = 0;   ///< N of the header
    std::set<TaskIndex> logs_seen_;  ///< ranks that headers name
    TaskIndex ranks_ = 0;
    UnseenCalls unseen_;
    std::vector<Compute> compute_;
    std::vector<Traffic> table_;  ///< open addressing, power of two
    std::size_t pairs_ = 0;
};

/// Writes records of the same log; each call appends one line to `out`, numbered from 1.
class ProfileLogWriter {
  public:
    explicit ProfileLogWriter(std::string& out) : out_(out) {}
    struct Message {
        int from = 0, to = 0;  ///< ranks
        std::uint64_t bytes = 0;
        std::int64_t at_us = 0;  ///< time of the event, microseconds from any start
    };
    void send(const Message& message);
    void receive(const Message& message);
    void compute(int rank, std::int64_t compute_us, std::int64_t at_us);

  private:
    std::string& out_;
    std::uint64_t line_ = 0;
};

}  // namespace zbs::formats

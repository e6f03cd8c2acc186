#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/base/time.hpp"
#include "algorithms/base/words.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs {

enum class RankEndKind {
    kExited,  ///< by itself
    kSignalled,
    kAborted,  ///< it called MPI_Abort, or MPI did so for it
};
constexpr auto words_of(RankEndKind) { return std::array{"exited", "signalled", "aborted"}; }

/// How a rank ended that did not end well: with a code or by a signal, before MPI_Finalize, or without MPI in a stop.
struct RankEnd {
    TaskIndex rank = 0;
    RankEndKind how = RankEndKind::kExited;
    int code = 0;                  ///< exit code or number of the signal, 0..255, or what MPI_Abort was given
    bool before_finalize = false;  ///< after MPI_Init
    bool before_init = false;      ///< while other ranks waited for it in MPI_Init
    bool in_stop = false;          ///< behind the SIGTERM of a stop or the walltime; not part of a part's status
    Time at{};                     ///< wall clock of its machine
    bool operator==(const RankEnd&) const = default;
};

/// The variable that names the folder in which each rank's end is recorded, for the supervisor of ranks.
inline constexpr const char* kRankEndsVariable = "ZBS_RANK_ENDS";
/// The variable that names the supervisor of ranks (`zbs-step`), where there is one.
inline constexpr const char* kRankProgramVariable = "ZBS_RANK_PROGRAM";
/// The variable that names the library that the supervisor of ranks adds to the LD_PRELOAD of the job.
inline constexpr const char* kRankPreloadVariable = "ZBS_RANK_PRELOAD";
/// The variable that names zone and machine of a rank, as in `a.m0`, for messages of its supervisor.
inline constexpr const char* kRankMachineVariable = "ZBS_RANK_MACHINE";
/// Before the name of each variable of the user on its way through launchers, which run without them: one like
/// LD_LIBRARY_PATH is for the program alone. Whatever executes the program of a rank takes the prefix off.
inline constexpr const char* kRankEnvironmentPrefix = "ZBS_RANK_ENV_";
/// Name and text of the record of an end. A rank that ended well leaves none.
std::string rank_end_file(TaskIndex rank);
std::string rank_end_text(const RankEnd& end);
/// What a record holds behind its line: why the program of the rank was never executed. Empty if it was.
std::string_view rank_fault(std::string_view text);
/// What the supervisor of a rank found about it while it ran.
enum class RankFinding {
    kPreloadRemoved,  ///< it runs without the zone's library
    kNotPreloadable,  ///< likewise
    kAlone,           ///< its program has MPI, and has not the variables of the launcher: it is rank 0 of 1
};
/// Text of `own_files::kUnusual`.
std::string finding_text(TaskIndex rank, RankFinding finding);
/// "rank 3 on a.m0 runs without ZBS's library (LD_PRELOAD was removed)"; without the machine where that is empty.
std::string describe(TaskIndex rank, RankFinding finding, std::string_view machine);
/// The same from the text of the file; empty where it is none, as the job may have written anything there.
std::string describe_finding(std::string_view text);

/// None where `text` is no such record: the job may have written anything there.
std::optional<RankEnd> read_rank_end(std::string_view file, std::string_view text);

/// Whether `a` is rather than `b` why the others ended. An end breaks connections, whereupon MPI aborts other ranks,
/// some of them before that end is noticed: an abort counts as later than each other end that is at most two seconds
/// later. An end in a stop is none of the reasons for it.
bool comes_before(const RankEnd& a, const RankEnd& b);
/// Whether the other ranks can end by themselves, as under `mpiexec`: this one exited after MPI_Finalize, or has no
/// MPI.
bool lets_others_end(const RankEnd& end);
/// "rank 3 on a.m0 exited with code 7 before MPI_Finalize" (or MPI_Init); without the machine where that is empty.
std::string describe(const RankEnd& end, std::string_view machine);
/// What the application ends with: the code (its lowest 8 bits), 128 + n for signal n, 1 for an early end with code 0.
int exit_code_of(const RankEnd& end);

/// What programs mostly do, as the agent of their machine saw it lately.
enum class StepWork {
    kComputation,
    kIo,             ///< disks
    kCommunication,  ///< waits for messages again and again
    kMixed,          ///< several of these alike
};
constexpr auto words_of(StepWork) { return std::array{"computation", "io", "communication", "mixed"}; }

}  // namespace zbs

#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/formats/slurm_conf.hpp"
#include "algorithms/formats/swf.hpp"

namespace zbs::formats {

/// The jobs that Slurm accounted for, as a log in the Standard Workload Format.
struct SacctLog {
    SwfTrace trace;
    std::vector<std::string> notes;  ///< what was left out or assumed, with how many jobs; for people
};

/// Reads the output of `sacct --parsable2` (or --parsable): a header of column names, then a line for each job; job
/// steps are left out. Needed are JobID or JobIDRaw, Submit, Start, End, and one of ReqCPUS, AllocCPUS and NCPUS;
/// Eligible, Timelimit (or TimelimitRaw), State, User, Account and Partition are used where they are there, all others
/// are passed over. Linear.
///
/// - A job has its number from JobIDRaw; without that column, jobs are numbered in the order of lines.
/// - A job is submitted when it became eligible: before, it was held, depended on another or was not to begin yet.
/// - Times count from the first submission, in the clock of the file: instants without a zone, or seconds since 1970.
/// - A job without a time limit has that of its partition in `machine`, else none.
/// - Users, accounts and partitions become numbers: partitions as in `machine`, all others as they appear. Comments
///   name the partitions and, with `machine`, the number of processors.
///
/// Errors as of `read_swf`, which is also where `options` and the limits come from.
Result<SacctLog> read_sacct(std::string_view text, std::string_view source, const SlurmMachine* machine = nullptr,
                            const SwfReadOptions& options = {});

}  // namespace zbs::formats

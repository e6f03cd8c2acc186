#pragma once
#include <string_view>

/// Names of the files that a zone and its agents write at the top of the folder of a step. No other file there may
/// begin with the prefix: results and inputs have names of their own.
namespace zbs::own_files {

inline constexpr std::string_view kPrefix = ".zbs-";
inline constexpr std::string_view kStdout = ".zbs-stdout";  ///< of the step itself, as a launcher's proxy
inline constexpr std::string_view kStderr = ".zbs-stderr";
inline constexpr std::string_view kOut = ".zbs-out.";  ///< with the number of a rank, if it prints into this folder
inline constexpr std::string_view kErr = ".zbs-err.";
inline constexpr std::string_view kEnd = ".zbs-end.";  ///< likewise: how a rank ended
/// Likewise, for Open MPI: the rank is, or left, between MPI_Init and MPI_Finalize.
inline constexpr std::string_view kEarly = ".zbs-early.";
/// Likewise: the code that a rank gave to MPI_Abort. MPI itself aborts a rank without it.
inline constexpr std::string_view kAbort = ".zbs-abort.";
/// How the first rank runs that lacks the zone's library or the launcher's variables: its number and a word, as below.
inline constexpr std::string_view kUnusual = ".zbs-unusual";
/// The number of a rank that had not returned from MPI_Finalize when its step was stopped, or its walltime was over.
inline constexpr std::string_view kAtWork = ".zbs-at-work";
inline constexpr std::string_view kProfile = ".zbs-profile.json";

/// What the step itself prints.
constexpr std::string_view of_step(bool error_stream) { return error_stream ? kStderr : kStdout; }
/// What a rank prints; its number follows.
constexpr std::string_view of_ranks(bool error_stream) { return error_stream ? kErr : kOut; }

}  // namespace zbs::own_files

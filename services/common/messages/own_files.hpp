#pragma once
#include <string_view>

/// Names of the files that a zone and its agents write at the top of the folder that the ranks of a job run in. No
/// other file there may begin with the prefix: results and inputs have names of their own.
namespace zbs::own_files {

inline constexpr std::string_view kPrefix = ".zbs-";
inline constexpr std::string_view kStdout = ".zbs-stdout";  ///< of the step itself, as a launcher's proxy
inline constexpr std::string_view kStderr = ".zbs-stderr";
inline constexpr std::string_view kOut = ".zbs-out.";  ///< with the number of a rank, if it prints into this folder
inline constexpr std::string_view kErr = ".zbs-err.";
inline constexpr std::string_view kEnd = ".zbs-end.";  ///< likewise: how a rank ended
inline constexpr std::string_view kProfile = ".zbs-profile.json";

}  // namespace zbs::own_files

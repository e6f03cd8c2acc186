#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"

// Files that hold keys and what belongs to them.
namespace zbs::openssl {

enum class Secrecy { kPublic, kPrivate };

/// The content; nothing where there is no such file. Errors: no regular file, over `limit` bytes; with kPrivate also a
/// file of somebody else, or one that its group or others have any right to (the check is of the opened file).
Result<std::optional<std::string>> read_secure_file(const std::string& path, std::size_t limit, Secrecy secrecy);
/// Errors: no folder, or one into which others could put their own files.
Result<void> check_folder(const std::string& folder);

struct NewFile {
    std::string name;  ///< relative; one level of folders at most
    std::string content;
};
/// Makes `folder` (mode 0700) with `files` (0600), all on disk or none. Errors: kConflict where it exists and is not
/// empty; the disk.
Result<void> create_folder(const std::string& folder, const std::vector<NewFile>& files);
/// The file has the old content or the new one, also after power loss.
Result<void> replace_file(const std::string& folder, const NewFile& file);

/// Overwrites a secret before its memory is given back.
void wipe(std::string& secret);

}  // namespace zbs::openssl

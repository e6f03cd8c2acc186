#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs::cli {

/// Writes `text` to where `path` leads: "-" and a path of an open descriptor (/dev/stdout, /dev/fd/3) are written to
/// that descriptor; what is there and no regular file (a device, a pipe) is written in place; else the target of
/// symbolic links is written beside itself and then renamed, with the mode, and where that may be the owner, of what
/// was there: a fault leaves an older file as it was, and no other. Where the folder is closed to us and the file is
/// not, it is written in place too. A reader of standard output that has seen enough is no fault. Errors: kInternal,
/// with `path` and the system's reason.
Result<void> write_file(const std::string& path, std::string_view text);

/// A file of a command and the option that names it. An empty path is no file, "-" is a standard stream.
struct NamedFile {
    std::string option, path;
};

/// Refuses outputs of which two lead to one file, or one to an input, in whatever way: by name, by a link of either
/// kind. Devices can be written twice. To be called before anything is written. Errors: kInvalidArgument, with the
/// option.
Result<void> check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

}  // namespace zbs::cli

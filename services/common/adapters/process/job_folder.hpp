#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "services/common/ports/steps/step_files.hpp"

namespace zbs::process {

/// A name within one folder: printable ASCII, no '/', not hidden, at most 128 bytes.
bool is_plain_name(const std::string& name);

/// Bytes [offset, offset + limit) of a file in a job's folder or its folders, whatever the job made of them: links are
/// not followed, nothing but a regular file that belongs to the folder's owner is opened, and opening waits for nobody
/// (FIFOs, devices, leases). Errors: kNotFound, and kUnavailable where the job keeps the file from being opened.
Result<std::string> read_job_file(const std::string& folder, const std::string& file, std::uint64_t offset,
                                  std::size_t limit);

/// Files of a job's folder that `read_job_file` would open and whose names begin with `prefix`, by name; of hidden ones
/// only the zone's own (`own_files`). Looks at no more than limits::kMaxJobFiles entries.
std::vector<StepFiles::File> list_job_files(const std::string& folder, const std::string& prefix);

/// As `StepFiles::list_all`, under the same bounds, and no more than 64 folders deep.
std::vector<StepFiles::File> list_job_tree(const std::string& folder);

/// Opens the folder that the file `name` lies in, which `folder` (an open descriptor) is or holds. No link is followed.
/// `leaf` becomes the name of the file in it. The descriptor is the caller's; -1 with errno if there is none.
int open_parent(int folder, const std::string& name, std::string& leaf);

/// Removes files of a job's folder, whatever the job made of them, but no folders. Errors: as
/// `StepFiles::remove_files`.
Result<void> remove_job_files(const std::string& folder, const std::vector<std::string>& names);

/// Removes a folder that jobs have written to, at most `at_most` files and folders of it, those named in `last` at its
/// top behind all others. Follows no link and leaves no file system. Errors: kUnavailable naming what cannot be
/// removed.
Result<StepFiles::Removal> remove_job_tree(const std::string& path, std::size_t at_most, const std::string& last);

}  // namespace zbs::process

#pragma once
#include <memory>
#include <string>

#include "algorithms/base/result.hpp"

namespace zbs::process {

/// Whether what this process makes in the state folder `folder` is the service's: the folder has to be this user's and,
/// where it is still to be made by root, the nearest folder above it root's. Errors: kDenied, which names the owner and
/// how to run as that user.
Result<void> check_owner(const std::string& folder);

/// Whether `folder`, which the setting `state` says at `place`, is or could be made a state folder of this process.
/// Makes nothing. Errors, each with the remedy: kInvalidArgument where it is no folder; kUnavailable where it cannot be
/// used or made.
Result<void> check_state_folder(const std::string& folder, const std::string& place);

/// A state folder that belongs to this process alone for as long as this lives; a kill gives it up, a child does not
/// inherit it.
class FolderLock {
  public:
    /// Locks `folder`/lock, which then holds our pid. Waits at most 2 s where a child of an ended holder has it still.
    /// Errors: another process holds it (the error names its pid), or the file cannot be written.
    static Result<std::unique_ptr<FolderLock>> take(const std::string& folder);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

  private:
    explicit FolderLock(int fd) : fd_(fd) {}
    int fd_;
};

}  // namespace zbs::process

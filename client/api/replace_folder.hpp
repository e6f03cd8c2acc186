#pragma once
#include <string>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/descriptor/descriptor.hpp"

namespace zbs::client {

/// Puts the folder `fresh` in the place of `folder`, whose files are removed. At each instant one of the two is there,
/// unless the file system cannot exchange two folders: then the earlier one is `folder`.old for a moment.
/// Precondition: the caller has the lock of `folder`. Errors: kUnavailable with the folder as pointer. If `fresh`
/// cannot be put in place, `folder` is as before. The message names a folder of old files that cannot be removed.
Result<void> replace_folder(const std::string& fresh, const std::string& folder);

/// Completes a replacement that was cut short: a missing `folder` returns from `folder`.old. True if it did.
Result<bool> recover_folder(const std::string& folder);

enum class LockWait { kUntilFree, kNo };
/// The lock of `folder`, for one process at a time; it ends with the descriptor. The file `folder`.lock stays.
/// Without waiting: no descriptor if another process has the lock. Errors: kUnavailable with the file as pointer.
Result<Descriptor> lock_folder(const std::string& folder, LockWait wait);

}  // namespace zbs::client

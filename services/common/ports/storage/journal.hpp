#pragma once
#include "algorithms/base/result.hpp"

namespace zbs {

/// Writes that are done but not yet durable, and the one step that makes them so. Many writes in one step cost one
/// sync of the disk.
class Journal {
  public:
    virtual ~Journal() = default;
    /// True while something written would be lost with the power.
    virtual bool is_dirty() const = 0;
    /// Makes durable all that was written. An error means that nobody knows what is on the disk: the process has to end
    /// without a word to anybody of what it did since the last good step; it is never tried again.
    virtual Result<void> commit() = 0;
    /// False once another process has taken over what is written here: nothing may get out any more, also what needs no
    /// commit. Cheap.
    virtual bool is_ours() const = 0;
};

}  // namespace zbs

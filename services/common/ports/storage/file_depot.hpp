#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace zbs {

/// Files on shelves, taken in piece by piece; no job sees them. Names of shelves and files come from us: 1 to 200
/// printable ASCII letters without '/', not hidden. What is here is durable once it is complete; what is not may lose
/// its end in a crash, and says so. Lives on the domain's strand.
class FileDepot {
  public:
    virtual ~FileDepot() = default;

    struct File {
        std::string name;
        std::uint64_t bytes = 0;  ///< that are here
        std::uint64_t size = 0;   ///< of the whole, as its first piece declared; 0 where that is not known
        bool complete = false;
        Time used{};         ///< when it was last written or touched
        std::string digest;  ///< set by the `append` that completes it only
    };
    /// None where it has not begun.
    virtual Result<std::optional<File>> find(const std::string& shelf, const std::string& name) = 0;

    struct Piece {
        std::uint64_t size = 0;  ///< of the whole file
        std::uint64_t offset = 0;
        std::string_view bytes;
        std::string_view digest;  ///< SHA-256 that the whole must have; empty: whatever comes
    };
    /// Adds a piece, or nothing where it is here already; the last one checks the digest and makes the file complete.
    /// Errors: kConflict for a gap, with how much is here, for another size than it began with, and
    /// for a wrong digest (then the file is gone); kInvalidArgument for a piece over the end; kRejected where the disk
    /// is full; kUnavailable. Costs, once after a restart, the reading of what is here.
    virtual Result<File> append(const std::string& shelf, const std::string& name, const Piece& piece) = 0;
    /// Bytes [offset, offset + limit) of a complete file, fewer at its end. Errors: kNotFound; kUnavailable.
    virtual Result<std::string> read(const std::string& shelf, const std::string& name, std::uint64_t offset,
                                     std::size_t limit) = 0;
    /// By name, complete or not; empty where there is no such shelf.
    virtual Result<std::vector<File>> list(const std::string& shelf) = 0;
    /// Nothing to do where it is not there.
    virtual Result<void> remove(const std::string& shelf, const std::string& name) = 0;
    virtual Result<void> remove_shelf(const std::string& shelf) = 0;
    /// It was used now; no error where it is not there.
    virtual void touch(const std::string& shelf, const std::string& name) = 0;
    /// Absolute path of a complete file, for an `Executor` on this host.
    virtual std::string path(const std::string& shelf, const std::string& name) const = 0;
    /// Of all files together, whole or begun. No cost: it is kept up to date.
    virtual std::uint64_t bytes() const = 0;
    /// Names of all shelves, sorted.
    virtual Result<std::vector<std::string>> shelves() = 0;
};

}  // namespace zbs

#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "services/common/messages/staging.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/steps/step_runner.hpp"
#include "services/common/ports/storage/file_depot.hpp"

namespace zbs {

/// Inputs of steps that the zone has sent: by content, each once for all steps. A step gets copies, so that a file may
/// go as soon as the step has begun. Where the bound is reached what was unused for longest gives way, but nothing that
/// was used within `kKept`: it may be waiting for its step. Lives on the domain's strand.
class InputStore {
  public:
    static constexpr Duration kKept = std::chrono::minutes{1};
    static constexpr Duration kUnusedAfter = std::chrono::hours{24};   ///< then it goes in any case
    static constexpr Duration kCheckInterval = std::chrono::hours{1};  ///< for such
    static constexpr std::size_t kMaxFiles = 65'536;                   ///< whole or begun

    /// `most_bytes`: of all files together. All must outlive this.
    InputStore(FileDepot& depot, Clock& clock, Log& log, std::uint64_t most_bytes)
        : depot_(depot), clock_(clock), log_(log), most_bytes_(most_bytes) {}

    /// Begins to look for what nobody uses any more.
    void resume();

    /// How much of a file is here; of what is here, it was used now. Errors: the depot's.
    Result<FilePresence> find(const std::string& digest);
    /// Idempotent. Errors: kTooLarge for more than is ever kept here; kUnavailable where too much of it was used just
    /// now, or the disk is nearly full; kConflict for a gap, another size, and a wrong checksum (then what came is
    /// gone); the depot's.
    Result<FilePresence> put(const std::string& digest, const FileChunk& chunk);
    /// Sets the path of each input on this host. Errors: kConflict for one that is not here, at its place in the
    /// message.
    Result<void> locate(std::vector<StepSpec::Input>& inputs);

  private:
    Result<void> make_room(const std::string& digest, std::uint64_t bytes);
    void remove_unused();

    FileDepot& depot_;
    Clock& clock_;
    Log& log_;
    std::uint64_t most_bytes_;
};

}  // namespace zbs

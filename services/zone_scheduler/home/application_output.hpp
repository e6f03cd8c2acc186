#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "services/common/messages/application.hpp"
#include "services/common/ports/executor.hpp"

namespace zbs {

class ApplicationService;

/// The output of ranks and launchers, as far as it is at home. Both ports must outlive it.
class ApplicationOutput {
  public:
    ApplicationOutput(const ApplicationService& applications, Executor& executor)
        : applications_(applications), executor_(executor) {}

    /// A piece of one rank's output. `rank` -1 is the launcher's own. Errors: kNotFound.
    struct LogChunk {
        std::string bytes;
        bool complete = false;  ///< nothing will follow
    };
    Result<LogChunk> log(const Caller& caller, const ApplicationId& id, int rank, bool error_stream,
                         std::uint64_t offset, std::size_t limit) const;

    /// What output there is: only streams that hold something, by rank; `rank` -1 is the launcher.
    struct LogFile {
        int rank = 0;
        bool error_stream = false;
        std::uint64_t bytes = 0;
    };
    struct LogIndex {
        std::vector<LogFile> files;
        bool complete = false;  ///< nothing will follow
    };
    Result<LogIndex> logs(const Caller& caller, const ApplicationId& id) const;

  private:
    const ApplicationService& applications_;
    Executor& executor_;
};

}  // namespace zbs

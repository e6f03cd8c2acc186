#pragma once
#include <cstdio>
#include <memory>
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/queue/queue_event.hpp"
#include "services/common/ports/log.hpp"

namespace zbs {

/// The log of the zone's queue, one event a line, for `zbs queue replay`. It is for looking at afterwards, not for
/// recovery: where it cannot be written any more, or is as large as a reader takes, it ends with a warning and the zone
/// goes on.
class QueueLogFile {
  public:
    /// Appends to what is there, mode 0600. Errors: kUnavailable; kConflict where another zone writes it, or it is none.
    static Result<std::shared_ptr<QueueLogFile>> open(const std::string& path, Log& log);

    void write(const QueueEvent& event);

  private:
    struct Closer {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    QueueLogFile(std::FILE* file, std::string path, std::size_t bytes, Log& log)
        : file_(file), path_(std::move(path)), bytes_(bytes), log_(log) {}
    void stop(const std::string& why);

    std::unique_ptr<std::FILE, Closer> file_;
    std::string path_;
    std::size_t bytes_;
    Log& log_;
};

}  // namespace zbs

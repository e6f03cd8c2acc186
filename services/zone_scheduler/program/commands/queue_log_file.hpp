#pragma once
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/queue/queue_event.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/ports/log.hpp"

namespace zbs {

/// The log of the zone's queue, one event a line, for `zbs queue replay`. It is for looking at afterwards, not for
/// recovery: where it cannot be written any more it ends with a warning, and the zone goes on. After a decision that
/// makes it half as large as a reader takes it becomes FILE.1, whatever was there before, and a new one is begun that
/// can be read without it.
class QueueLogFile {
  public:
    /// Appends to what is there, mode 0600. Errors: kUnavailable; kConflict where another process writes it;
    /// kInvalidArgument where it is none.
    /// `begin_anew` has the queue emit all that the next file needs (`ZoneQueue::restate`), by way of `write`.
    static Result<std::shared_ptr<QueueLogFile>> open(const std::string& path, Log& log,
                                                      std::size_t most_bytes = limits::kMaxQueueLogBytes);
    /// Whether `open` could take `path`, whoever writes it now. Changes nothing. Errors: those of `open`.
    static Result<void> check(const std::string& path);
    void on_full(std::function<void()> begin_anew) { begin_anew_ = std::move(begin_anew); }

    void write(const QueueEvent& event);

  private:
    struct Closer {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    using File = std::unique_ptr<std::FILE, Closer>;
    QueueLogFile(File file, std::string path, std::size_t bytes, std::size_t most_bytes, Log& log)
        : file_(std::move(file)), path_(std::move(path)), bytes_(bytes), most_bytes_(most_bytes), log_(log) {}
    void stop(const std::string& why);
    void turn_over();

    File file_;
    std::string path_;
    std::size_t bytes_;
    std::size_t most_bytes_;
    std::function<void()> begin_anew_;
    Log& log_;
};

}  // namespace zbs

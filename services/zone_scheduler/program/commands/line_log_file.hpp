#pragma once
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "algorithms/base/result.hpp"
#include "services/common/codec/json/json.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/ports/log.hpp"

namespace zbs {

/// A kind of log that a zone keeps.
struct LineLogKind {
    const char* setting;  ///< that names the file
    const char* subject;  ///< "a queue"
    bool (*fits)(const codec::Json& line);
};
extern const LineLogKind kQueueLog;  ///< for `zbs queue replay`
extern const LineLogKind kPartLog;   ///< for `zbs-zone replay`

/// A log of the zone, one JSON object a line. It is for looking at afterwards, not for recovery: where it cannot be
/// written any more it ends with a warning, and the zone goes on. When it is half as large as a reader takes it becomes
/// FILE.1, whatever was there before, and a new one is begun that can be read without it.
class LineLogFile {
  public:
    /// Appends to what is there, mode 0600. Errors: kUnavailable; kConflict where another process writes it;
    /// kInvalidArgument where it is none of this kind.
    static Result<std::shared_ptr<LineLogFile>> open(const LineLogKind& kind, const std::string& path, Log& log,
                                                     std::size_t most_bytes = limits::kMaxQueueLogBytes);
    /// Whether `open` could take `path`, whoever writes it now. Changes nothing. Errors: those of `open`.
    static Result<void> check(const LineLogKind& kind, const std::string& path);
    /// `begin_anew` emits all that the next file needs, by way of `write`.
    void on_full(std::function<void()> begin_anew) { begin_anew_ = std::move(begin_anew); }

    /// `may_turn_over`: after this line `begin_anew` can emit the whole state.
    void write(const codec::Json& line, bool may_turn_over);

  private:
    struct Closer {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    using File = std::unique_ptr<std::FILE, Closer>;
    LineLogFile(const LineLogKind& kind, File file, std::string path, std::size_t bytes, std::size_t most_bytes,
                Log& log)
        : kind_(kind),
          file_(std::move(file)),
          path_(std::move(path)),
          bytes_(bytes),
          most_bytes_(most_bytes),
          log_(log) {}
    void stop(const std::string& why);
    void turn_over();

    const LineLogKind& kind_;
    File file_;
    std::string path_;
    std::size_t bytes_;
    std::size_t most_bytes_;
    std::function<void()> begin_anew_;
    Log& log_;
};

}  // namespace zbs

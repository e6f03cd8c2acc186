#pragma once
#include <string>

namespace zbs::step {

/// The file `exit` of a step: how it ended. Its place on the disk is taken before the program starts, so that a disk
/// which the job has filled does not lose it (not so on file systems that write each change to a new place).
class ExitRecord {
  public:
    /// `folder`: of the supervisor.
    explicit ExitRecord(const std::string& folder);
    ~ExitRecord();
    ExitRecord(const ExitRecord&) = delete;
    ExitRecord& operator=(const ExitRecord&) = delete;

    /// False where there is no place for it.
    bool is_ready() const { return fd_ >= 0; }
    /// Durable when it returns; false where it could not be written. Of `reason` at most 4,000 bytes are kept. Where
    /// the step was given up, so that there is a file already, that one stays: somebody has acted on it.
    bool write(int code, const std::string& reason);

  private:
    bool write_in_place(const std::string& text);
    std::string path_;
    int fd_ = -1;
};

}  // namespace zbs::step

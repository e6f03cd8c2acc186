#pragma once
#include <unistd.h>

#include <utility>

namespace zbs {

/// Owns one open file of the system (a file, folder, socket, ...) and closes it at its end. What closing says is lost:
/// whoever must know that bytes are on the disk calls fsync() before.
class Descriptor {
  public:
    /// A negative number, as open() gives where it fails, is none.
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() {
        if (fd_ >= 0) close(fd_);
    }
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

  private:
    int fd_;
};

}  // namespace zbs

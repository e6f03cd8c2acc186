#pragma once
#include <sys/stat.h>

#include <string>

namespace zbs::test {

/// While it lives nothing is taken off the modes that programs ask for, as under `umask 000`.
class UmaskOff {
  public:
    UmaskOff() : before_(umask(0)) {}
    ~UmaskOff() { umask(before_); }
    UmaskOff(const UmaskOff&) = delete;
    UmaskOff& operator=(const UmaskOff&) = delete;

  private:
    mode_t before_;
};

/// Permission bits; -1 where nothing is there.
inline int mode_of(const std::string& path) {
    struct stat found {};
    return lstat(path.c_str(), &found) == 0 ? static_cast<int>(found.st_mode & 07777) : -1;
}

}  // namespace zbs::test

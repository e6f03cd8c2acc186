#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace zbs::files {

/// SHA-256 of what comes piece by piece.
class Checksum {
  public:
    Checksum();
    void add(std::string_view bytes);
    std::uint64_t taken() const { return taken_; }  ///< bytes so far
    /// 64 hexadecimal digits in small letters; empty where the library failed. Ends it.
    std::string text();

  private:
    struct Free {
        void operator()(void* context) const;
    };
    std::unique_ptr<void, Free> context_;
    bool good_ = false;
    std::uint64_t taken_ = 0;
};

}  // namespace zbs::files

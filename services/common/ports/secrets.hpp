#pragma once
#include <string>
#include <string_view>

namespace zbs {

/// Randomness that nobody can guess, and digests of it for keeping.
class Secrets {
  public:
    virtual ~Secrets() = default;
    /// 130 random bits as 26 characters of a-z 2-7.
    virtual std::string fresh() = 0;
    /// SHA-256, 64 lower-case hexadecimal digits.
    virtual std::string digest(std::string_view text) const = 0;
};

}  // namespace zbs

#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace zbs {

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

/// SHA-256 of all the bytes, as 64 hexadecimal digits. The program ends where the library fails.
std::string sha256(std::string_view bytes);

/// Whether it can be such a text.
inline bool is_checksum(std::string_view text) {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Bytes in a text: RFC 4648 with padding, without line ends.
std::string to_base64(std::string_view bytes);
/// Exactly what `to_base64` writes; nothing for any other text, so bytes have one spelling.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace zbs

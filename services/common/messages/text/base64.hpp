#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace zbs {

/// Bytes in a text: RFC 4648 with padding, without line ends.
std::string to_base64(std::string_view bytes);
/// Exactly what `to_base64` writes; nothing for any other text, so bytes have one spelling.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace zbs

#include "services/common/listing/text_width.hpp"

#include <locale.h>
#include <wchar.h>

#include <algorithm>

#include "algorithms/base/utf8.hpp"

namespace zbs::listing {
namespace {

/// By the tables of the C library, whatever the locale of this process.
std::size_t width_of(char32_t c) {
    static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (c < 0x300 || utf8 == nullptr) return 1;
    const locale_t before = uselocale(utf8);
    const int width = wcwidth(static_cast<wchar_t>(c));
    uselocale(before);
    return width < 0 ? 1 : static_cast<std::size_t>(width);
}

}  // namespace

std::size_t width_of(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        const CodePoint c = front_of(text);
        width += c.length == 0 ? 1 : width_of(c.value);
        text.remove_prefix(std::max<std::size_t>(c.length, 1));
    }
    return width;
}

std::string cut_to(std::string_view text, std::size_t rows, std::size_t columns) {
    std::string out;
    std::size_t row = 0, column = 0;
    while (!text.empty() && row < rows) {
        const CodePoint c = front_of(text);
        const std::size_t length = std::max<std::size_t>(c.length, 1);
        if (c.value == U'\n') {
            out += '\n';
            ++row;
            column = 0;
        } else {
            column += c.length == 0 ? 1 : width_of(c.value);
            if (column <= columns) out += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    return out;
}

}  // namespace zbs::listing

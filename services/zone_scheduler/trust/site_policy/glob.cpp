#include "services/zone_scheduler/trust/site_policy/glob.hpp"

namespace zbs {
namespace {

/// Compares every letter of the pattern wherever the texts differ: the time that the map of accounts takes reveals
/// nothing about the names in it.
bool same_text(std::string_view pattern, std::string_view text) {
    unsigned difference = pattern.size() != text.size();
    for (std::size_t i = 0; i < pattern.size(); ++i)
        difference |=
            static_cast<unsigned char>(pattern[i]) ^ static_cast<unsigned char>(i < text.size() ? text[i] : 0);
    return difference == 0;
}

}  // namespace

bool matches_glob(std::string_view pattern, std::string_view text) {
    if (pattern.find('*') == std::string_view::npos) return same_text(pattern, text);
    std::size_t p = 0, t = 0;
    std::size_t star = std::string_view::npos, retry = 0;  // last '*' and where it stopped taking letters
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            retry = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++retry;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

}  // namespace zbs

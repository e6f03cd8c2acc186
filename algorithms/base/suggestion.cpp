#include "algorithms/base/suggestion.hpp"

#include <algorithm>
#include <vector>

namespace zbs {
namespace {

constexpr std::size_t kLongestWord = 64;  // what is longer was not meant to be a name

char plain(char c) {
    if (c == '_') return '-';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Optimal string alignment: Levenshtein's distance with swapped neighbours as one slip.
std::size_t slips(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = plain(a[i - 1]) == plain(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && plain(a[i - 1]) == plain(b[j - 2]) && plain(a[i - 2]) == plain(b[j - 1]))
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

}  // namespace

std::string_view closest_name(std::string_view word, std::span<const std::string_view> names) {
    if (word.empty() || word.size() > kLongestWord) return {};
    // Of a word of one or two letters at least one must be right.
    const std::size_t most = std::min(word.size() - 1, std::max<std::size_t>(word.size() < 5 ? 1 : 2, word.size() / 3));
    std::string_view best;
    std::size_t fewest = most + 1;
    for (const std::string_view name : names) {
        if (name.size() > kLongestWord) continue;
        const std::size_t found = slips(word, name);
        if (found < fewest) {
            fewest = found;
            best = name;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> names) {
    const std::string_view closest = closest_name(word, names);
    if (!closest.empty()) return "; did you mean '" + std::string(closest) + "'?";
    std::string out = "; known are ";
    const std::size_t shown = std::min<std::size_t>(names.size(), 40);
    for (std::size_t i = 0; i < shown; ++i) out += (i > 0 ? ", " : "") + std::string(names[i]);
    return out + (shown < names.size() ? ", ..." : "");
}

}  // namespace zbs

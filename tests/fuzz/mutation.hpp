#pragma once
#include <string>
#include <vector>

#include "algorithms/base/rng.hpp"

namespace zbs::fuzz {

/// Up to `most` - 1 small faults: a piece put in, some bytes taken out, the end cut off (one draw in `rare_cut` of
/// those), a byte changed.
inline void mutate(std::string& text, Rng& rng, const std::vector<std::string>& pieces, std::uint64_t most = 4,
                   std::uint64_t rare_cut = 1) {
    for (std::uint64_t n = rng.below(most); n > 0; --n) {
        const std::size_t at = rng.below(text.size() + 1);
        switch (rng.below(4)) {
            case 0:
                text.insert(at, pieces[rng.below(pieces.size())]);
                break;
            case 1:
                text.erase(at, rng.below(20));
                break;
            case 2:
                if (rng.below(rare_cut) == 0) text.resize(at);
                break;
            default:
                if (at < text.size()) text[at] = static_cast<char>(rng.below(256));
        }
    }
}

}  // namespace zbs::fuzz

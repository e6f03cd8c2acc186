#include "studies/models/family.hpp"

#include <algorithm>

#include "algorithms/base/expects.hpp"

namespace zbs::gang {

std::vector<TaskMove> balance_family(std::span<const std::int32_t> tasks_of_processor) {
    ZBS_EXPECTS(std::ranges::all_of(tasks_of_processor, [](std::int32_t count) { return count >= 0; }));
    std::vector<std::int32_t> count(tasks_of_processor.begin(), tasks_of_processor.end());
    std::vector<TaskMove> moves;
    // Every exchange lowers the sum of squares, so this ends.
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t distance = 1; distance < count.size(); ++distance) {
            for (std::size_t asker = 0; asker < count.size(); ++asker) {
                const std::size_t giver = (asker + distance) % count.size();
                const std::int32_t surplus = (count[giver] - count[asker]) / 2;
                if (surplus <= 0) continue;
                count[giver] -= surplus;
                count[asker] += surplus;
                moves.push_back({static_cast<std::int32_t>(giver), static_cast<std::int32_t>(asker), surplus});
                moved = true;
            }
        }
    }
    return moves;
}

}  // namespace zbs::gang

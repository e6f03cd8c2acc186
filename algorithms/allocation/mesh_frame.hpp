#pragma once
#include <optional>

#include "algorithms/allocation/allocator.hpp"

namespace zbs {

/// Rectangles of a two-dimensional mesh machine of `machine.x` columns [Zhu1992]: every free frame is recognised. Node
/// (x, y) of the machine has the number y * machine.x + x.
///
/// A request without a mesh gets the most square frame that holds it: least x + y, then least x * y, then x >= y; what
/// the frame has besides stays idle. O(machine) for each request.
class MeshFrame final : public Allocator {
  public:
    enum class Choice : std::uint8_t {
        kFirst,  ///< the first free frame, row by row
        kBest,   ///< the one whose border touches most busy nodes and edges of the machine; the first among equals
    };
    struct Options {
        MeshShape machine;
        Choice choice = Choice::kFirst;
        bool rotate = true;  ///< where an x by y frame has no place, y by x is tried
    };
    explicit MeshFrame(const Options& options);
    const MeshShape& machine() const { return options_.machine; }
    std::unique_ptr<Allocator> clone() const override { return std::make_unique<MeshFrame>(*this); }
    std::unique_ptr<Allocator> unused() const override { return std::make_unique<MeshFrame>(options_); }

  private:
    Result<void> fits(const AllocationRequest& request) const override;
    std::optional<Placement> place(JobId id, const AllocationRequest& request) override;
    void take_back(JobId id, const Placement& placement) override;

    bool inside(const MeshShape& frame) const;
    std::optional<MeshShape> frame_of(const AllocationRequest& request) const;
    struct Corner {
        std::int32_t x, y;
    };
    std::optional<Corner> find(const MeshShape& frame) const;
    /// Busy nodes in columns [x, x_end) of rows [y, y_end).
    std::int32_t busy_in(std::int32_t x, std::int32_t y, std::int32_t x_end, std::int32_t y_end) const;
    void count_busy();

    Options options_;
    std::vector<std::uint8_t> busy_;   ///< by node
    std::vector<std::int32_t> above_;  ///< busy nodes above and left of a corner, (x + 1) * (y + 1) of them
};

}  // namespace zbs

#include "algorithms/allocation/mesh_frame.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>

#include "algorithms/base/expects.hpp"

namespace zbs {

MeshFrame::MeshFrame(const Options& options)
    : Allocator(static_cast<std::int32_t>(options.machine.size())),
      options_(options),
      busy_(static_cast<std::size_t>(options.machine.size()), 0) {
    ZBS_EXPECTS(options.machine.x >= 1 && options.machine.y >= 1 && options.machine.size() <= 100'000'000);
    count_busy();
}

bool MeshFrame::inside(const MeshShape& frame) const {
    return frame.x <= options_.machine.x && frame.y <= options_.machine.y;
}

std::optional<MeshShape> MeshFrame::frame_of(const AllocationRequest& request) const {
    if (request.mesh) return request.mesh;
    std::optional<MeshShape> best;
    const auto rank = [](const MeshShape& shape) {
        return std::tuple(std::int64_t{shape.x} + shape.y, shape.size(), -shape.x);
    };
    for (std::int32_t x = 1; x <= std::min(options_.machine.x, request.processors); ++x) {
        const MeshShape shape{x, (request.processors - 1) / x + 1};
        if (inside(shape) && (!best || rank(shape) < rank(*best))) best = shape;
    }
    return best;
}

Result<void> MeshFrame::fits(const AllocationRequest& request) const {
    const std::optional<MeshShape> frame = frame_of(request);
    ZBS_EXPECTS(frame.has_value());  // the whole machine holds every number up to its own
    if (inside(*frame) || (options_.rotate && inside({frame->y, frame->x}))) return {};
    std::ostringstream text;
    text << "a " << *frame << " mesh does not fit the machine's " << options_.machine << " mesh"
         << (options_.rotate ? ", nor turned" : "; with rotate=true it may be turned")
         << ": ask for a smaller one, or for processors without a mesh";
    return invalid(text.str());
}

std::optional<Placement> MeshFrame::place(JobId, const AllocationRequest& request) {
    const MeshShape shape = *frame_of(request);
    MeshShape frame = shape;
    std::optional<Corner> corner = find(frame);
    const bool turned = !corner && options_.rotate && shape.x != shape.y;
    if (turned) {
        frame = {shape.y, shape.x};
        corner = find(frame);
    }
    if (!corner) return std::nullopt;
    const std::int32_t columns = options_.machine.x;
    Placement placement;
    for (std::int32_t y = 0; y < shape.y; ++y) {
        for (std::int32_t x = 0; x < shape.x; ++x) {
            const NodeIndex node =
                turned ? (corner->y + x) * columns + corner->x + y : (corner->y + y) * columns + corner->x + x;
            const bool used = static_cast<std::int32_t>(placement.nodes.size()) < request.processors;
            (used ? placement.nodes : placement.idle).push_back(node);
            busy_[static_cast<std::size_t>(node)] = 1;
        }
    }
    count_busy();
    return placement;
}

void MeshFrame::take_back(JobId, const Placement& placement) {
    for (const std::vector<NodeIndex>* nodes : {&placement.nodes, &placement.idle})
        for (const NodeIndex node : *nodes) busy_[static_cast<std::size_t>(node)] = 0;
    count_busy();
}

void MeshFrame::count_busy() {
    const std::size_t columns = static_cast<std::size_t>(options_.machine.x);
    const std::size_t rows = static_cast<std::size_t>(options_.machine.y);
    above_.assign((columns + 1) * (rows + 1), 0);
    for (std::size_t y = 0; y < rows; ++y) {
        std::int32_t in_row = 0;
        for (std::size_t x = 0; x < columns; ++x) {
            in_row += busy_[y * columns + x];
            above_[(y + 1) * (columns + 1) + x + 1] = above_[y * (columns + 1) + x + 1] + in_row;
        }
    }
}

std::int32_t MeshFrame::busy_in(std::int32_t x, std::int32_t y, std::int32_t x_end, std::int32_t y_end) const {
    const auto at = [this](std::int32_t column, std::int32_t row) {
        return above_[static_cast<std::size_t>(row) * (static_cast<std::size_t>(options_.machine.x) + 1) +
                      static_cast<std::size_t>(column)];
    };
    return at(x_end, y_end) - at(x, y_end) - at(x_end, y) + at(x, y);
}

std::optional<MeshFrame::Corner> MeshFrame::find(const MeshShape& frame) const {
    const MeshShape& machine = options_.machine;
    std::optional<Corner> best;
    std::int32_t best_contact = -1;
    for (std::int32_t y = 0; y + frame.y <= machine.y; ++y) {
        for (std::int32_t x = 0; x + frame.x <= machine.x; ++x) {
            const std::int32_t x_end = x + frame.x, y_end = y + frame.y;
            if (busy_in(x, y, x_end, y_end) != 0) continue;
            if (options_.choice == Choice::kFirst) return Corner{x, y};
            std::int32_t contact = 0;
            contact += y == 0 ? frame.x : busy_in(x, y - 1, x_end, y);
            contact += y_end == machine.y ? frame.x : busy_in(x, y_end, x_end, y_end + 1);
            contact += x == 0 ? frame.y : busy_in(x - 1, y, x, y_end);
            contact += x_end == machine.x ? frame.y : busy_in(x_end, y, x_end + 1, y_end);
            if (contact <= best_contact) continue;
            best_contact = contact;
            best = Corner{x, y};
        }
    }
    return best;
}

}  // namespace zbs

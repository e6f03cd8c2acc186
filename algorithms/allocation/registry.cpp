#include "algorithms/allocation/registry.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "algorithms/allocation/hypercube_allocators.hpp"
#include "algorithms/allocation/mesh_frame.hpp"
#include "algorithms/allocation/processor_allocators.hpp"
#include "algorithms/base/suggestion.hpp"

namespace zbs {
namespace {

constexpr std::int32_t kMaxProcessors = 100'000'000;

constexpr std::array<std::string_view, 2> kChoices{"first", "best"};
constexpr std::array<std::string_view, 2> kShapes{"line", "square"};
constexpr std::array<std::string_view, 2> kCoalescings{"complete", "pairwise"};
constexpr std::array<std::string_view, 2> kDeallocations{"owner-aware", "literal"};

constexpr std::array kContiguousOptions{
    choice_option("choice", "first", kChoices,
                  "first (the first range that is long enough) or best (the shortest such range)"),
};
constexpr std::array kMeshFrameOptions{
    choice_option("choice", "first", kChoices,
                  "first (the first free frame) or best (the one that touches most busy nodes and machine edges)"),
    flag_option("rotate", "true", "true: where an X x Y frame has no place, Y x X is tried"),
    integer_option("width", "0", {0, kMaxProcessors},
                   "columns of the machine, a divisor of its processors; 0: as square as they allow"),
};
constexpr auto kShape = choice_option("shape", "line", kShapes,
                                      "what a job without a mesh gets: line (1 x processors, nothing too much) or "
                                      "square (the most square mesh that holds it)");
constexpr auto kCoalescing =
    choice_option("coalescing", "complete", kCoalescings,
                  "how FL merges: complete, or pairwise, which loses large cubes and may leave jobs waiting for ever");
constexpr std::array kBuddyOptions{kShape};
constexpr std::array kFreeListOptions{kCoalescing, kShape};
constexpr std::array kAflOptions{
    kCoalescing,
    choice_option("deallocation", "owner-aware", kDeallocations,
                  "owner-aware, or literal as printed, which lets jobs share channels"),
    kShape,
};

constexpr std::string_view kAnyMachine = "any number of processors";
constexpr std::string_view kCubeMachine = "2^n processors, n at most 14";

constexpr std::array kAllocators{
    AllocatorInfo{
        .name = "afl",
        .summary = "meshes in a hypercube, their unused nodes cut into subcubes for others; no shared channel",
        .source = "Turner1995, chapter 3",
        .machine = kCubeMachine,
        .options = kAflOptions},
    AllocatorInfo{.name = "buddy",
                  .summary = "aligned subcubes of a hypercube, the first free one",
                  .source = "Turner1995, chapter 2",
                  .machine = kCubeMachine,
                  .options = kBuddyOptions},
    AllocatorInfo{.name = "contiguous",
                  .summary = "processors with consecutive numbers, first fit or best fit",
                  .source = "-",
                  .machine = kAnyMachine,
                  .options = kContiguousOptions},
    AllocatorInfo{.name = "first-fit",
                  .summary = "any processors, the lowest free numbers",
                  .source = "-",
                  .machine = kAnyMachine,
                  .options = {}},
    AllocatorInfo{.name = "free-list",
                  .summary = "whole subcubes of a hypercube from a free list",
                  .source = "KimDasLin1991; Turner1995, section 2.5",
                  .machine = kCubeMachine,
                  .options = kFreeListOptions},
    AllocatorInfo{.name = "mesh-frame",
                  .summary = "rectangles of a two-dimensional mesh, first fit or best fit, turned where needed",
                  .source = "Zhu1992",
                  .machine = kAnyMachine,
                  .options = kMeshFrameOptions},
};

/// The largest divisor that is not above the square root, beside its partner.
MeshShape most_square(std::int32_t processors) {
    MeshShape best{processors, 1};
    for (std::int32_t y = 1; std::int64_t{y} * y <= processors; ++y)
        if (processors % y == 0) best = {processors / y, y};
    return best;
}

template <class T, class... Arguments>
Result<std::unique_ptr<Allocator>> made(const OptionReader& reader, Arguments&&... arguments) {
    if (const Error* fault = reader.fault()) return *fault;
    return std::unique_ptr<Allocator>(std::make_unique<T>(std::forward<Arguments>(arguments)...));
}

}  // namespace

std::span<const AllocatorInfo> allocators() { return kAllocators; }

const AllocatorInfo* find_allocator(std::string_view name) {
    for (const AllocatorInfo& allocator : kAllocators)
        if (allocator.name == name) return &allocator;
    return nullptr;
}

Result<std::unique_ptr<Allocator>> make_allocator(std::string_view name, std::int32_t processors,
                                                  const AllocatorOptions& options) {
    const AllocatorInfo* const allocator = find_allocator(name);
    if (allocator == nullptr) {
        std::vector<std::string_view> names;
        for (const AllocatorInfo& known : kAllocators) names.push_back(known.name);
        return invalid("there is no allocator '" + std::string(name) + "'" + did_you_mean(name, names));
    }
    if (processors < 1 || processors > kMaxProcessors)
        return invalid("a machine has 1 to " + std::to_string(kMaxProcessors) + " processors, not " +
                       std::to_string(processors));
    OptionReader reader("allocator " + std::string(name), allocator->options, options);
    if (const Error* fault = reader.fault()) return *fault;
    if (name == "first-fit") return made<FirstFitProcessors>(reader, processors);
    if (name == "contiguous")
        return made<ContiguousProcessors>(reader, processors,
                                          static_cast<ContiguousProcessors::Choice>(reader.choice("choice")));
    if (name == "mesh-frame") {
        const auto width = static_cast<std::int32_t>(reader.integer("width"));
        if (reader.fault() == nullptr && width > 0 && processors % width != 0)
            reader.fail("width", "is " + std::to_string(width) + ", which does not divide the machine's " +
                                     std::to_string(processors) + " processors");
        if (const Error* fault = reader.fault()) return *fault;
        return made<MeshFrame>(
            reader,
            MeshFrame::Options{.machine = width > 0 ? MeshShape{width, processors / width} : most_square(processors),
                               .choice = static_cast<MeshFrame::Choice>(reader.choice("choice")),
                               .rotate = reader.flag("rotate")});
    }
    if (!std::has_single_bit(static_cast<std::uint32_t>(processors)) ||
        processors > 1 << CubeDecomposer::kMaxDimensions)
        return invalid("allocator " + std::string(name) + " serves hypercubes of 2^n processors up to " +
                       std::to_string(1 << CubeDecomposer::kMaxDimensions) + ", not " + std::to_string(processors) +
                       ": name a machine of that size, or another allocator");
    const int dimensions = ceil_log2(processors);
    const HypercubeShape shape = static_cast<HypercubeShape>(reader.choice("shape"));
    if (name == "buddy") return made<BuddyCubes>(reader, dimensions, shape);
    const auto coalescing = static_cast<FreeCubes::Coalescing>(reader.choice("coalescing"));
    if (name == "free-list")
        return made<FreeListCubes>(
            reader, FreeListCubes::Options{.dimensions = dimensions, .shape = shape, .coalescing = coalescing});
    ZBS_EXPECTS(name == "afl");
    return made<AuxiliaryFreeList>(
        reader, AuxiliaryFreeList::Options{
                    .dimensions = dimensions,
                    .shape = shape,
                    .deallocation = static_cast<AuxiliaryFreeList::Deallocation>(reader.choice("deallocation")),
                    .coalescing = coalescing});
}

}  // namespace zbs

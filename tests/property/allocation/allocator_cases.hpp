#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "algorithms/allocation/registry.hpp"
#include "algorithms/base/expects.hpp"
#include "algorithms/base/rng.hpp"

namespace zbs::test {

/// An allocator with options.
struct AllocatorCase {
    std::string name;
    AllocatorOptions options;
    std::unique_ptr<Allocator> make(std::int32_t processors) const {
        auto made = make_allocator(name, processors, options);
        ZBS_EXPECTS(made.has_value());
        return *std::move(made);
    }
    std::string label() const {
        std::string text = name;
        for (const auto& [option, value] : options) text += "_" + option + "_" + value;
        for (char& c : text)
            if (c == '-') c = '_';
        return text;
    }
};

/// Every registered allocator, by its defaults and with each value of each choice; not those that are kept for what
/// they do wrong.
inline std::vector<AllocatorCase> allocator_cases() {
    std::vector<AllocatorCase> cases;
    for (const AllocatorInfo& info : allocators()) {
        cases.push_back({std::string(info.name), {}});
        for (const AllocatorOption& option : info.options)
            for (const std::string_view choice : option.choices)
                if (choice != option.default_value && choice != "pairwise")
                    cases.push_back({std::string(info.name), {{std::string(option.name), std::string(choice)}}});
    }
    return cases;
}

/// Draws what a job asks for: half of them meshes; small, or up to the machine's size.
inline AllocationRequest random_request(Rng& rng, std::int32_t processors, bool meshes) {
    const std::uint64_t most = rng.below(4) == 0 ? static_cast<std::uint64_t>(processors) : 6;
    if (!meshes || rng.below(2) == 0) return {.processors = static_cast<std::int32_t>(1 + rng.below(most))};
    const std::uint64_t side = rng.below(4) == 0 ? 8 : 3;
    return mesh_request(
        {static_cast<std::int32_t>(1 + rng.below(side)), static_cast<std::int32_t>(1 + rng.below(side))});
}

}  // namespace zbs::test

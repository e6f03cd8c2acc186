#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "algorithms/allocation/allocator.hpp"
#include "algorithms/base/option_reader.hpp"

namespace zbs {

using AllocatorOption = Option;
using AllocatorOptions = OptionValues;

/// An allocator as its users see it.
struct AllocatorInfo {
    std::string_view name;
    std::string_view summary;  ///< one sentence
    std::string_view source;   ///< key in REFERENCES.md, and place; "-" where it is common knowledge
    std::string_view machine;  ///< which machines it serves
    std::span<const AllocatorOption> options;
};

/// All allocators, by name.
std::span<const AllocatorInfo> allocators();
/// The allocator of this name, or nullptr.
const AllocatorInfo* find_allocator(std::string_view name);

/// The allocator `name` with `options` of an unused machine. Errors, kInvalidArgument: no such allocator, no such
/// option (each with the nearest word that exists), an option given twice, a value out of its range, a machine that it
/// cannot serve.
Result<std::unique_ptr<Allocator>> make_allocator(std::string_view name, std::int32_t processors,
                                                  const AllocatorOptions& options = {});

}  // namespace zbs

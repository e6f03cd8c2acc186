#pragma once
#include <map>
#include <optional>

#include "algorithms/allocation/allocator.hpp"

namespace zbs {

/// The free processors as ranges [begin, end) of numbers, which neither touch nor overlap.
class FreeRanges {
  public:
    explicit FreeRanges(std::int32_t count) { ranges_.emplace(0, count); }
    /// begin -> end.
    const std::map<std::int32_t, std::int32_t>& ranges() const { return ranges_; }
    /// Precondition: all of [begin, end) is free.
    void take(std::int32_t begin, std::int32_t end);
    /// Precondition: nothing of [begin, end) is free.
    void put(std::int32_t begin, std::int32_t end);

  private:
    std::map<std::int32_t, std::int32_t> ranges_;
};

/// Any processors: the lowest free numbers. A job that does not exceed the free processors gets them, so this never
/// stops a policy from what it has planned. A mesh gets X * Y processors, whose places mean nothing.
/// O(log ranges) for each range and O(processors of the job).
class FirstFitProcessors final : public Allocator {
  public:
    explicit FirstFitProcessors(std::int32_t capacity) : Allocator(capacity), free_(capacity) {}
    std::unique_ptr<Allocator> clone() const override { return std::make_unique<FirstFitProcessors>(*this); }
    std::unique_ptr<Allocator> unused() const override { return std::make_unique<FirstFitProcessors>(capacity()); }

  private:
    Result<void> fits(const AllocationRequest& request) const override;
    std::optional<Placement> place(JobId id, const AllocationRequest& request) override;
    void take_back(JobId id, const Placement& placement) override;
    FreeRanges free_;
};

/// Processors with consecutive numbers: the first free range that is long enough, or the shortest such one (the first
/// among equals). A mesh gets X * Y processors in a row. O(free ranges).
class ContiguousProcessors final : public Allocator {
  public:
    enum class Choice : std::uint8_t { kFirst, kBest };
    ContiguousProcessors(std::int32_t capacity, Choice choice)
        : Allocator(capacity), choice_(choice), free_(capacity) {}
    std::unique_ptr<Allocator> clone() const override { return std::make_unique<ContiguousProcessors>(*this); }
    std::unique_ptr<Allocator> unused() const override {
        return std::make_unique<ContiguousProcessors>(capacity(), choice_);
    }

  private:
    Result<void> fits(const AllocationRequest& request) const override;
    std::optional<Placement> place(JobId id, const AllocationRequest& request) override;
    void take_back(JobId id, const Placement& placement) override;
    Choice choice_;
    FreeRanges free_;
};

}  // namespace zbs

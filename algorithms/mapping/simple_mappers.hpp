#pragma once
#include "algorithms/mapping/mapper.hpp"

namespace zbs {

/// Consecutive tasks on consecutive processors, in as few zones as possible: what to do without a profile. O(tasks +
/// processors).
class BlockMapper final : public Mapper {
  public:
    std::string_view name() const override { return "block"; }
    Result<Mapping> map(const TaskGraph& graph, const ResourceGraph& resources,
                        const MapOptions& options) const override;
};

/// Deals tasks to the zones in turn, and to each zone's processors in turn; full ones are skipped. O(tasks +
/// processors).
class RoundRobinMapper final : public Mapper {
  public:
    std::string_view name() const override { return "round-robin"; }
    Result<Mapping> map(const TaskGraph& graph, const ResourceGraph& resources,
                        const MapOptions& options) const override;
};

/// Every free slot is equally likely; the baseline of a communication-ignorant scheduler. O(tasks + slots).
class RandomMapper final : public Mapper {
  public:
    std::string_view name() const override { return "random"; }
    Result<Mapping> map(const TaskGraph& graph, const ResourceGraph& resources,
                        const MapOptions& options) const override;
};

}  // namespace zbs

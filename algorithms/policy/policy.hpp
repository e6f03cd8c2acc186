#pragma once
#include "algorithms/model/plan.hpp"
#include "algorithms/model/zone_state.hpp"

namespace zbs {

/// A queue discipline: decides from a snapshot of a zone which waiting jobs start now and what the others are promised.
///
/// The contract, checked by one suite for every policy: a plan starts only waiting jobs, each once, that fit together
/// into the free processors, or has them all in the slice matrix where there is one; equal snapshots give equal
/// plans; what an object may keep between calls is an index that it can make anew from the snapshot, so that a fresh
/// object plans the same; every job of a finite workload gets to run unless the policy says otherwise.
///
/// One object serves one zone; calls come one at a time.
class Policy {
  public:
    virtual ~Policy() = default;
    /// Replaces `plan` by the decision for `zone`. Takes the buffers of a plan so that a million calls a second need no
    /// allocation.
    virtual void plan(const ZoneSnapshot& zone, Plan& plan) = 0;
    Plan plan(const ZoneSnapshot& zone) {
        Plan result;
        plan(zone, result);
        return result;
    }

    /// How running jobs share the processors under this policy.
    virtual ZoneState::Sharing sharing() const { return ZoneState::Sharing::kSpace; }
    /// What a driver has to be able to do, besides starting jobs.
    struct Needs {
        std::int32_t level = 1;  ///< most jobs that one processor has at a time, without stopped ones; 0: no bound
        bool stops = false;      ///< jobs that run are stopped, to go on later
        bool moves = false;      ///< jobs that run go on on other processors
    };
    virtual Needs needs() const { return {}; }
    /// Error kInvalidArgument where the policy cannot run a zone of so many processors; to be asked before the first
    /// plan.
    virtual Result<void> serves(std::int32_t processors) const {
        static_cast<void>(processors);
        return {};
    }

  protected:
    Policy() = default;
    Policy(const Policy&) = default;
    Policy& operator=(const Policy&) = default;
};

/// Whether an index over the snapshot's jobs can follow by the changes alone, or has to be made anew.
class IndexAge {
  public:
    /// True where the index was last brought up to the state that `zone.changes` start from. To be followed by
    /// `update`.
    bool follows(const ZoneSnapshot& zone) const {
        return known_ && generation_ == zone.generation && next_change_ == zone.change_base;
    }
    /// The index now shows `zone`, all of its changes included.
    void update(const ZoneSnapshot& zone) {
        known_ = true;
        generation_ = zone.generation;
        next_change_ = zone.change_base + zone.changes.size();
    }

  private:
    bool known_ = false;
    std::uint64_t generation_ = 0;
    std::uint64_t next_change_ = 0;
};

}  // namespace zbs

#pragma once
#include "services/common/ports/clock.hpp"
#include "services/common/ports/storage/zone_store.hpp"

namespace zbs {

/// What a zone decides again and again.
enum class Cycle {
    kPlan,   ///< home: where and when an application can start, once all offers are there
    kQueue,  ///< a decision of the queue discipline, and what follows from it at once
};

/// Told of what happens in a zone, on its strand, once that is stored (and before it is durable). For figures and
/// events: it changes nothing of the zone.
class ZoneObserver {
  public:
    virtual ~ZoneObserver() = default;
    /// It has entered the last state of its history just now.
    virtual void application_entered(const Application&) {}
    /// It has entered its state just now.
    virtual void part_entered(const PartRecord&) {}
    virtual void cycle_took(Cycle, Duration) {}
};

/// Of nothing.
inline ZoneObserver& no_observer() {
    static ZoneObserver none;
    return none;
}

/// Tells how long the scope takes that it lives in.
class CycleTimer {
  public:
    CycleTimer(ZoneObserver& observer, const Clock& clock, Cycle cycle)
        : observer_(observer), clock_(clock), cycle_(cycle), begin_(clock.steady_now()) {}
    ~CycleTimer() { observer_.cycle_took(cycle_, clock_.steady_now() - begin_); }
    CycleTimer(const CycleTimer&) = delete;
    CycleTimer& operator=(const CycleTimer&) = delete;

  private:
    ZoneObserver& observer_;
    const Clock& clock_;
    Cycle cycle_;
    Duration begin_;
};

}  // namespace zbs

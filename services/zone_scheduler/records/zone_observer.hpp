#pragma once
#include "services/common/messages/application.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/storage/part_store.hpp"

namespace zbs {

/// What a zone decides again and again.
enum class Cycle {
    kPlan,   ///< home: where and when an application can start, once all offers are there
    kQueue,  ///< a decision of the queue discipline, and what follows from it at once
};

/// Receives the events of a zone, on its strand, once they are stored (and before they are durable). For metrics and
/// events: it changes nothing of the zone.
class ZoneObserver {
  public:
    virtual ~ZoneObserver() = default;
    /// It has entered the last state of its history just now.
    virtual void application_entered(const Application& application) = 0;
    /// It has entered its state just now.
    virtual void part_entered(const PartRecord& part) = 0;
    virtual void cycle_took(Cycle cycle, Duration took) = 0;
};

/// Of nothing.
inline ZoneObserver& no_observer() {
    static struct : ZoneObserver {
        void application_entered(const Application&) override {}
        void part_entered(const PartRecord&) override {}
        void cycle_took(Cycle, Duration) override {}
    } none;
    return none;
}

/// Reports the duration of the scope that it lives in.
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

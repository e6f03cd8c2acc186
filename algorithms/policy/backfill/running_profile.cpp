#include "algorithms/policy/backfill/running_profile.hpp"

namespace zbs {

const CapacityProfile& RunningProfile::follow(const ZoneSnapshot& zone) {
    if (age_.follows(zone)) {
        profile_.forget_before(zone.now);
        for (const ZoneChange& change : zone.changes) {
            if (change.kind == ZoneChange::Kind::kStarted)
                profile_.add(zone.now, change.expected_end, -change.processors);
            else if (change.kind == ZoneChange::Kind::kEnded && change.expected_end > zone.now)
                profile_.add(zone.now, change.expected_end, change.processors);
        }
    } else {
        profile_.reset(zone.now, zone.processors);
        zone.running.visit([&](const RunningJob& job) {
            profile_.add(zone.now, job.expected_end, -job.processors);
            return true;
        });
    }
    age_.update(zone);
    return profile_;
}

}  // namespace zbs

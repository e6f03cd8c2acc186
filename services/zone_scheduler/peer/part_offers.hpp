#pragma once
#include <functional>
#include <set>
#include <vector>

#include "services/common/messages/capacity.hpp"
#include "services/zone_scheduler/peer/part_table.hpp"
#include "services/zone_scheduler/trust/authorization_filter.hpp"

namespace zbs {

/// How much a zone has for a user, now and later. Promises nothing.
class PartOffers {
  public:
    PartOffers(const ZoneConfig& config, const Clock& clock, PartTable& table, AuthorizationFilter& filter)
        : config_(config), clock_(clock), table_(table), filter_(filter) {}

    /// Without the zone's name, queue and links. Whether later starts are looked for does not depend on the user:
    /// nobody learns from the time it takes.
    Capacity find(const Caller& caller, const CapacityRequest& request) const;

  private:
    struct Question;
    StartWindow count_free(const Question& question, Duration start, bool by_estimate) const;
    std::vector<StartWindow> find_windows(const Question& question, int free_now) const;
    std::set<PartId> not_started(const Caller& home, const ApplicationId& application) const;

    const ZoneConfig& config_;
    const Clock& clock_;
    PartTable& table_;
    AuthorizationFilter& filter_;
};

}  // namespace zbs

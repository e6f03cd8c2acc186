#pragma once
#include <map>
#include <string>
#include <vector>

#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/zone_store.hpp"
#include "services/common/ports/zone_transport.hpp"
#include "services/zone_scheduler/domain/zone_config.hpp"

namespace zbs {

/// The zone among others: asks each zone that the registry lists to accept this organisation's users, and answers the
/// same question by the configured list. Peers are stored, so a registry that is down stops nothing but the finding of
/// new ones.
class PeerService {
  public:
    PeerService(const ZoneConfig& config, Clock& clock, ZoneStore& store, ZoneTransport& transport, Log& log);
    /// Verified entries from the registry.
    void found(const std::vector<ZoneEntry>& entries);
    Result<void> resume();  ///< loads known peers, then starts to enrol and to look around

    /// Another zone asks to be accepted. Errors: kUnauthenticated; kDenied where the caller is not the zone it names.
    Result<PeeringAnswer> answer(const Caller& caller, const PeeringRequest& request);
    /// True for zones of the own organisation and of those that are accepted here.
    bool accepts(const Caller& caller) const;
    std::vector<Peer> peers() const;

  private:
    void ask(const ZoneEntry& entry);
    void save(const Peer& peer);

    const ZoneConfig& config_;
    Clock& clock_;
    ZoneStore& store_;
    ZoneTransport& transport_;
    Log& log_;
    std::map<std::string, Peer> peers_;
    std::map<std::string, Duration> asked_;  ///< steady time of the last request, by zone
};

}  // namespace zbs

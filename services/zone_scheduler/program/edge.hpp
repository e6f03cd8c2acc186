#pragma once
#include <atomic>
#include <functional>
#include <string>

#include "services/common/host/service_host.hpp"
#include "services/zone_scheduler/assembly/zone_core.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

/// The zone's door: connections and calls within the rates of the settings, then the zone.
struct Edge {
    /// While there is no zone to serve, `standby` answers; on the strand.
    Edge(ServiceHost& host, const ZoneSettings& settings, std::string local_token,
         std::function<http::Reply(const http::Call&)> standby);
    /// Listens. The address as others see it. Errors: the server's.
    Result<std::string> open(const ZoneSettings& settings, const StateFolder& state);
    /// Writes down where it listens, for programs of this host, and into the operator's credentials.
    static Result<void> announce(const ZoneSettings& settings, const StateFolder& state, const std::string& url);
    /// From now on calls are this one's, which must outlive the edge; on the strand, or before anything runs.
    void serve(ZoneCore& zone) {
        zone_ = &zone;
        serves_ = true;
    }

    ServiceDoor door;

  private:
    /// Whether `call`, which came while there was no zone, has to come again: who calls was judged by what a standby
    /// knows of other organisations, which is nothing.
    static bool was_judged_early(bool came_early, const http::Call& call) {
        return came_early && !call.peer.refusal().empty();
    }

    ZoneCore* zone_ = nullptr;
    std::atomic<bool> serves_ = false;
    std::function<http::Reply(const http::Call&)> standby_;
};

}  // namespace zbs::zone_program

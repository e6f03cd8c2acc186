#pragma once
#include <memory>
#include <string>

#include "services/common/adapters/beast/server.hpp"
#include "services/common/http/rate_limit.hpp"
#include "services/zone_scheduler/core/zone_core.hpp"
#include "services/zone_scheduler/program/engine.hpp"

namespace zbs::zone_program {

/// The zone's door: connections and calls within the rates of the settings, then the zone.
struct Edge {
    Edge(Engine& engine, const ZoneSettings& settings, ZoneCore& zone);
    /// Listens, and writes down where. The address as others see it. Errors: the server's; a file that cannot be
    /// written.
    Result<std::string> open(const ZoneSettings& settings, const StateFolder& state);

    http::RateLimiter limiter;
    beast::Server server;
};

}  // namespace zbs::zone_program

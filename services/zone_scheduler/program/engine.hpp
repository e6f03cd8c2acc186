#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <memory>

#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/openssl/random_secrets.hpp"
#include "services/common/adapters/system/asio_clock.hpp"
#include "services/zone_scheduler/program/credentials.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

/// What the zone's code runs on: the queue of its threads, the domain's strand, the clock; and whom it believes.
struct Engine {
    boost::asio::io_context io;
    system::Strand strand = boost::asio::make_strand(io);
    system::AsioClock clock{strand};
    system::SystemIds ids;
    openssl::RandomSecrets secrets;
    openssl::TrustStore trust{[this] { return clock.now(); }};
    Credentials credentials;
};
/// Loads the credentials, and makes grid users and the registry known (that into `settings`).
Result<void> prepare(Engine& engine, const StateFolder& state, ZoneSettings& settings);

/// Calls to other zones and to the registry.
std::unique_ptr<cpprest::HttpCaller> make_client(const Engine& engine, const ZoneSettings& settings);

}  // namespace zbs::zone_program

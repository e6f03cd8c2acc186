#include "client/api/delegate.hpp"

#include <algorithm>

namespace zbs::client {

Duration delegation_lifetime(Duration walltime) {
    return std::min<Duration>(std::chrono::hours{12}, walltime + std::chrono::hours{1});
}

Result<void> delegate(ZoneClient& zone, const std::string& id, const std::string& application, Duration lifetime) {
    if (zone.credentials() == nullptr) return {};
    codec::Json wanted = {{"id", id}};
    if (!application.empty()) wanted["application"] = application;
    const Result<codec::Json> made = zone.call("POST", "/v1/delegations", wanted);
    if (!made) return made.error();
    const Result<std::string> chain =
        zone.credentials()->sign_delegation(made->value("request", ""), application, lifetime);
    if (!chain) return chain.error();
    const Result<codec::Json> put = zone.call("PUT", "/v1/delegations/" + id, {{"chain", *chain}});
    if (!put) return put.error();
    return {};
}

}  // namespace zbs::client

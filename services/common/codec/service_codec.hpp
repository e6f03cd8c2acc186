#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/common/messages/names/identity.hpp"

/// Messages that every service sends.
namespace zbs::codec {

/// The answer of `/livez`, `/healthz` and `/readyz`.
struct Health {
    static constexpr std::string_view kOk = "ok", kStandby = "standby";
    std::string status{kOk};
    std::string reason{};  ///< why a scheduler that stands by could not take over; empty: it could
    bool operator==(const Health&) const = default;
};
Json encode(const Health& health);
/// Any value is accepted, also that of a newer service: a member that is absent or no text is empty.
Health decode_health(const Json& json);

/// A refusal, as RFC 9457 has it.
struct Problem {
    int status = 0;
    std::string code;         ///< the word of an ErrorCode
    std::string detail;       ///< a sentence
    std::string pointer{};    ///< of the field at fault; empty: none
    std::string complaint{};  ///< about that field
    bool operator==(const Problem&) const = default;
};
Json encode(const Problem& problem);
/// Any value is accepted, because it may come from a proxy: a member that is absent or of another type is empty.
Problem decode_problem(const Json& json);

/// The caller, as a service sees it.
struct WhoAmI {
    std::string name;  ///< a URI; of an anonymous caller the empty one
    bool via_proxy = false;
    bool limited = false;
    std::string serial{};  ///< of its certificate; empty: none
    bool operator==(const WhoAmI&) const = default;
};
WhoAmI who_is(const PeerIdentity& peer);
struct WhoAmIInZone {
    WhoAmI caller;
    std::vector<std::string> groups;
    std::string zone;  ///< a URI
    bool operator==(const WhoAmIInZone&) const = default;
};
Json encode(const WhoAmIInZone& who);
Result<WhoAmIInZone> decode_whoami_in_zone(const Json& json);
struct WhoAmIInRegistry {
    WhoAmI caller;
    bool enrolled = false;
    std::string registry;  ///< a URI
    bool operator==(const WhoAmIInRegistry&) const = default;
};
Json encode(const WhoAmIInRegistry& who);
Result<WhoAmIInRegistry> decode_whoami_in_registry(const Json& json);

}  // namespace zbs::codec

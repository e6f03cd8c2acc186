#include "services/zone_scheduler/assembly/zone_domain.hpp"

#include <utility>

#include "services/common/codec/json/json.hpp"
#include "services/common/codec/model_codec.hpp"

namespace zbs {
namespace {

Result<ApplicationModel> decode_model_text(std::string_view text) {
    const auto json = codec::parse(text);
    if (!json) return json.error();
    return codec::decode_model(*json);
}

}  // namespace

ZoneDomain::ZoneDomain(DomainPorts ports)
    : ports_(std::move(ports)),
      peerings(ports_.config, ports_.clock, ports_.site, ports_.trust, ports_.log, peering_ports()),
      filter(ports_.config, ports_.clock, ports_.site, peerings,
             [this](const Caller& subject) { return membership.is_blocked(subject); }),
      peers(ports_.config, ports_.clock, ports_.store, ports_.transport, ports_.keys, ports_.trust, peerings,
            ports_.log),
      membership(ports_.config, ports_.clock, ports_.site, ports_.keys, ports_.trust, ports_.secrets, ports_.log),
      delegations(ports_.config, ports_.clock, ports_.site, ports_.keys, ports_.trust, ports_.log),
      parts(part_ports()),
      applications(application_ports()) {}

Result<void> ZoneDomain::resume() {
    if (auto resumed = membership.resume(); !resumed) return resumed;
    if (auto resumed = peerings.resume(); !resumed) return resumed;
    if (auto resumed = filter.resume(); !resumed) return resumed;
    if (auto resumed = delegations.resume(); !resumed) return resumed;
    if (auto resumed = parts.resume(); !resumed) return resumed;
    if (auto resumed = peers.resume(); !resumed) return resumed;
    return applications.resume();
}

PeeringPorts ZoneDomain::peering_ports() {
    return {.is_blocked = [this](const Caller& subject) { return membership.is_blocked(subject); },
            .accounts = [this] { return filter.accounts(); },
            .check_account = std::move(ports_.check_account),
            .usage = [this](const OrganisationName& of) { return parts.front().table().usage_of(of); }};
}

/// What the zone as a peer works with.
PartPorts ZoneDomain::part_ports() {
    PartPorts made{
        .config = ports_.config,
        .clock = ports_.clock,
        .store = ports_.store,
        .executor = ports_.executor,
        .peerings = peerings,
        .filter = filter,
        .log = ports_.log,
        .decode = decode_model_text,
        .observer = ports_.observer,
        .queue_observer = std::move(ports_.queue_observer),
        .queue_observer_of = std::move(ports_.queue_observer_of),
        .part_observer = std::move(ports_.part_observer),
        .files = &ports_.files,
        .allocations = ports_.allocations,
        .slices = ports_.slices,
        .machines = std::move(ports_.machines),
        .machines_every = ports_.machines_every,
        .check_delegation = [this](const PartRequest& part, bool required) { return check_delegation(part, required); },
        .link_to = std::move(ports_.link_to),
        .link_within = std::move(ports_.link_within),
        .is_blocked = [this](const Caller& subject) { return membership.is_blocked(subject); },
        .drains = ports_.drains};
    if (ports_.check_address) made.check_address = std::move(ports_.check_address);
    return made;
}

/// What the zone as a home works with.
ApplicationPorts ZoneDomain::application_ports() {
    return {.config = ports_.config,
            .clock = ports_.clock,
            .background = ports_.background,
            .ids = ports_.ids,
            .store = ports_.store,
            .executor = ports_.executor,
            .transport = ports_.transport,
            .peers = peers,
            .log = ports_.log,
            .observer = ports_.observer,
            .step_observer = std::move(ports_.application_observer),
            .delegations = &delegations,
            .files = &ports_.files,
            .program_digest = std::move(ports_.program_digest),
            .account_of = [this](const Caller& user) { return own_account(user); },
            .groups_of = [this](const Caller& user) { return membership.groups_of(user); },
            .is_blocked = [this](const Caller& subject) { return membership.is_blocked(subject); },
            .drains = ports_.drains,
            .is_doubtful = [this](const OrganisationName& organisation) { return peerings.is_doubtful(organisation); },
            .record_reputation =
                [this](const OrganisationName& organisation, TrustEvent event) {
                    peerings.record(organisation, event);
                    if (ports_.conduct_noted) ports_.conduct_noted(organisation, event);
                }};
}

/// The local account that an own user's launcher runs as.
Result<AccountName> ZoneDomain::own_account(const Caller& user) {
    if (!ports_.config.run_as_accounts) return AccountName{};
    const Entitlement own = filter.find({.home = ports_.config.self(),
                                         .user = user,
                                         .groups = membership.groups_of(user),
                                         .walltime = {},
                                         .usage = {}});
    if (!own.given)
        return Error{ErrorCode::kRejected, "this zone has no account for you; ask " + ports_.config.contact, {}};
    Result<AccountName> account = filter.take_account(own, user);
    if (!account) return account;
    if (auto noted = filter.record_run(*account); !noted) return noted.error();
    return account;
}

Result<void> ZoneDomain::check_delegation(const PartRequest& part, bool required) const {
    if (!part.delegation && !required) return {};
    if (!part.delegation)
        return Error{ErrorCode::kDenied,
                     "this zone wants to see the user's delegation; submit with 'zbs run' or 'zbs submit', which "
                     "sign one",
                     "/delegation"};
    const Result<DelegationInfo> good = delegations.check(part, *part.delegation);
    if (!good) return good.error();
    return {};
}

}  // namespace zbs

#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/common/codec/site_codec.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"

// Routes about who is who: users and their certificates, trust, blocks.
namespace zbs {
namespace {

using http::Body;
using http::Reply;
using http::Request;

Reply issue(const Request& request, ZoneServices& services, bool by_code) {
    const Result<EnrolmentRequest> wanted = codec::decode_enrolment_request(request.json);
    if (!wanted) return http::problem(wanted.error());
    if (by_code == wanted->code.empty()) {
        return http::problem(invalid(by_code ? "is needed, with the name: both from your operator's token"
                                             : "is not needed to renew: the certificate you have says who you are",
                                     "/code"));
    }
    const Result<EnrolmentAnswer> answer =
        by_code ? services.membership.enrol(*wanted) : services.membership.renew(request.call.peer, wanted->request);
    if (!answer) return http::problem(answer.error());
    return {201, "application/json", codec::dump(codec::encode(*answer)), {}};
}

const char* word_of(MembershipService::Standing standing) {
    using enum MembershipService::Standing;
    switch (standing) {
        case kActive:
            return "active";
        case kInvited:
            return "invited";
        case kLapsed:
            return "lapsed";
        case kRevoked:
            return "revoked";
        case kBlocked:
            return "blocked";
    }
    return "unknown";
}

codec::MemberRow row_of(const Member& member, const MembershipService& membership) {
    return {member, word_of(membership.standing_of(member)), membership.code_until(member).has_value()};
}

using http::Body;
using http::Reply;
using http::Request;

Reply view(const Result<Delegation>& delegation) {
    return http::reply(delegation, [](const Delegation& d) { return codec::encode_view(d); });
}

template <class Answer>
Reply with_id(const Request& request, Answer answer) {
    const auto id = codec::decode_id<DelegationId>(request.call.parameters.at("id"), "id");
    return id ? answer(*id) : http::problem(id.error());
}

}  // namespace

void add_identity_routes(http::Router& router, ZoneServices& services) {
    router.add_sync("POST", "/v1/enrolments", Action::kRequestEnrolment, Body::kJson,
                    [&services](const Request& request) { return issue(request, services, true); });
    router.add_sync("POST", "/v1/certificates", Action::kRenewCertificate, Body::kJson,
                    [&services](const Request& request) { return issue(request, services, false); });
    router.add_sync("GET", "/v1/trust", Action::kGetTrust, Body::kNone, [&services](const Request& request) {
        return http::ok(codec::encode(services.membership.statement_for(request.call.peer)));
    });
    router.add_sync("GET", "/v1/whoami", Action::kWhoAmI, Body::kNone, [&services](const Request& request) {
        const PeerIdentity& peer = request.call.peer;
        return http::ok(codec::encode(codec::WhoAmIInZone{
            codec::who_is(peer), services.membership.groups_of(peer.name()), to_uri(services.config.self())}));
    });
    router.add_sync("POST", "/v1/users", Action::kCreateUser, Body::kJson, [&services](const Request& request) {
        const Result<codec::NewUser> user = codec::decode_new_user(request.json);
        if (!user) return http::problem(user.error());
        const auto invitation = services.membership.add_user(user->name, user->groups);
        if (!invitation) return http::problem(invitation.error());
        return http::created("/v1/users/" + user->name,
                             codec::encode(codec::InvitedUser{user->name, invitation->token, invitation->expires}));
    });
    router.add_sync("GET", "/v1/users", Action::kListUsers, Body::kNone, [&services](const Request&) {
        std::vector<codec::MemberRow> rows;
        for (const Member& member : services.membership.users()) rows.push_back(row_of(member, services.membership));
        return http::ok(codec::encode_users(rows));
    });
    router.add_sync("DELETE", "/v1/users/{name}", Action::kRevokeUser, Body::kNone,
                    [&services](const Request& request) {
                        return http::reply(
                            services.membership.revoke_user(request.call.parameters.at("name")),
                            [&](const Member& member) { return codec::encode(row_of(member, services.membership)); });
                    });
    router.add_sync("POST", "/v1/blocks", Action::kBlockSubject, Body::kJson, [&services](const Request& request) {
        const Result<codec::NewBlock> wanted = codec::decode_new_block(request.json);
        if (!wanted) return http::problem(wanted.error());
        const Result<Block> block = services.membership.block(wanted->subject, wanted->reason, request.call.caller());
        if (!block) return http::problem(block.error());
        const bool known = services.membership.is_known(block->subject);
        return Reply{201, "application/json", codec::dump(codec::encode_created(*block, known)), {}};
    });
    router.add_sync("GET", "/v1/blocks", Action::kListBlocks, Body::kNone, [&services](const Request&) {
        std::vector<codec::AnnouncedBlock> announced;
        for (const auto& [subject, zone] : services.membership.announced_blocks())
            announced.push_back({subject, to_uri(zone)});
        return http::ok(codec::encode_blocks(services.membership.blocks(), announced));
    });
    router.add_sync("DELETE", "/v1/blocks", Action::kUnblockSubject, Body::kNone, [&services](const Request& request) {
        const auto subject = request.call.query.find("subject");
        if (subject == request.call.query.end() || request.call.query.size() != 1)
            return http::problem(invalid("is needed, and nothing else: whom to unblock", "subject"));
        return http::reply(services.membership.unblock(subject->second), [&](const std::vector<Caller>& announcers) {
            std::vector<std::string> names;
            for (const Caller& zone : announcers) names.push_back(to_uri(zone));
            return codec::encode_unblocked(subject->second, names);
        });
    });
}

void add_delegation_routes(http::Router& router, ZoneServices& services) {
    router.add_sync("POST", "/v1/delegations", Action::kRequestDelegation, Body::kJson,
                    [&services](const Request& request) {
                        const Result<codec::NewDelegation> wanted =
                            codec::decode_new_delegation(request.json, {services.ids.fresh(request.call.caller())});
                        if (!wanted) return http::problem(wanted.error());
                        const Result<Delegation> made =
                            services.delegations.request(request.call.caller(), wanted->id, wanted->application);
                        if (!made) return http::problem(made.error());
                        return http::created("/v1/delegations/" + to_string(made->id), codec::encode_view(*made));
                    });
    router.add_sync("PUT", "/v1/delegations/{id}", Action::kPutDelegation, Body::kJson,
                    [&services](const Request& request) {
                        return with_id(request, [&](const DelegationId& id) {
                            const Result<std::string> chain = codec::decode_proxy_chain(request.json);
                            if (!chain) return http::problem(chain.error());
                            return view(services.delegations.put(request.call.caller(), id, *chain));
                        });
                    });
    router.add_sync("GET", "/v1/delegations/{id}", Action::kGetDelegation, Body::kNone,
                    [&services](const Request& request) {
                        return with_id(request, [&](const DelegationId& id) {
                            return view(services.delegations.get(request.call.caller(), id));
                        });
                    });
    router.add_sync("DELETE", "/v1/delegations/{id}", Action::kDeleteDelegation, Body::kNone,
                    [&services](const Request& request) {
                        return with_id(request, [&](const DelegationId& id) {
                            const Result<void> gone = services.delegations.remove(request.call.caller(), id);
                            return gone ? http::ok(codec::encode_removed(id)) : http::problem(gone.error());
                        });
                    });
}

}  // namespace zbs

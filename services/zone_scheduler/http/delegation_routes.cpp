// Routes by which users hand rights to their home zone.
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/site_codec.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"

namespace zbs {
namespace {

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

#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>

#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/openssl/signature.hpp"
#include "services/common/adapters/openssl/trust/proxy.hpp"
#include "services/zone_scheduler/trust/delegation_service.hpp"
#include "services/zone_scheduler/trust/membership_service.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {

inline std::string content_of(const std::string& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// A zone with real keys, as far as it deals with identities. Several share one clock.
struct IdentityZone {
    IdentityZone(VirtualClock& the_clock, const OrganisationName& organisation, const std::string& name)
        : clock(the_clock), trust([&the_clock] { return the_clock.now(); }) {
        config.zone = {name, {{"m0", 2, 1.0}}};
        config.organisation = organisation;
        config.url = "https://" + name + ":1";
        ZBS_EXPECTS(openssl::create_organisation(folder.path("identity"), organisation, config.name(), clock.now()));
        start();
    }
    /// Also a new start on the same store.
    void start() {
        keys = *openssl::KeyFolder::open(folder.path("identity"), [this] { return clock.now(); });
        membership = std::make_unique<MembershipService>(config, clock, store, keys.get(), trust, secrets, log);
        delegations = std::make_unique<DelegationService>(config, clock, store, keys.get(), trust, log);
        ZBS_EXPECTS(membership->resume() && delegations->resume());
    }
    Caller self() const { return {CallerKind::kZone, config.organisation, config.zone.name}; }
    Caller user(const std::string& name) const { return {CallerKind::kUser, config.organisation, name}; }
    Caller boss() const { return {CallerKind::kOperator, config.organisation, "operator"}; }

    /// A code for this user.
    std::string invite(const std::string& name, std::vector<std::string> groups = {}) {
        const auto made = membership->add_user(name, std::move(groups));
        EXPECT_TRUE(made);
        return parse_join_token(made->token)->code;
    }
    /// A user who has joined: her key and her chain.
    struct Joined {
        std::string key;
        std::string chain;
        PeerIdentity identity;
    };
    Joined join(const std::string& name) {
        const OwnKeys::ProxyRequest request = *openssl::make_user_request();
        const Result<EnrolmentAnswer> answer = membership->enrol({name, invite(name), request.request});
        ZBS_EXPECTS(answer);
        return {request.key, answer->certificate,
                PeerIdentity(answer->user, Evidence::kCertificate, false,
                             membership_record(name).certificates.back().serial)};
    }
    Member membership_record(const std::string& name) const {
        for (const Member& member : membership->users()) {
            if (member.name == name) return member;
        }
        return {};
    }
    /// Both believe each other's names.
    void trust_in(const IdentityZone& other) {
        ZBS_EXPECTS(trust.pin(other.config.organisation, other.keys->bundle()));
    }

    VirtualClock& clock;
    ZoneConfig config;
    TemporaryFolder folder;
    openssl::TrustStore trust;
    openssl::RandomSecrets secrets;
    MemorySiteStore store;
    SilentLog log;
    std::unique_ptr<openssl::KeyFolder> keys;
    std::unique_ptr<MembershipService> membership;
    std::unique_ptr<DelegationService> delegations;
};

class IdentityWorld : public testing::Test {
  protected:
    IdentityWorld() {
        home.trust_in(away);
        away.trust_in(home);
    }
    VirtualClock clock{kToday};
    IdentityZone home{clock, "org-a", "alpha"};
    IdentityZone away{clock, "org-b", "beta"};
};

}  // namespace zbs::test

#include "services/common/adapters/openssl/issuing/self_renewal.hpp"

#include <gtest/gtest.h>
#include <openssl/pem.h>

#include <filesystem>

#include "services/common/adapters/openssl/handles.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {
namespace {
namespace fs = std::filesystem;
using openssl::SelfRenewal;
using std::chrono::hours;
using std::chrono::minutes;

constexpr Duration kDay = hours{24};
constexpr const char* kRemedy = "run 'zbs-zone renew --certificate FILE'";

/// Zone alpha of org-a, whose certificate lasts 30 days, and its server.
class SelfRenewalTest : public testing::Test {
  protected:
    void begin(Duration authority = openssl::kAuthorityLifetime) {
        const std::string folder = temporary.path("identity");
        const openssl::OrganisationOptions options{.authority_lifetime = authority, .certificate_lifetime = 30 * kDay};
        ASSERT_TRUE(openssl::create_organisation(folder, "org-a", "alpha", clock.now(), options));
        open(folder);
    }
    /// The same zone, with its CA key elsewhere.
    void take_authority_away() {
        const std::string folder = temporary.path("identity");
        fs::remove(folder + "/ca_key.pem");
        fs::remove(folder + "/ca.pem");
        open(folder);
    }
    void open(const std::string& folder) {
        auto opened = openssl::KeyFolder::open(folder, [this] { return clock.now(); });
        ASSERT_TRUE(opened) << opened.error();
        keys = *std::move(opened);
        auto made = openssl::TlsServer::make(*keys, trust);
        ASSERT_TRUE(made) << made.error();
        server = *std::move(made);
        renewal = std::make_unique<SelfRenewal>(*keys, *server, clock, log, kRemedy);
    }
    int warnings() const { return log.count("certificate_runs_out"); }
    std::string last_reason() const { return log.lines.back().fields.back().second; }

    TemporaryFolder temporary;
    VirtualClock clock;
    SilentLog log;
    openssl::TrustStore trust{[this] { return clock.now(); }};
    std::unique_ptr<openssl::KeyFolder> keys;
    std::shared_ptr<openssl::TlsServer> server;
    std::unique_ptr<SelfRenewal> renewal;
};

/// Whether a program that knows hosts only believes the certificate to be `host`'s.
bool names(const openssl::KeyFolder& keys, const char* host) {
    const std::string pem = keys.chain();
    const openssl::Bio source(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    const openssl::Certificate leaf(PEM_read_bio_X509(source.get(), nullptr, nullptr, nullptr));
    return X509_check_host(leaf.get(), host, 0, 0, nullptr) == 1 || X509_check_ip_asc(leaf.get(), host, 0) == 1;
}

TEST_F(SelfRenewalTest, NamesTheHostsOfTheServiceAtOnceAndKeepsThoseOfBefore) {
    begin();
    EXPECT_FALSE(names(*keys, "zone-a.example.org"));
    keys->serve_as({"zone-a.example.org", "10.0.0.7", "2001:db8::7"});
    renewal->start();
    for (const char* host : {"zone-a.example.org", "10.0.0.7", "2001:db8::7"}) EXPECT_TRUE(names(*keys, host)) << host;
    EXPECT_FALSE(names(*keys, "zone-b.example.org"));
    EXPECT_EQ(log.count("certificate_renewed"), 1);
    EXPECT_FALSE(keys->is_due(clock.now()));

    open(temporary.path("identity"));  // the other scheduler of the zone, on a host of its own
    keys->serve_as({"zone-b.example.org"});
    renewal->start();
    EXPECT_TRUE(names(*keys, "zone-a.example.org"));
    EXPECT_TRUE(names(*keys, "zone-b.example.org"));
    EXPECT_EQ(to_uri(keys->name()), "spiffe://org-a/zone/alpha");
}

TEST_F(SelfRenewalTest, ALackingHostIsNoFaultWhereAnotherCaIssues) {
    begin();
    take_authority_away();
    keys->serve_as({"zone-a.example.org"});
    renewal->start();
    EXPECT_FALSE(names(*keys, "zone-a.example.org"));
    EXPECT_EQ(warnings(), 0);
}

TEST_F(SelfRenewalTest, RenewsAfterTwoThirdsOfTheLifeAndNotBefore) {
    begin();
    const Time end = keys->not_after();
    const auto context = server->context();
    int renewals = 0;
    renewal->on_renewed([&] { ++renewals; });
    renewal->start();
    clock.advance(20 * kDay - hours{1});
    EXPECT_EQ(keys->not_after(), end);
    EXPECT_EQ(server->context(), context);
    clock.advance(hours{2});
    EXPECT_GT(keys->not_after(), end + 19 * kDay);
    EXPECT_NE(server->context(), context) << "who connects now sees the new one";
    EXPECT_EQ(log.count("certificate_renewed"), 1);
    EXPECT_EQ(renewals, 1);
    EXPECT_EQ(warnings(), 0);
}

TEST_F(SelfRenewalTest, GoesOnForAsLongAsTheServiceRuns) {
    begin();
    renewal->start();
    clock.advance(365 * kDay);
    EXPECT_GT(keys->not_after() - clock.now(), 9 * kDay);
    EXPECT_GE(log.count("certificate_renewed"), 17);
}

TEST_F(SelfRenewalTest, WithoutTheAuthorityItWarnsDailyAndNamesTheCommand) {
    begin();
    take_authority_away();
    const auto context = server->context();
    renewal->start();
    clock.advance(20 * kDay - hours{1});
    EXPECT_EQ(warnings(), 0);
    clock.advance(hours{2});
    EXPECT_EQ(warnings(), 1);
    EXPECT_NE(last_reason().find(kRemedy), std::string::npos) << last_reason();
    clock.advance(3 * kDay);
    EXPECT_EQ(warnings(), 4);
    EXPECT_EQ(server->context(), context);
}

TEST_F(SelfRenewalTest, AnAuthorityThatEndsItselfIsSaid) {
    begin(30 * kDay);
    renewal->start();
    clock.advance(21 * kDay);
    EXPECT_GE(warnings(), 1);
    EXPECT_NE(last_reason().find("CA itself ends"), std::string::npos) << last_reason();
}

TEST_F(SelfRenewalTest, ACertificateThatIsPutInPlaceEndsTheWarnings) {
    begin();
    const auto authority = std::move(keys);  // its CA key stays in memory
    take_authority_away();
    renewal->start();
    clock.advance(21 * kDay);
    const int before = warnings();
    ASSERT_TRUE(*authority->renew_if_due(clock.now()));
    ASSERT_TRUE(keys->reload());
    clock.advance(10 * kDay);
    EXPECT_EQ(warnings(), before);
}

}  // namespace
}  // namespace zbs::test

#include "services/common/adapters/openssl/own_keys.hpp"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "services/common/adapters/openssl/trust/proxy.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/trust_world.hpp"

namespace zbs::test {
namespace {
namespace fs = std::filesystem;
using openssl::KeyFolder;
using std::chrono::hours;

std::string read(const std::string& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}
void write(const std::string& path, const std::string& content) {
    std::ofstream(path) << content;
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
}

/// A folder of org-a's zone alpha and a store that believes org-a.
class KeyFolderTest : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(openssl::create_organisation(folder, "org-a", "alpha", now));
        ASSERT_TRUE(trust.pin("org-a", read(folder + "/bundle.pem")));
    }
    Result<std::unique_ptr<KeyFolder>> open() {
        return KeyFolder::open(folder, [this] { return now; });
    }
    std::string fault() {
        const auto opened = open();
        return opened ? "" : opened.error().message;
    }
    std::string signer(const SignedText& text) const {
        const Result<CertificateInfo> info = trust.verify_text("test", text);
        return info ? to_uri(info->name) : info.error().message;
    }

    TemporaryFolder temporary;
    std::string folder = temporary.path("identity");
    Time now = kToday;
    openssl::TrustStore trust{[this] { return now; }};
};

TEST_F(KeyFolderTest, IsMadeForItsOwnerOnly) {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        names.insert(fs::relative(entry.path(), folder));
        const auto mode = fs::status(entry.path()).permissions() & fs::perms::all;
        EXPECT_EQ(mode, fs::perms(entry.is_directory() ? 0700 : 0600)) << entry.path();
    }
    EXPECT_EQ(names,
              (std::set<std::string>{"key.pem", "certificate.pem", "bundle.pem", "ca_key.pem", "ca.pem", "operator",
                                     "operator/key.pem", "operator/certificate.pem", "operator/bundle.pem"}));
    EXPECT_EQ(fs::status(folder).permissions() & fs::perms::all, fs::perms(0700));
    EXPECT_EQ(std::distance(fs::directory_iterator(temporary.path()), fs::directory_iterator{}), 1) << "left over";
}

TEST_F(KeyFolderTest, IsNeverOverwritten) {
    const std::string key = read(folder + "/key.pem");
    const Result<void> again = openssl::create_organisation(folder, "org-a", "alpha", now);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::kConflict);
    EXPECT_EQ(read(folder + "/key.pem"), key);
    EXPECT_TRUE(openssl::make_registry(temporary.path("empty/"), "org-r", "main", now));
    fs::create_directory(temporary.path("there"));
    EXPECT_TRUE(openssl::create_organisation(temporary.path("there"), "org-b", "beta", now));
    EXPECT_FALSE(openssl::create_organisation(temporary.path("no/such/folder"), "org-b", "beta", now));
}

TEST_F(KeyFolderTest, NamesThatAreNoneMakeNothing) {
    for (const char* bad : {"", "Org", "a/b", "a,b", "a\nb"}) {
        EXPECT_FALSE(openssl::create_organisation(temporary.path("x"), OrganisationName(bad), "alpha", now)) << bad;
        EXPECT_FALSE(openssl::create_organisation(temporary.path("x"), "org", ZoneName(bad), now)) << bad;
        EXPECT_FALSE(openssl::create_organisation(temporary.path("x"), "org", "alpha", now, {.operator_name = bad}));
    }
    EXPECT_FALSE(fs::exists(temporary.path("x")));
}

TEST_F(KeyFolderTest, SignsAsItsZone) {
    const auto keys = open();
    ASSERT_TRUE(keys) << keys.error();
    EXPECT_EQ(to_uri((*keys)->name()), "spiffe://org-a/zone/alpha");
    EXPECT_EQ((*keys)->not_after(), kToday + openssl::kCertificateLifetime);
    const Result<SignedText> text = (*keys)->sign("test", "hello");
    ASSERT_TRUE(text);
    EXPECT_EQ(signer(*text), "spiffe://org-a/zone/alpha");
}

TEST_F(KeyFolderTest, OperatorAndRegistryHaveTheirOwn) {
    const auto person = KeyFolder::open(folder + "/operator", [this] { return now; });
    ASSERT_TRUE(person) << person.error();
    EXPECT_EQ(to_uri((*person)->name()), "spiffe://org-a/operator/operator");
    EXPECT_FALSE((*person)->can_issue());
    EXPECT_EQ(signer(*(*person)->sign("test", "x")), "spiffe://org-a/operator/operator");
    ASSERT_TRUE(openssl::make_registry(temporary.path("registry"), "org-r", "main", now));
    const auto registry = KeyFolder::open(temporary.path("registry"), [this] { return now; });
    ASSERT_TRUE(registry);
    EXPECT_EQ(to_uri((*registry)->name()), "spiffe://org-r/registry/main");
}

TEST_F(KeyFolderTest, TellsWhatIsWrongWithItsFiles) {
    TemporaryFolder other;
    ASSERT_TRUE(openssl::create_organisation(other.path("b"), "org-b", "beta", now));
    const std::string foreign = other.path("b") + "/";
    struct Case {
        const char* what;
        std::function<void()> spoil;
        const char* reason;
    };
    const auto at = [&](const char* name) { return folder + "/" + name; };
    const Case cases[] = {
        {"readable", [&] { chmod(at("key.pem").c_str(), 0640); }, "others may use; run 'chmod 600"},
        {"CA key readable", [&] { chmod(at("ca_key.pem").c_str(), 0604); }, "others may use; run 'chmod 600"},
        {"open folder", [&] { chmod(folder.c_str(), 0777); }, "others may put files into"},
        {"no key", [&] { fs::remove(at("key.pem")); }, "key.pem is missing"},
        {"no chain", [&] { fs::remove(at("certificate.pem")); }, "certificate.pem is missing"},
        {"other key", [&] { write(at("key.pem"), read(foreign + "key.pem")); }, "does not belong to the first"},
        {"other bundle", [&] { write(at("bundle.pem"), read(foreign + "bundle.pem")); }, "is not in bundle.pem"},
        {"other CA key", [&] { write(at("ca_key.pem"), read(foreign + "ca_key.pem")); }, "does not belong to the cert"},
        {"CA key alone", [&] { fs::remove(at("ca.pem")); }, "put both there or none"},
        {"leaf as CA",
         [&] {
             write(at("ca.pem"), read(at("certificate.pem")));
             write(at("ca_key.pem"), read(at("key.pem")));
         },
         "is no certificate of a CA"},
        {"cut", [&] { write(at("certificate.pem"), read(at("certificate.pem")).substr(0, 300)); }, "is damaged"},
        {"password",
         [&] {
             write(at("key.pem"),
                   "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGjMF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAk\n-----END "
                   "ENCRYPTED PRIVATE KEY-----\n");
         },
         "without a password"},
        {"large", [&] { write(at("key.pem"), std::string(20'000, 'x')); }, "is over 16384 bytes"},
        {"folder as key",
         [&] {
             fs::remove(at("key.pem"));
             fs::create_directory(at("key.pem"));
         },
         "is no regular file"},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.what);
        fs::remove_all(folder);
        ASSERT_TRUE(openssl::create_organisation(folder, "org-a", "alpha", now));
        c.spoil();
        EXPECT_NE(fault().find(c.reason), std::string::npos) << fault();
    }
}

TEST_F(KeyFolderTest, ExpiredWithoutCaIsRefused) {
    fs::remove(folder + "/ca_key.pem");
    fs::remove(folder + "/ca.pem");
    now += hours{24 * 366};
    EXPECT_NE(fault().find("certificate.pem: certificate of spiffe://org-a/zone/alpha expired on 2027-06-01"),
              std::string::npos)
        << fault();
}

TEST_F(KeyFolderTest, ExpiredWithCaRenewsItself) {
    now += hours{24 * 366};
    const auto keys = open();
    ASSERT_TRUE(keys) << keys.error();
    EXPECT_GT((*keys)->not_after(), now);
    EXPECT_EQ(signer(*(*keys)->sign("test", "x")), "spiffe://org-a/zone/alpha");
}

TEST_F(KeyFolderTest, RenewsUnderAThirdOfItsLife) {
    const auto keys = open();
    ASSERT_TRUE(keys);
    const std::string before = (*keys)->chain();
    now += hours{24 * 240};
    EXPECT_FALSE(*(*keys)->renew_if_due(now));
    EXPECT_EQ((*keys)->chain(), before);
    now += hours{24 * 5};
    const Result<bool> renewed = (*keys)->renew_if_due(now);
    ASSERT_TRUE(renewed) << renewed.error();
    EXPECT_TRUE(*renewed);
    EXPECT_NE((*keys)->chain(), before);
    EXPECT_EQ((*keys)->not_after(), now + openssl::kCertificateLifetime);
    EXPECT_EQ(read(folder + "/certificate.pem"), (*keys)->chain());
    EXPECT_FALSE(*(*keys)->renew_if_due(now)) << "just renewed";
    ASSERT_TRUE(open()) << "another start reads what was renewed";
}

TEST_F(KeyFolderTest, IssuesToWhoHasTheKey) {
    const auto keys = open();
    ASSERT_TRUE(keys);
    const auto request = openssl::make_user_request();
    ASSERT_TRUE(request);
    const Caller ana{CallerKind::kUser, "org-a", "ana"};
    const auto issued = (*keys)->issue(request->request, ana, hours{24 * 30});
    ASSERT_TRUE(issued) << issued.error();
    EXPECT_EQ(issued->info.name, ana);
    EXPECT_EQ(issued->info.not_after, kToday + hours{24 * 30});
    EXPECT_EQ(issued->info.serial.size(), 32U);
    ASSERT_TRUE(openssl::import_identity(temporary.path("ana"),
                                         {request->key, issued->certificate, (*keys)->bundle(), {}, {}}, now));
    const auto user = KeyFolder::open(temporary.path("ana"), [this] { return now; });
    ASSERT_TRUE(user) << user.error();
    EXPECT_EQ(signer(*(*user)->sign("test", "x")), "spiffe://org-a/user/ana");
    EXPECT_EQ((*user)->issue(request->request, ana, hours{1}).error().code, ErrorCode::kUnavailable);
}

TEST_F(KeyFolderTest, RefusesToIssue) {
    const auto keys = open();
    ASSERT_TRUE(keys);
    const std::string good = request_pem_of(make_test_key("P-256").get());
    std::string forged = good;
    forged[forged.size() - 60] = forged[forged.size() - 60] == 'A' ? 'B' : 'A';
    const Caller ana{CallerKind::kUser, "org-a", "ana"};
    struct Case {
        const char* what;
        std::string request;
        Caller name;
        Duration lifetime;
        const char* reason;
    };
    const Case cases[] = {
        {"other organisation", good, {CallerKind::kUser, "org-b", "ana"}, hours{1}, "names nobody of 'org-b'"},
        {"bad name", good, {CallerKind::kUser, "org-a", "a,URI:x"}, hours{1}, "is no name"},
        {"anonymous", good, {}, hours{1}, "is no name"},
        {"no time", good, ana, Duration{}, "lasts at least 1 s"},
        {"weak", request_pem_of(make_test_key("RSA1024").get()), ana, hours{1}, "is too weak"},
        {"P-192", request_pem_of(make_test_key("prime192v1").get()), ana, hours{1}, "is not accepted"},
        {"forged", forged, ana, hours{1}, "the request for spiffe://org-a/user/ana"},
        {"nothing", "", ana, hours{1}, "is no certificate request"},
        {"large", std::string(20'000, 'x'), ana, hours{1}, "is over 16384 bytes"},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.what);
        const auto issued = (*keys)->issue(c.request, c.name, c.lifetime);
        ASSERT_FALSE(issued);
        EXPECT_NE(issued.error().message.find(c.reason), std::string::npos) << issued.error();
    }
    const auto longest = (*keys)->issue(good, ana, openssl::kAuthorityLifetime);
    now += hours{24};
    const auto cut = (*keys)->issue(good, ana, openssl::kAuthorityLifetime);
    ASSERT_TRUE(longest && cut);
    EXPECT_EQ(cut->info.not_after, longest->info.not_after) << "not beyond the CA's own end";
}

TEST_F(KeyFolderTest, RevocationReachesTheStore) {
    const auto keys = open();
    ASSERT_TRUE(keys);
    const Result<SignedText> text = (*keys)->sign("test", "x");
    const Result<CertificateInfo> info = trust.verify_text("test", *text);
    ASSERT_TRUE(info);
    const auto empty = (*keys)->make_revocations({}, 1);
    const auto list = (*keys)->make_revocations({{"0a", now}, {info->serial, now}}, 2);
    ASSERT_TRUE(empty && list);
    ASSERT_TRUE(trust.set_revocations("org-a", *list));
    EXPECT_FALSE(trust.set_revocations("org-a", *empty)) << "replay";
    EXPECT_TRUE(trust.is_revoked("org-a", info->serial));
    EXPECT_TRUE(trust.is_revoked("org-a", "0a"));
    EXPECT_NE(signer(*text).find("was revoked"), std::string::npos);
    EXPECT_FALSE((*keys)->make_revocations({{"xyz", now}}, 3));
    EXPECT_FALSE((*keys)->make_revocations({{"", now}}, 3));
}

TEST_F(KeyFolderTest, DelegationFromRequestToProof) {
    const auto keys = open();
    ASSERT_TRUE(keys);
    const auto user = openssl::make_user_request();
    const auto issued = (*keys)->issue(user->request, {CallerKind::kUser, "org-a", "ana"}, hours{24});
    const auto proxy = (*keys)->make_proxy_request();
    ASSERT_TRUE(issued && proxy);
    const auto chain = openssl::sign_proxy(user->key, issued->certificate, proxy->request,
                                           {.application = "01J9Z3V7Q0ABCDEFGHJKMNPQRS"}, now);
    ASSERT_TRUE(chain) << chain.error();
    const auto proof = (*keys)->sign_with_proxy("test", "part 7", proxy->key, *chain);
    ASSERT_TRUE(proof);
    const auto granted = trust.verify_delegation("test", *proof);
    ASSERT_TRUE(granted) << granted.error();
    EXPECT_EQ(granted->application, "01J9Z3V7Q0ABCDEFGHJKMNPQRS");
    EXPECT_EQ(granted->user.name, "ana");
    EXPECT_FALSE((*keys)->sign_with_proxy("test", "part 7", user->key, *chain)) << "a key of another certificate";
}

TEST_F(KeyFolderTest, CertificateIsReplacedByOneOfTheSameNameAndKeyOnly) {
    const auto keys = open();
    ASSERT_TRUE(keys);
    const auto user = openssl::make_user_request();
    const Caller ana{CallerKind::kUser, "org-a", "ana"};
    const auto first = (*keys)->issue(user->request, ana, hours{24});
    const std::string home = temporary.path("ana");
    ASSERT_TRUE(openssl::import_identity(home, {user->key, first->certificate, (*keys)->bundle(), {}, {}}, now));
    const auto next = (*keys)->issue(user->request, ana, hours{48});
    const auto renamed = (*keys)->issue(user->request, {CallerKind::kUser, "org-a", "bea"}, hours{48});
    const auto other = (*keys)->issue(openssl::make_user_request()->request, ana, hours{48});
    EXPECT_FALSE(openssl::replace_certificate(home, renamed->certificate, now));
    EXPECT_FALSE(openssl::replace_certificate(home, other->certificate, now));
    EXPECT_EQ(read(home + "/certificate.pem"), first->certificate);
    EXPECT_TRUE(openssl::replace_certificate(home, next->certificate, now));
    EXPECT_EQ(read(home + "/certificate.pem"), next->certificate);
}

TEST_F(KeyFolderTest, ImportsAnIdentityMadeElsewhere) {
    const TrustWorld w;
    const std::string home = temporary.path("imported");
    const openssl::IdentityFiles files{key_pem_of(w.alpha), pem_of(w.alpha), pem_of(w.ca_a), key_pem_of(w.ca_a),
                                       pem_of(w.ca_a)};
    ASSERT_TRUE(openssl::import_identity(home, files, now));
    const auto keys = KeyFolder::open(home, [this] { return now; });
    ASSERT_TRUE(keys) << keys.error();
    EXPECT_TRUE((*keys)->can_issue());
    EXPECT_FALSE(openssl::import_identity(home, files, now)) << "never over an old one";
    EXPECT_FALSE(fs::exists(home + "/operator"));
    openssl::IdentityFiles foreign = files;
    foreign.bundle = pem_of(w.ca_b);
    EXPECT_FALSE(openssl::import_identity(temporary.path("foreign"), foreign, now));
    EXPECT_FALSE(fs::exists(temporary.path("foreign")));
}

TEST_F(KeyFolderTest, AnImportedCaMakesTheOperatorsCertificate) {
    const TrustWorld w;
    const std::string home = temporary.path("imported");
    const openssl::IdentityFiles files{key_pem_of(w.alpha), pem_of(w.alpha), pem_of(w.ca_a), key_pem_of(w.ca_a),
                                       pem_of(w.ca_a)};
    EXPECT_FALSE(openssl::import_identity(home, files, now, "Not A Name"));
    EXPECT_FALSE(fs::exists(home));
    ASSERT_TRUE(openssl::import_identity(home, files, now, "olga"));
    const auto person = KeyFolder::open(home + "/operator", [this] { return now; });
    ASSERT_TRUE(person) << person.error();
    EXPECT_EQ((*person)->name(), (Caller{CallerKind::kOperator, "org-a", "olga"}));
}

TEST_F(KeyFolderTest, AnOperatorGetsANewCertificateAfterTheOldOneHasEnded) {
    const std::string home = temporary.path("zone");
    ASSERT_TRUE(openssl::create_organisation(home, "org-a", "alpha", now));
    const std::string key = read(home + "/operator/key.pem");
    now += hours{24 * 400};
    const auto clock = [this] { return now; };
    EXPECT_FALSE(KeyFolder::open(home + "/operator", clock)) << "it has ended";
    EXPECT_FALSE(openssl::issue_operator(home, "Not A Name", now));
    ASSERT_TRUE(openssl::issue_operator(home, "olga", now));
    const auto person = KeyFolder::open(home + "/operator", clock);
    ASSERT_TRUE(person) << person.error();
    EXPECT_EQ((*person)->name(), (Caller{CallerKind::kOperator, "org-a", "olga"}));
    EXPECT_EQ(read(home + "/operator/key.pem"), key);
    fs::remove_all(home + "/operator");
    ASSERT_TRUE(openssl::issue_operator(home, "olga", now));
    EXPECT_TRUE(KeyFolder::open(home + "/operator", clock));
    fs::remove(home + "/ca_key.pem");
    fs::remove(home + "/ca.pem");
    EXPECT_FALSE(openssl::issue_operator(home, "olga", now));
}

TEST_F(KeyFolderTest, ANodeAgentGetsAFolderOfItsOwn) {
    const std::string home = temporary.path("zone"), out = temporary.path("node-1");
    ASSERT_TRUE(openssl::create_organisation(home, "org-a", "alpha", now));
    EXPECT_FALSE(openssl::issue_node(home, "Not A Name", out, now));
    EXPECT_FALSE(fs::exists(out));
    ASSERT_TRUE(openssl::issue_node(home, "node-1", out, now));
    const auto agent = KeyFolder::open(out, [this] { return now; });
    ASSERT_TRUE(agent) << agent.error();
    EXPECT_EQ((*agent)->name(), (Caller{CallerKind::kNode, "org-a", "node-1"}));
    EXPECT_EQ((*agent)->bundle(), read(home + "/bundle.pem"));
    EXPECT_FALSE((*agent)->can_issue());
    EXPECT_EQ(openssl::issue_node(home, "node-1", out, now).error().code, ErrorCode::kConflict) << "nothing is lost";
    fs::remove(home + "/ca_key.pem");
    fs::remove(home + "/ca.pem");
    EXPECT_EQ(openssl::issue_node(home, "node-2", temporary.path("node-2"), now).error().code, ErrorCode::kDenied);
}

TEST_F(KeyFolderTest, AnOperatorsOwnCertificateIsImportedBesideTheZones) {
    const TrustWorld w;
    const std::string home = temporary.path("imported");
    ASSERT_TRUE(
        openssl::import_identity(home, {key_pem_of(w.alpha), pem_of(w.alpha), pem_of(w.ca_a), {}, {}}, now, "o"));
    EXPECT_FALSE(fs::exists(home + "/operator")) << "nobody can make one without the CA's key";
    ASSERT_TRUE(openssl::import_identity(home + "/operator",
                                         {key_pem_of(w.oscar), pem_of(w.oscar), pem_of(w.ca_a), {}, {}}, now));
    EXPECT_EQ((*KeyFolder::open(home + "/operator", [this] { return now; }))->name().kind, CallerKind::kOperator);
}

TEST_F(KeyFolderTest, GoesIntoATlsContext) {
    const auto keys = open();
    ASSERT_TRUE(keys);
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_method()), SSL_CTX_free);
    ASSERT_TRUE((*keys)->install(context.get()));
    EXPECT_EQ(SSL_CTX_check_private_key(context.get()), 1);
}

}  // namespace
}  // namespace zbs::test

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/x509.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iomanip>
#include <sstream>

#include "services/common/adapters/openssl/pem.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/trust_world.hpp"

// Proxies as Debian's globus-proxy-utils makes them. The program reads the system's clock, so these tests do too.
namespace zbs::test {
namespace {
using std::chrono::hours;

constexpr const char* kProgram = "/usr/bin/grid-proxy-init";

void write(const std::string& path, const std::string& content, mode_t mode) {
    std::ofstream(path) << content;
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
}

class GridProxy : public testing::Test {
  protected:
    void SetUp() override {
        if (access(kProgram, X_OK) != 0) GTEST_SKIP() << kProgram << " is missing: apt-get install globus-proxy-utils";
        const Time now{std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
        Form authority = authority_form("grid");
        authority.key = "RSA2048";
        authority.not_before = now - hours{48};
        authority.not_after = now + hours{24 * 300};
        const Holder ca = make_certificate(authority, nullptr);
        Form form{.subject = "/C=BR/O=grid/CN=Gil",
                  .not_before = now - hours{24},
                  .not_after = now + hours{24 * 30},
                  .usage = "critical,digitalSignature,keyEncipherment",
                  .key = "RSA2048"};
        const Holder user = make_certificate(form, &ca, openssl_key());
        world.now = now;
        ASSERT_TRUE(world.trust.pin("org-g", pem_of(ca)));
        write(folder.path("user.pem"), pem_of(user), 0644);
        write(folder.path("user_key.pem"), key_pem_of(user), 0600);
        ASSERT_EQ(mkdir(folder.path("certificates").c_str(), 0755), 0);
        std::ostringstream hash;
        hash << std::hex << std::setw(8) << std::setfill('0') << X509_subject_name_hash(ca.certificate.get());
        write(folder.path("certificates/" + hash.str() + ".0"), pem_of(ca), 0644);
    }
    static std::shared_ptr<EVP_PKEY> openssl_key() { return {EVP_RSA_gen(2048), EVP_PKEY_free}; }

    /// Runs the program and tells what its proxy makes of the caller.
    std::string verdict(std::vector<std::string> options) {
        std::vector<std::string> words{kProgram, "-q", "-out", folder.path("proxy.pem")};
        words.insert(words.end(), options.begin(), options.end());
        std::vector<std::string> environment{"X509_USER_CERT=" + folder.path("user.pem"),
                                             "X509_USER_KEY=" + folder.path("user_key.pem"),
                                             "X509_CERT_DIR=" + folder.path("certificates"), "HOME=" + folder.path()};
        std::vector<char*> arguments, variables;
        for (std::string& word : words) arguments.push_back(word.data());
        for (std::string& variable : environment) variables.push_back(variable.data());
        arguments.push_back(nullptr);
        variables.push_back(nullptr);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        pid_t child = -1;
        const int spawned = posix_spawn(&child, kProgram, &actions, nullptr, arguments.data(), variables.data());
        posix_spawn_file_actions_destroy(&actions);
        int status = -1;
        if (spawned != 0 || waitpid(child, &status, 0) != child || status != 0) return "grid-proxy-init failed";
        std::ifstream in(folder.path("proxy.pem"));
        std::ostringstream text;
        text << in.rdbuf();
        Result<std::vector<openssl::Certificate>> read =
            openssl::read_certificates(text.str(), openssl::kChainLimits, "the proxy");
        if (!read) return read.error().message;
        Holders chain;
        for (openssl::Certificate& certificate : *read)
            chain.push_back({std::shared_ptr<X509>(certificate.release(), X509_free), nullptr});
        return world.verdict(chain);
    }

    TrustWorld world;
    TemporaryFolder folder;
};

TEST_F(GridProxy, FullProxyIsItsUser) { EXPECT_EQ(verdict({"-rfc"}), "spiffe://org-g/user/gil by proxy"); }

TEST_F(GridProxy, DefaultIsAFullProxy) { EXPECT_EQ(verdict({}), "spiffe://org-g/user/gil by proxy"); }

TEST_F(GridProxy, OneDayIsTheLongest) {
    EXPECT_EQ(verdict({"-rfc", "-valid", "24:00"}), "spiffe://org-g/user/gil by proxy");
    EXPECT_NE(verdict({"-rfc", "-valid", "25:00"}).find("it lasts longer than the 24 h"), std::string::npos);
}

TEST_F(GridProxy, LimitedProxyIsKnownAsLimited) {
    EXPECT_EQ(verdict({"-rfc", "-limited"}), "spiffe://org-g/user/gil by limited proxy");
}

TEST_F(GridProxy, IndependentProxyIsRefused) {
    EXPECT_NE(verdict({"-rfc", "-independent"}).find("it is independent"), std::string::npos);
}

TEST_F(GridProxy, LegacyProxyIsRefusedWithTheRemedy) {
    EXPECT_NE(verdict({"-old"}).find("a legacy Globus proxy; make one after RFC 3820"), std::string::npos);
}

TEST_F(GridProxy, DraftProxyIsRefusedWithTheRemedy) {
    EXPECT_NE(verdict({"-draft"}).find("a legacy Globus proxy; make one after RFC 3820"), std::string::npos);
}

TEST_F(GridProxy, UserNotInTheMapIsToldTheSubject) {
    ASSERT_TRUE(world.trust.set_subject_map("org-g", {}));
    EXPECT_NE(verdict({"-rfc"}).find("certificate 'CN=Gil,O=grid,C=BR' is refused"), std::string::npos);
}

TEST_F(GridProxy, UntrustedCaIsRefused) {
    world.trust.unpin("org-g");
    EXPECT_NE(verdict({"-rfc"}).find("no CA that is known here issued it"), std::string::npos);
}

}  // namespace
}  // namespace zbs::test

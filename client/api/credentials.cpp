#include "client/api/credentials.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/api/replace_folder.hpp"
#include "services/common/adapters/cpprest/address_rules.hpp"
#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/adapters/openssl/trust/proxy.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/site_codec.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::client {
namespace {

using system::wall_clock;

namespace fs = std::filesystem;

constexpr Duration kRenewBefore = std::chrono::hours{24 * 10};  // certificates live 30 days
constexpr const char* kHomeFile = "home";
constexpr int kMaxReads = 10;

Result<std::string> read_text(const std::string& path, std::size_t limit = 64 * 1024) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{ErrorCode::kNotFound, "cannot be read", path};
    std::string text(limit, '\0');
    file.read(text.data(), static_cast<std::streamsize>(limit));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

/// Readable by nobody else from its first byte on.
Result<void> write_private(const std::string& path, const std::string& text) {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file && write_all(file.get(), text) && ::fsync(file.get()) == 0) return {};
    return Error{ErrorCode::kUnavailable, "cannot be written", path};
}

Result<ServiceAddress> read_home(const std::string& folder) {
    const Result<std::string> text = read_text(folder + "/" + kHomeFile);
    if (!text)
        return Error{ErrorCode::kNotFound, "no credentials are here; get them with 'zbs login --code CODE'", folder};
    std::istringstream words(*text);
    std::string url, who;
    words >> url >> who;
    const auto zone = parse_identity(who);
    if (url.empty() || !zone)
        return invalid("names no home zone; log in again with 'zbs login'", folder + "/" + kHomeFile);
    if (const auto read = cpprest::parse_service_url(url); !read)
        return invalid(read.error().message + "; log in again with 'zbs login'", folder + "/" + kHomeFile);
    return ServiceAddress{url, *zone};
}

/// Differs between a folder and the one that replaces it; none if there is no folder.
std::optional<std::pair<dev_t, ino_t>> folder_mark(const std::string& folder) {
    struct stat found {};
    if (stat(folder.c_str(), &found) != 0) return std::nullopt;
    return std::pair(found.st_dev, found.st_ino);
}

/// Calls `read` until all files come from one folder: another command may replace it meanwhile.
template <class Read>
auto read_at_once(const std::string& folder, const Read& read) -> decltype(read()) {
    for (int reads = 1;; ++reads) {
        if (const Result<bool> recovered = recover_folder(folder); !recovered) return recovered.error();
        const auto before = folder_mark(folder);
        auto answer = read();
        if (before == folder_mark(folder) || reads == kMaxReads) return answer;
    }
}

/// What the zone gave, as a folder beside `folder`, then in its place.
Result<void> put_in_place(const std::string& folder, const std::string& key, const EnrolmentAnswer& answer,
                          const std::string& url) {
    std::error_code fault;
    const std::string fresh = folder + ".new";
    fs::remove_all(fresh, fault);  // of a command that was cut short
    if (auto made = openssl::import_identity(fresh, {.key = key, .chain = answer.certificate, .bundle = answer.bundle},
                                             wall_clock());
        !made)
        return made.error();
    if (auto written = write_private(fresh + "/" + kHomeFile, url + " " + to_uri(answer.home) + "\n"); !written)
        return written.error();
    // The earlier key goes: nobody needs it any more, and its certificate may count for weeks.
    return replace_folder(fresh, folder);
}

/// The key for a token: made once, so that a repeat after a lost answer sends the same request.
Result<OwnKeys::ProxyRequest> pending_key(const std::string& path, const std::string& code) {
    if (const Result<std::string> kept = read_text(path)) {
        const std::size_t first = kept->find('\n'), second = kept->find("-----BEGIN CERTIFICATE REQUEST");
        if (first != std::string::npos && second != std::string::npos && kept->substr(0, first) == code)
            return OwnKeys::ProxyRequest{kept->substr(first + 1, second - first - 1), kept->substr(second)};
    }
    Result<OwnKeys::ProxyRequest> made = openssl::make_user_request();
    if (!made) return made.error();
    if (auto written = write_private(path, code + "\n" + made->key + made->request); !written) return written.error();
    return made;
}

}  // namespace

Credentials::Credentials() : trust_(std::make_shared<openssl::TrustStore>(wall_clock)) {}
Credentials::~Credentials() = default;
Credentials::Credentials(Credentials&&) noexcept = default;
Credentials& Credentials::operator=(Credentials&&) noexcept = default;

Result<Credentials> Credentials::open(const std::string& folder) {
    return read_at_once(folder, [&] { return read(folder); });
}

Result<Credentials> Credentials::open_with_proxy(const std::string& folder, const std::string& file) {
    return read_at_once(folder, [&] { return read_with_proxy(folder, file); });
}

Result<Credentials> Credentials::read(const std::string& folder) {
    Credentials credentials;
    credentials.folder_ = folder;
    const Result<ServiceAddress> home = read_home(folder);
    if (!home) return home.error();
    credentials.home_ = *home;
    auto keys = openssl::KeyFolder::open(folder, wall_clock);
    if (!keys) return keys.error();
    credentials.keys_ = *std::move(keys);
    credentials.name_ = credentials.keys_->name();
    Result<std::string> key = read_text(folder + "/key.pem");
    if (!key) return key.error();
    credentials.key_ = *std::move(key);
    if (auto pinned = credentials.trust_->pin(home->who.organisation, credentials.keys_->bundle()); !pinned)
        return pinned.error();
    credentials.tls_ = std::make_shared<openssl::TlsClient>(*credentials.keys_, *credentials.trust_);
    return credentials;
}

Result<Credentials> Credentials::read_with_proxy(const std::string& folder, const std::string& file) {
    Credentials credentials;
    credentials.folder_ = folder;
    const Result<ServiceAddress> home = read_home(folder);
    if (!home) return home.error();
    credentials.home_ = *home;
    const Result<std::string> bundle = read_text(folder + "/bundle.pem");
    if (!bundle) return bundle.error();
    if (auto pinned = credentials.trust_->pin(home->who.organisation, *bundle); !pinned) return pinned.error();
    struct stat found {};
    if (stat(file.c_str(), &found) != 0) return Error{ErrorCode::kNotFound, "no proxy is here", file};
    if ((found.st_mode & 077) != 0)
        return Error{ErrorCode::kDenied, "others can read this proxy's key; run: chmod 600 " + file, file};
    const Result<std::string> text = read_text(file);
    if (!text) return text.error();
    credentials.proxy_ = *text;
    credentials.tls_ =
        std::make_shared<openssl::TlsClient>(openssl::ClientCertificate{*text, *text}, *credentials.trust_);
    return credentials;
}

Result<void> Credentials::log_in(const std::string& folder, const JoinToken& token) {
    if (token.kind != JoinToken::Kind::kUser)
        return invalid("this token enrols a zone in a registry; it is for 'zbs-zone enrol'");
    const Result<std::string> bundle = cpprest::fetch_bundle(token, wall_clock);
    if (!bundle) return bundle.error();
    openssl::TrustStore trust(wall_clock);
    if (auto pinned = trust.pin(token.service.organisation, *bundle); !pinned) return pinned.error();

    std::error_code fault;
    fs::create_directories(fs::path(folder).parent_path(), fault);
    const Result<Descriptor> lock = lock_folder(folder, LockWait::kUntilFree);
    if (!lock) return lock.error();
    const Result<OwnKeys::ProxyRequest> key = pending_key(folder + ".pending", token.code);
    if (!key) return key.error();
    cpprest::HttpCaller zone({.tls = std::make_shared<openssl::TlsClient>(openssl::ClientCertificate{}, trust)});
    const Result<codec::Json> json = http::read_answer(
        zone.call({{token.url, token.service},
                   "POST",
                   "/v1/enrolments",
                   codec::dump(codec::encode(EnrolmentRequest{token.name, token.code, key->request}))}));
    if (!json) return json.error();
    const Result<EnrolmentAnswer> answer = codec::decode_enrolment_answer(*json);
    if (!answer) return answer.error();
    if (auto placed = put_in_place(folder, key->key, *answer, token.url); !placed) return placed.error();
    ::unlink((folder + ".pending").c_str());
    return {};
}

Result<void> Credentials::renew() const {
    const Result<Descriptor> lock = lock_folder(folder_, LockWait::kUntilFree);
    if (!lock) return lock.error();
    return request_renewal();
}

Result<void> Credentials::renew_if_due() const {
    if (!is_due()) return {};
    const Result<Descriptor> lock = lock_folder(folder_, LockWait::kNo);
    if (!lock) return lock.error();
    if (!*lock) return {};  // another command renews them
    const Result<Credentials> now = open(folder_);
    if (now && !now->is_due()) return {};  // another command did
    return request_renewal();
}

/// Precondition: this command has the lock of the folder.
Result<void> Credentials::request_renewal() const {
    const Result<OwnKeys::ProxyRequest> key = openssl::make_user_request();
    if (!key) return key.error();
    cpprest::HttpCaller zone({.tls = tls_});
    const Result<codec::Json> json = http::read_answer(zone.call(
        {home_, "POST", "/v1/certificates", codec::dump(codec::encode(EnrolmentRequest{.request = key->request}))}));
    if (!json) return json.error();
    const Result<EnrolmentAnswer> answer = codec::decode_enrolment_answer(*json);
    if (!answer) return answer.error();
    return put_in_place(folder_, key->key, *answer, home_.url);
}

std::optional<Time> Credentials::not_after() const {
    if (keys_ == nullptr) return std::nullopt;
    return keys_->not_after();
}

bool Credentials::is_due() const { return keys_ != nullptr && keys_->not_after() - wall_clock() < kRenewBefore; }

Result<std::string> Credentials::sign_delegation(const std::string& request_pem, const std::string& application,
                                                 Duration lifetime) const {
    const bool renewal = application.empty();
    const openssl::ProxyTerms terms{
        .application = application, .lifetime = lifetime, .path_length = renewal ? 1 : 0, .renewal = renewal};
    if (keys_ == nullptr) return openssl::sign_proxy(proxy_, proxy_, request_pem, terms, wall_clock());
    return openssl::sign_proxy(key_, keys_->chain(), request_pem, terms, wall_clock());
}

}  // namespace zbs::client

#include "services/common/adapters/openssl/issuing/identity_files.hpp"

#include <algorithm>

#include "services/common/adapters/openssl/common_words.hpp"
#include "services/common/adapters/openssl/issuing/issuing.hpp"
#include "services/common/adapters/openssl/pem.hpp"
#include "services/common/adapters/openssl/secure_files.hpp"
#include "services/common/adapters/openssl/trust/certificate_view.hpp"
#include "services/common/adapters/openssl/trust/chain_check.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::openssl {
namespace {

/// The own chain, held against the own bundle as others will hold it.
Result<CertificateInfo> check_own_chain(const std::vector<Certificate>& chain,
                                        const std::shared_ptr<const Bundle>& bundle, Time now) {
    const std::vector<X509*> borrowed = view(chain);
    ChainQuestion question{.role = Role::kClient, .subjects_count = false, .bundle = bundle};
    const Result<BelievedChain> as_client = check_chain(borrowed, question, {}, {}, now);
    if (!as_client) return as_client.error();
    if (as_client->proxies.proxies > 0) return invalid("it is a proxy, not an identity of its own");
    if (is_service(as_client->end_entity.name.kind)) {
        question.role = Role::kServer;
        if (const auto as_server = check_chain(borrowed, question, {}, {}, now); !as_server) return as_server.error();
    }
    return as_client->end_entity;
}

Result<void> add_authority(OwnIdentity& identity, const IdentityFiles& files, const Bundle& bundle,
                           const std::string& where) {
    if (files.ca_key.empty() && files.ca.empty()) return {};
    const std::string key_file = where + kAuthorityKeyFile;
    const std::string file = where + kAuthorityFile;
    if (files.ca_key.empty() || files.ca.empty())
        return invalid(files.ca.empty() ? key_file + " is there without " + kAuthorityFile + "; put both there or none"
                                        : file + " is there without " + kAuthorityKeyFile + "; put both there or none");
    Result<Key> key = read_key(files.ca_key, key_file);
    if (!key) return key.error();
    Result<std::vector<Certificate>> read = read_certificates(files.ca, kChainLimits, file);
    if (!read) return read.error();
    X509* const ca = read->front().get();
    if (EVP_PKEY_eq(key->get(), X509_get0_pubkey(ca)) != 1) {
        static_cast<void>(last_fault());
        return invalid(key_file + " does not belong to the certificate in " + kAuthorityFile);
    }
    constexpr std::uint32_t kUses = KU_KEY_CERT_SIGN | KU_CRL_SIGN;
    if (X509_check_ca(ca) != 1 || (X509_get_key_usage(ca) & kUses) != kUses)
        return invalid(file + " is no certificate of a CA that may sign certificates and revocation lists");
    if (X509_get0_subject_key_id(ca) == nullptr)
        return invalid(file + " has no subject key identifier; make the CA certificate with one");
    const bool pinned = std::ranges::any_of(bundle.authorities,
                                            [&](const Certificate& known) { return X509_cmp(known.get(), ca) == 0; });
    if (!pinned) return invalid(file + " is not in " + kBundleFile + ", so nobody would believe what it signs");
    identity.ca_key = *std::move(key);
    identity.ca = std::move(read->front());
    return {};
}

}  // namespace

Result<OwnKeys::Issued> OwnIdentity::issue(EVP_PKEY* subject_key, const Caller& name, Duration lifetime, Time now,
                                           const std::vector<std::string>& hosts) const {
    ZBS_EXPECTS(ca && ca_key);
    if (now >= not_after(ca.get()))
        return Error{ErrorCode::kUnavailable,
                     "the CA of '" + info.name.organisation + "' expired on " + date_text(not_after(ca.get())) +
                         "; it must be made anew and its bundle sent to the peers",
                     {}};
    const Validity validity{std::max(now - kClockTolerance, not_before(ca.get())),
                            std::min(now + lifetime, not_after(ca.get()))};
    const Certificate certificate = make_end_entity(subject_key, name, validity, ca.get(), ca_key.get(), hosts);
    return OwnKeys::Issued{
        write_pem(certificate.get()),
        {name, serial_of(certificate.get()), not_before(certificate.get()), not_after(certificate.get())}};
}

Result<OwnIdentity> make_identity(const IdentityFiles& files, const std::string& where, Time now) {
    OwnIdentity identity{.bundle = files.bundle};
    Result<Key> key = read_key(files.key, where + kKeyFile);
    if (!key) return key.error();
    identity.key = *std::move(key);
    Result<std::vector<Certificate>> chain = read_certificates(files.chain, kChainLimits, where + kCertificateFile);
    if (!chain) return chain.error();
    identity.chain = *std::move(chain);
    const Result<std::shared_ptr<const Bundle>> bundle = read_bundle(files.bundle, where + kBundleFile);
    if (!bundle) return bundle.error();

    X509* const leaf = identity.chain.front().get();
    const EVP_PKEY* leaf_key = X509_get0_pubkey(leaf);
    if (leaf_key == nullptr || EVP_PKEY_eq(identity.key.get(), leaf_key) != 1) {
        static_cast<void>(last_fault());
        return invalid(where + kKeyFile + " does not belong to the first certificate in " + kCertificateFile +
                       "; put the pair there that was made together");
    }
    if (Result<void> added = add_authority(identity, files, **bundle, where); !added) return added.error();
    const bool can_renew = identity.ca && now >= not_after(leaf) && now < not_after(identity.ca.get());
    const Time at = can_renew ? not_after(leaf) - std::chrono::seconds(1) : now;
    Result<CertificateInfo> info = check_own_chain(identity.chain, *bundle, at);
    if (!info) return Error{info.error().code, where + kCertificateFile + ": " + info.error().message, {}};
    identity.info = *std::move(info);
    return identity;
}

Result<IdentityFiles> read_identity_files(const std::string& folder) {
    if (Result<void> good = check_folder(folder); !good) return good.error();
    IdentityFiles files;
    struct Part {
        const char* name;
        std::string* content;
        std::size_t limit;
        Secrecy secrecy;
        bool needed;
    };
    const Part parts[] = {
        {kKeyFile, &files.key, limits::kMaxKeyBytes, Secrecy::kPrivate, true},
        {kCertificateFile, &files.chain, limits::kMaxChainBytes, Secrecy::kPublic, true},
        {kBundleFile, &files.bundle, limits::kMaxBundleBytes, Secrecy::kPublic, true},
        {kAuthorityKeyFile, &files.ca_key, limits::kMaxKeyBytes, Secrecy::kPrivate, false},
        {kAuthorityFile, &files.ca, limits::kMaxChainBytes, Secrecy::kPublic, false},
    };
    for (const Part& part : parts) {
        const std::string path = folder + "/" + part.name;
        Result<std::optional<std::string>> read = read_secure_file(path, part.limit, part.secrecy);
        if (!read) return read.error();
        if (!*read && part.needed)
            return Error{
                ErrorCode::kNotFound, path + " is missing; restore it or make an identity in a new folder", {}};
        *part.content = std::move(*read).value_or("");
    }
    return files;
}

Result<OwnIdentity> open_identity(const std::string& folder, Time now) {
    Result<IdentityFiles> files = read_identity_files(folder);
    if (!files) return files.error();
    Result<OwnIdentity> identity = make_identity(*files, folder + "/", now);
    wipe(*files);
    return identity;
}

void wipe(IdentityFiles& files) {
    wipe(files.key);
    wipe(files.ca_key);
}

}  // namespace zbs::openssl

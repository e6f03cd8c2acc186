#include <algorithm>

#include "services/common/adapters/openssl/issuing/identity_files.hpp"
#include "services/common/adapters/openssl/issuing/issuing.hpp"
#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/openssl/pem.hpp"
#include "services/common/adapters/openssl/secure_files.hpp"
#include "services/common/adapters/openssl/trust/certificate_view.hpp"
#include "services/common/adapters/openssl/trust/proxy.hpp"
#include "services/common/messages/names/host_name.hpp"

// Making of identity folders.

namespace zbs::openssl {
namespace {

struct Authority {
    Key key = make_key();
    Certificate certificate;
    std::string pem;
};

struct Made {
    std::string key;
    std::string certificate;
};

Made make_member(X509* authority, EVP_PKEY* authority_key, const Caller& name, Duration lifetime, Time now,
                 const std::vector<std::string>& hosts = {}) {
    const Key key = make_key();
    const Validity validity{now - kClockTolerance, std::min(now + lifetime, not_after(authority))};
    const Certificate certificate = make_end_entity(key.get(), name, validity, authority, authority_key, hosts);
    return {write_pem(key.get()), write_pem(certificate.get())};
}

void add_operator(std::vector<NewFile>& files, Made made, const std::string& bundle) {
    files.push_back({std::string("operator/") + kKeyFile, std::move(made.key)});
    files.push_back({std::string("operator/") + kCertificateFile, std::move(made.certificate)});
    files.push_back({std::string("operator/") + kBundleFile, bundle});
}

/// And forgets the files.
Result<void> create_secret_folder(const std::string& folder, std::vector<NewFile>& files) {
    Result<void> created = create_folder(folder, files);
    for (NewFile& file : files) wipe(file.content);
    return created;
}

Result<void> check_name(const std::string& name, const char* what) {
    if (is_valid_name(name)) return {};
    return invalid("'" + printable(name) + "' is no name of " + what +
                   ": 1 to 64 of a-z 0-9 . _ -, first a letter or digit");
}

Result<void> create(const std::string& folder, const Caller& service, const char* kind, Time now,
                    const OrganisationOptions& options) {
    if (Result<void> good = check_name(service.organisation, "an organisation"); !good) return good;
    if (Result<void> good = check_name(service.name, kind); !good) return good;
    if (Result<void> good = check_name(options.operator_name, "an operator"); !good) return good;
    if (options.authority_lifetime > kAuthorityLifetime || options.certificate_lifetime <= Duration::zero() ||
        options.certificate_lifetime > options.authority_lifetime)
        return invalid("certificates last more than 0 s, no longer than their CA, and a CA at most 3652 days");

    Authority authority;
    authority.certificate = make_authority(authority.key.get(), service.organisation,
                                           {now - kClockTolerance, now + options.authority_lifetime});
    authority.pem = write_pem(authority.certificate.get());
    for (const std::string& host : options.hosts)
        if (Result<void> good = check_advertised_host(host); !good) return good;
    const auto member = [&](const Caller& name, const std::vector<std::string>& hosts) {
        return make_member(authority.certificate.get(), authority.key.get(), name, options.certificate_lifetime, now,
                           hosts);
    };
    const Made own = member(service, options.hosts);
    std::vector<NewFile> files{{kKeyFile, own.key},
                               {kCertificateFile, own.certificate},
                               {kBundleFile, authority.pem},
                               {kAuthorityKeyFile, write_pem(authority.key.get())},
                               {kAuthorityFile, authority.pem}};
    add_operator(files, member({CallerKind::kOperator, service.organisation, options.operator_name}, {}),
                 authority.pem);
    return create_secret_folder(folder, files);
}

}  // namespace

Result<void> create_organisation(const std::string& folder, const OrganisationName& organisation,
                                 const ZoneName& zone_name, Time now, const OrganisationOptions& options) {
    return create(folder, {CallerKind::kZone, organisation, zone_name}, "a zone", now, options);
}

Result<void> make_registry(const std::string& folder, const OrganisationName& organisation,
                           const std::string& registry_name, Time now, const OrganisationOptions& options) {
    return create(folder, {CallerKind::kRegistry, organisation, registry_name}, "a registry", now, options);
}

Result<void> import_identity(const std::string& folder, const IdentityFiles& files, Time now,
                             const std::string& operator_name) {
    if (!operator_name.empty()) {
        if (Result<void> good = check_name(operator_name, "an operator"); !good) return good;
    }
    const Result<OwnIdentity> identity = make_identity(files, "", now);
    if (!identity) return identity.error();
    // Written anew from what was read: no text around the PEM blocks, no second key, comes along.
    std::vector<NewFile> parts{{kKeyFile, write_pem(identity->key.get())},
                               {kCertificateFile, write_pem(identity->chain)},
                               {kBundleFile, files.bundle}};
    if (identity->ca) {
        parts.push_back({kAuthorityKeyFile, write_pem(identity->ca_key.get())});
        parts.push_back({kAuthorityFile, write_pem(identity->ca.get())});
        if (!operator_name.empty()) {
            const Caller name{CallerKind::kOperator, identity->info.name.organisation, operator_name};
            add_operator(parts,
                         make_member(identity->ca.get(), identity->ca_key.get(), name,
                                     OrganisationOptions{}.certificate_lifetime, now),
                         files.bundle);
        }
    }
    return create_secret_folder(folder, parts);
}

namespace {

/// The identity in `folder`, which has to hold the CA's key; `place` is the certificate that is wanted.
Result<OwnIdentity> open_issuer(const std::string& folder, const std::string& place, Time now) {
    Result<OwnIdentity> identity = open_identity(folder, now);
    if (identity && !identity->ca)
        return Error{ErrorCode::kDenied,
                     "the CA's key is not here, so no certificate can be made; have one made where it is and put it in "
                     "place of " +
                         place + "/" + kCertificateFile,
                     folder};
    return identity;
}

/// A folder with a new key, its certificate and the bundle.
Result<void> create_member(const OwnIdentity& issuer, const std::string& folder, const Caller& name, Time now) {
    const Made made =
        make_member(issuer.ca.get(), issuer.ca_key.get(), name, OrganisationOptions{}.certificate_lifetime, now);
    std::vector<NewFile> parts{
        {kKeyFile, made.key}, {kCertificateFile, made.certificate}, {kBundleFile, issuer.bundle}};
    return create_secret_folder(folder, parts);
}

}  // namespace

Result<void> issue_node(const std::string& folder, const std::string& node_name, const std::string& out, Time now) {
    if (Result<void> good = check_name(node_name, "a node"); !good) return good;
    const Result<OwnIdentity> identity = open_issuer(folder, out, now);
    if (!identity) return identity.error();
    return create_member(*identity, out, {CallerKind::kNode, identity->info.name.organisation, node_name}, now);
}

Result<void> issue_operator(const std::string& folder, const std::string& operator_name, Time now) {
    if (Result<void> good = check_name(operator_name, "an operator"); !good) return good;
    const std::string home = folder + "/operator";
    const Result<OwnIdentity> identity = open_issuer(folder, home, now);
    if (!identity) return identity.error();
    const Caller name{CallerKind::kOperator, identity->info.name.organisation, operator_name};
    const Duration lifetime = OrganisationOptions{}.certificate_lifetime;
    Result<IdentityFiles> before = read_identity_files(home);
    if (!before) return create_member(*identity, home, name, now);
    const Result<Key> key = read_key(before->key, home + "/" + kKeyFile);
    wipe(*before);
    if (!key) return key.error();
    const Validity validity{now - kClockTolerance, std::min(now + lifetime, not_after(identity->ca.get()))};
    const Certificate certificate =
        make_end_entity(key->get(), name, validity, identity->ca.get(), identity->ca_key.get());
    return replace_file(home, {kCertificateFile, write_pem(certificate.get())});
}

Result<void> replace_certificate(const std::string& folder, const std::string& chain_pem, Time now) {
    Result<IdentityFiles> files = read_identity_files(folder);
    if (!files) return files.error();
    const Result<std::vector<Certificate>> before =
        read_certificates(files->chain, kChainLimits, folder + "/" + kCertificateFile);
    files->chain = chain_pem;
    const Result<OwnIdentity> identity = make_identity(*files, "", now);
    wipe(*files);
    if (!identity) return identity.error();
    if (before) {
        const Result<std::optional<std::string>> name = find_uri(before->front().get());
        if (name && *name && **name != to_uri(identity->info.name))
            return invalid("the new certificate names " + to_uri(identity->info.name) + ", the one in " + folder + " " +
                           printable(**name) + "; use another folder for another identity");
    }
    return replace_file(folder, {kCertificateFile, write_pem(identity->chain)});
}

}  // namespace zbs::openssl

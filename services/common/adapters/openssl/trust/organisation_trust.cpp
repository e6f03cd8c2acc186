#include "services/common/adapters/openssl/trust/organisation_trust.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "services/common/adapters/openssl/common_words.hpp"
#include "services/common/adapters/openssl/pem.hpp"
#include "services/common/adapters/openssl/trust/certificate_view.hpp"
#include "services/common/messages/text/checksum.hpp"

namespace zbs::openssl {
namespace {

/// The authority of `bundle` whose signature `list` has.
const X509* find_signer(X509_CRL* list, const Bundle& bundle) {
    for (const Certificate& authority : bundle.authorities) {
        if (X509_NAME_cmp(X509_CRL_get_issuer(list), X509_get_subject_name(authority.get())) != 0) continue;
        if (!(X509_get_key_usage(authority.get()) & KU_CRL_SIGN)) continue;
        if (X509_CRL_verify(list, X509_get0_pubkey(authority.get())) == 1) return authority.get();
    }
    return nullptr;
}

std::string key_digest(const X509* authority) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    ZBS_EXPECTS(X509_pubkey_digest(authority, EVP_sha256(), digest.data(), &size) == 1);
    return {reinterpret_cast<const char*>(digest.data()), size};
}

bool has_weak_digest(const X509_CRL* list) {
    int digest = NID_undef;
    if (OBJ_find_sigid_algs(X509_CRL_get_signature_nid(list), &digest, nullptr) != 1) return true;
    return digest == NID_sha1 || digest == NID_md5 || digest == NID_md5_sha1;
}

}  // namespace

Result<std::shared_ptr<const Bundle>> read_bundle(std::string_view pem, const std::string& what) {
    Result<std::vector<Certificate>> read = read_certificates(pem, kBundleLimits, what);
    if (!read) return read.error();
    auto bundle = std::make_shared<Bundle>(
        Bundle{.pem = std::string(pem), .authorities = *std::move(read), .store = Store(X509_STORE_new())});
    ZBS_EXPECTS(bundle->store);
    for (const Certificate& authority : bundle->authorities) {
        const std::string subject = "'" + printable(subject_text(authority.get())) + "' in " + what;
        if (X509_check_ca(authority.get()) != 1)
            return invalid(subject + " is no CA certificate; a bundle holds the organisation's CA certificates only");
        if (const auto weakness = find_weakness(X509_get0_pubkey(authority.get())))
            return invalid(subject + " is refused: " + *weakness);
        if (X509_STORE_add_cert(bundle->store.get(), authority.get()) != 1)
            return invalid(subject + " is refused: " + last_fault());
    }
    return std::shared_ptr<const Bundle>(std::move(bundle));
}

std::string fingerprint_of(const Bundle& bundle) {
    std::set<std::string> prints;
    for (const Certificate& authority : bundle.authorities) prints.insert(fingerprint_of(authority.get()));
    std::string all;
    for (const std::string& print : prints) all += print;
    return "sha256:" + sha256(all);
}

Result<BundleNames> names_in(const Bundle& bundle) {
    BundleNames names;
    for (const Certificate& authority : bundle.authorities) {
        const std::string subject = printable(subject_text(authority.get()));
        int found = 0;  // -1: there is none
        const NameConstraints constraints(
            static_cast<NAME_CONSTRAINTS*>(X509_get_ext_d2i(authority.get(), NID_name_constraints, &found, nullptr)));
        static_cast<void>(last_fault());
        if (!constraints && found != -1)
            return invalid("'" + subject + "' in the bundle has name constraints that cannot be read");
        const std::size_t before = names.organisations.size();
        const int count = constraints ? sk_GENERAL_SUBTREE_num(constraints->permittedSubtrees) : 0;
        for (int i = 0; i < count; ++i) {
            const GENERAL_NAME* name = sk_GENERAL_SUBTREE_value(constraints->permittedSubtrees, i)->base;
            if (name->type != GEN_URI) continue;
            const ASN1_IA5STRING* host = name->d.uniformResourceIdentifier;
            std::string text = printable(content_of(host));
            for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
            names.organisations.push_back(std::move(text));
        }
        if (names.organisations.size() == before) names.unbound.push_back(subject);
    }
    std::ranges::sort(names.organisations);
    const auto twice = std::ranges::unique(names.organisations);
    names.organisations.erase(twice.begin(), twice.end());
    return names;
}

bool has_authority(const Bundle& bundle, std::string_view digest) {
    return std::ranges::any_of(bundle.authorities,
                               [&](const Certificate& authority) { return key_digest(authority.get()) == digest; });
}

Result<Revocations> read_list(std::string_view pem, const Bundle& bundle, const OrganisationName& organisation) {
    const std::string what = "the revocation list of '" + organisation + "'";
    const Result<RevocationList> read = read_revocations(pem, what);
    if (!read) return read.error();
    X509_CRL* const list = read->get();
    const X509* signer = has_weak_digest(list) ? nullptr : find_signer(list, bundle);
    static_cast<void>(last_fault());
    if (signer == nullptr)
        return denied(what + " is not signed (SHA-256 or better) by a CA of its bundle; the list known before counts");
    if (X509_CRL_get_ext_by_critical(list, 1, -1) >= 0)
        return denied(what + " is only a part of one (delta or indirect); send the whole list");

    Revocations revocations{.authority = key_digest(signer),
                            .made = read_time(X509_CRL_get0_lastUpdate(list)).value_or(Time::min())};
    const Integer number(static_cast<ASN1_INTEGER*>(X509_CRL_get_ext_d2i(list, NID_crl_number, nullptr, nullptr)));
    std::uint64_t value = 0;
    if (number && ASN1_INTEGER_get_uint64(&value, number.get()) == 1) revocations.number = value;
    const STACK_OF(X509_REVOKED)* lines = X509_CRL_get_REVOKED(list);
    for (int i = 0; i < sk_X509_REVOKED_num(lines); ++i) {
        const X509_REVOKED* line = sk_X509_REVOKED_value(lines, i);
        if (X509_REVOKED_get_ext_by_critical(line, 1, -1) >= 0)
            return denied(what + " is indirect: it names certificates of other CAs");
        revocations.serials.push_back(serial_text(X509_REVOKED_get0_serialNumber(line)));
    }
    std::ranges::sort(revocations.serials);
    static_cast<void>(last_fault());
    return revocations;
}

bool replaces(const Revocations& next, const Revocations& known) {
    if (next.number && known.number) {
        if (*next.number != *known.number) return *next.number > *known.number;
    } else if (next.made != known.made) {
        return next.made > known.made;
    }
    return next.serials == known.serials;
}

bool Organisation::is_revoked(std::string_view serial) const {
    return std::ranges::any_of(lists, [&](const auto& entry) {
        return std::ranges::binary_search(entry.second->serials, serial, {},
                                          [](const std::string& known) { return std::string_view(known); });
    });
}

}  // namespace zbs::openssl

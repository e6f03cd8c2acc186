#include "services/common/adapters/openssl/trust/chain_check.hpp"

#include <openssl/x509_vfy.h>

#include <algorithm>
#include <optional>

#include "services/common/adapters/openssl/common_words.hpp"
#include "services/common/adapters/openssl/pem.hpp"
#include "services/common/adapters/openssl/trust/certificate_view.hpp"
#include "services/common/adapters/openssl/trust/proxy_rules.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::openssl {
namespace {

using Organisations = std::map<OrganisationName, std::shared_ptr<const Organisation>>;
using Subjects = std::map<OrganisationName, std::shared_ptr<const SubjectMap>>;

constexpr const char* kRenewElsewhere = "; its organisation must renew it";

const char* remedy(CallerKind kind) {
    if (kind == CallerKind::kUser)
        return "; ask your operator for a code for 'zbs login --code' (before it ends, 'zbs login --renew' does)";
    if (kind == CallerKind::kOperator)
        return "; where the organisation's CA key is, 'zbs-zone operator' or 'zbs-registry operator' makes a new one";
    return kRenewElsewhere;
}

/// What one run of OpenSSL's own check found.
struct Path {
    std::optional<std::string> fault;
    std::vector<std::string> serials;  ///< of all but the anchor
};
struct PathOptions {
    std::size_t from = 0;  ///< index of the first certificate to be checked
    Role role = Role::kClient;
    bool strict = false;
};

std::string path_fault(X509_STORE_CTX* context, const std::string& who, CallerKind kind, X509* end_entity, Time now) {
    const int code = X509_STORE_CTX_get_error(context);
    X509* const at = X509_STORE_CTX_get_current_cert(context);
    const bool own = at == nullptr || X509_cmp(at, end_entity) == 0;
    const std::string which = own ? "certificate of " + who
                                  : "certificate '" + printable(subject_text(at)) + "', which vouches for " + who + ",";
    X509* const faulty = at ? at : end_entity;
    switch (code) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return which + " expired on " + date_text(not_after(faulty)) + (own ? remedy(kind) : kRenewElsewhere) +
                   "; it was valid from " + moment_text(not_before(faulty)) + " to " + moment_text(not_after(faulty)) +
                   ", and the clock here shows " + moment_text(now);
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return which + " is valid only from " + moment_text(not_before(faulty)) + " to " +
                   moment_text(not_after(faulty)) + "; the clock here shows " + moment_text(now) + ", " +
                   std::to_string((not_before(faulty) - now) / std::chrono::seconds{1}) +
                   " s earlier; compare the clocks";
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            return "certificate of " + who + " was not issued by a CA that is known here for its organisation";
        case X509_V_ERR_INVALID_PURPOSE:
            return which + " is not made for this use (extended key usage)";
        default:
            return which + " is refused: " + X509_verify_cert_error_string(code);
    }
}

Path find_path(ChainView chain, const PathOptions& options, const Bundle& bundle, const std::string& who,
               CallerKind kind, X509* end_entity, Time now) {
    const StoreContext context(X509_STORE_CTX_new());
    const BorrowedStack others(sk_X509_new_null());
    ZBS_EXPECTS(context && others);
    for (X509* certificate : chain.subspan(options.from + 1)) ZBS_EXPECTS(sk_X509_push(others.get(), certificate) > 0);
    ZBS_EXPECTS(X509_STORE_CTX_init(context.get(), bundle.store.get(), chain[options.from], others.get()) == 1);
    X509_VERIFY_PARAM* const param = X509_STORE_CTX_get0_param(context.get());
    // What the operator pinned is believed as it is, be it a root or the one branch of a larger CA that is his.
    unsigned long flags = X509_V_FLAG_PARTIAL_CHAIN;
    if (options.strict) flags |= X509_V_FLAG_X509_STRICT;
    if (options.from == 0 && is_proxy(chain[0])) flags |= X509_V_FLAG_ALLOW_PROXY_CERTS;
    const int purpose = options.role == Role::kClient ? X509_PURPOSE_SSL_CLIENT : X509_PURPOSE_SSL_SERVER;
    ZBS_EXPECTS(X509_VERIFY_PARAM_set_flags(param, flags) == 1 && X509_VERIFY_PARAM_set_purpose(param, purpose) == 1);
    X509_VERIFY_PARAM_set_depth(param, limits::kMaxChainCertificates);
    X509_VERIFY_PARAM_set_auth_level(param, 2);
    X509_VERIFY_PARAM_set_time(param, std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count());

    Path path;
    if (X509_verify_cert(context.get()) != 1) {
        path.fault = path_fault(context.get(), who, kind, end_entity, now);
    } else {
        STACK_OF(X509)* const found = X509_STORE_CTX_get0_chain(context.get());
        for (int i = 0; i + 1 < sk_X509_num(found); ++i) path.serials.push_back(serial_of(sk_X509_value(found, i)));
    }
    static_cast<void>(last_fault());
    return path;
}

/// The fault in the form of an end entity, before anything is asked of any bundle.
std::optional<std::string> find_form_fault(const X509* end_entity, bool named) {
    X509* const x = const_cast<X509*>(end_entity);  // OpenSSL caches what it read of the extensions
    if (X509_get_version(x) != X509_VERSION_3) return "it is no version 3 certificate";
    const std::uint32_t usage = X509_get_key_usage(x);  // all bits where it is not stated
    const bool states_usage = has_extension(x, NID_key_usage);
    if (states_usage && (usage & KU_KEY_CERT_SIGN)) return "its key usage allows signing of certificates";
    if (claims_to_be_ca(x)) return "it is the certificate of a CA, which is nobody's own";
    if (X509_get_extension_flags(x) & EXFLAG_INVALID) return "its extensions are damaged or contradict each other";
    if (!(usage & KU_DIGITAL_SIGNATURE) || (named && !states_usage)) return "its key usage lacks digitalSignature";
    if (named && !has_extension(x, NID_ext_key_usage)) return "it has no extended key usage";
    return std::nullopt;
}

std::optional<std::string> find_kind_fault(const Caller& name, X509* end_entity, Role role, bool via_proxy) {
    const bool serves = is_service(name.kind);
    if (role == Role::kServer && !serves) return "it is no zone, registry or node agent, so it may not answer calls";
    if (via_proxy && (name.kind != CallerKind::kUser || role != Role::kClient)) return "only users act by proxies";
    const std::uint32_t uses = X509_get_extended_key_usage(end_entity);
    if (!(uses & XKU_SSL_CLIENT)) return "it is not made for TLS clients (extended key usage clientAuth)";
    if (serves && !(uses & XKU_SSL_SERVER)) return "it is not made for TLS servers (extended key usage serverAuth)";
    return std::nullopt;
}

struct Named {
    Caller name;
    std::shared_ptr<const Bundle> bundle;
    bool by_subject = false;
};

Result<Named> find_named(X509* end_entity, const std::string& uri, const ChainQuestion& question,
                         const Organisations& organisations, bool via_proxy) {
    const std::optional<Caller> name = parse_identity(uri);
    if (!name)
        return refused(
            "the name '" + printable(uri) +
            "' in the certificate is none of ours (spiffe://ORGANISATION/user|zone|operator|registry|node/NAME)");
    const std::string who = "certificate of " + to_uri(*name) + " is refused: ";
    if (const auto fault = find_form_fault(end_entity, /*named=*/true)) return refused(who + *fault);
    if (const auto fault = find_kind_fault(*name, end_entity, question.role, via_proxy)) return refused(who + *fault);
    if (question.bundle) return Named{*name, question.bundle};
    const auto at = organisations.find(name->organisation);
    if (at == organisations.end())
        return refused("organisation '" + name->organisation +
                       "' is not known here; the operator can pin its bundle or accept its request");
    return Named{*name, at->second->bundle};
}

/// True where an authority of `bundle` may have issued one of the certificates, going by names and key ids.
bool may_vouch(const Bundle& bundle, ChainView chain) {
    return std::ranges::any_of(bundle.authorities, [&](const Certificate& authority) {
        return std::ranges::any_of(
            chain, [&](X509* certificate) { return X509_check_issued(authority.get(), certificate) == X509_V_OK; });
    });
}

/// The user as whom an organisation's map has the subject of this certificate.
std::optional<std::string> find_user(X509* end_entity, const OrganisationName& organisation, const Subjects& subjects) {
    const auto map = subjects.find(organisation);
    if (map == subjects.end()) return std::nullopt;
    auto at = map->second->find(subject_text(end_entity));
    if (const auto line = subject_line(end_entity); at == map->second->end() && line) at = map->second->find(*line);
    if (at == map->second->end()) return std::nullopt;
    return at->second;
}

/// A grid certificate, which has no URI: of the organisations that pinned its CA exactly one must have its subject in
/// its map.
Result<Named> find_mapped(ChainView chain, X509* end_entity, const ChainQuestion& question,
                          const Organisations& organisations, const Subjects& subjects, Time now) {
    const std::string subject = printable(subject_text(end_entity));
    const std::string who = "certificate '" + subject + "' is refused: ";
    if (question.role != Role::kClient || !question.subjects_count)
        return refused(who + "it has no URI alternative name, so it names no zone, registry or signer");
    if (const auto fault = find_form_fault(end_entity, /*named=*/false)) return refused(who + *fault);
    const auto proxies = static_cast<std::size_t>(std::ranges::find(chain, end_entity) - chain.begin());
    std::vector<std::string> vouching;
    std::optional<Named> found;
    std::string fault =
        "certificate '" + subject + "' has no URI alternative name, and no CA that is known here issued it";
    for (const auto& [name, trust] : organisations) {
        if (!may_vouch(*trust->bundle, chain.subspan(proxies))) continue;
        const Path path = find_path(chain, {.from = proxies}, *trust->bundle, "'" + subject + "'", CallerKind::kUser,
                                    end_entity, now);
        if (path.fault) {
            fault = *path.fault;
            continue;
        }
        vouching.push_back(name);
        const std::optional<std::string> user = find_user(end_entity, name, subjects);
        if (user && found) {
            return refused(who + "the subject maps of '" + found->name.organisation + "' and '" + name +
                           "' both have its subject, so it is nobody's; the operator can take it out of one");
        }
        if (user) found = Named{{CallerKind::kUser, name, *user}, trust->bundle, /*by_subject=*/true};
    }
    if (found) return *std::move(found);
    if (vouching.empty()) return refused(fault);
    const std::string nobody = vouching.size() == 1 ? "organisation '" + vouching.front() + "' has no user"
                                                    : "none of the organisations that pinned its CA has a user";
    return refused(who + nobody + " with this subject; its operator can add it to the subject map");
}

}  // namespace

Result<BelievedChain> check_chain(ChainView chain, const ChainQuestion& question, const Organisations& organisations,
                                  const Subjects& subjects, Time now) {
    if (chain.size() > static_cast<std::size_t>(limits::kMaxChainCertificates))
        return refused("the chain has more than " + std::to_string(limits::kMaxChainCertificates) + " certificates");
    for (const X509* certificate : chain) {
        if (const auto weakness = find_weakness(X509_get0_pubkey(certificate))) {
            static_cast<void>(last_fault());
            return refused("certificate '" + printable(subject_text(certificate)) + "' is refused: " + *weakness);
        }
    }
    const Result<ProxyChain> proxies = verify_proxy_chain(chain, now);
    if (!proxies) return refused(proxies.error().message);
    X509* const end_entity = chain[proxies->proxies];

    const Result<std::optional<std::string>> uri = find_uri(end_entity);
    if (!uri)
        return refused("certificate '" + printable(subject_text(end_entity)) + "' is refused: " + uri.error().message);
    const Result<Named> named = *uri ? find_named(end_entity, **uri, question, organisations, proxies->proxies > 0)
                                     : find_mapped(chain, end_entity, question, organisations, subjects, now);
    if (!named) return named.error();

    const std::string who = to_uri(named->name);
    const PathOptions own{.from = proxies->proxies, .role = question.role, .strict = !named->by_subject};
    const Path path = find_path(chain, own, *named->bundle, who, named->name.kind, end_entity, now);
    if (path.fault) return refused(*path.fault);
    if (proxies->proxies > 0) {
        const Path whole =
            find_path(chain, {.role = question.role}, *named->bundle, who, named->name.kind, end_entity, now);
        if (whole.fault) return refused(*whole.fault);
    }
    if (const auto at = organisations.find(named->name.organisation); at != organisations.end()) {
        for (const std::string& serial : path.serials) {
            if (!at->second->is_revoked(serial)) continue;
            if (serial != serial_of(end_entity))
                return refused("CA certificate with serial " + serial + ", which vouches for " + who +
                               ", was revoked by its organisation");
            return refused("certificate of " + who + " (serial " + serial + ") was revoked by its organisation" +
                           (is_service(named->name.kind) ? "" : "; ask its operator, then 'zbs login'"));
        }
    }
    return BelievedChain{
        .end_entity = {named->name, serial_of(end_entity), not_before(end_entity), not_after(end_entity)},
        .proxies = *proxies};
}

}  // namespace zbs::openssl

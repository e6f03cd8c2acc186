#include "services/common/adapters/cpprest/published_bundle.hpp"

#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/codec/site_codec.hpp"
#include "services/common/http/reply.hpp"

namespace zbs::cpprest {

Result<std::string> fetch_bundle(const JoinToken& token, Time (*now)()) {
    HttpCaller anybody({.tls = std::make_shared<openssl::TlsClient>()});
    const auto published = http::read_answer(anybody.call({{token.url, token.service}, "GET", "/v1/trust"}));
    if (!published) return published.error();
    Result<TrustStatement> statement = codec::decode_trust_statement(*published);
    if (!statement) return statement.error();
    const Result<std::string> fingerprint = openssl::TrustStore(now).fingerprint(statement->bundle);
    if (!fingerprint) return fingerprint.error();
    if (*fingerprint != token.fingerprint)
        return Error{ErrorCode::kDenied,
                     token.url + " shows the bundle " + *fingerprint + ", but the token is of " + token.fingerprint +
                         ": somebody else answers there; nothing was sent",
                     {}};
    return std::move(statement->bundle);
}

}  // namespace zbs::cpprest

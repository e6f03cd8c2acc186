#include "services/zone_scheduler/trust/peering_request.hpp"

namespace zbs {
namespace {

constexpr const char* kPurpose = "zbs peering request 1";
constexpr Duration kClocksApart = std::chrono::minutes{10};

Caller asker(const PeeringRequest& request) { return {CallerKind::kZone, request.organisation, request.zone}; }

std::string statement(const PeeringRequest& request, const Caller& to, const std::string& fingerprint) {
    return "peering of " + to_uri(asker(request)) + "\nat zone " + to_uri(to) + "\naddress " + request.url +
           "\ninterface " + std::to_string(request.interface_version) + "\nbundle " + fingerprint + "\ntime " +
           std::to_string(to_microseconds(request.at)) + "\n";
}

Error denied(const std::string& why, ErrorCode code = ErrorCode::kDenied) {
    return {code, "the request does not count: " + why, {}};
}

}  // namespace

Result<PeeringRequest> make_peering_request(const PeeringRequest& plain, const Caller& to, Time now,
                                            const OwnKeys& keys, const TrustBundles& trust) {
    PeeringRequest request = plain;
    request.bundle = keys.bundle();
    request.at = now;
    const Result<std::string> fingerprint = trust.fingerprint(request.bundle);
    if (!fingerprint) return fingerprint.error();
    Result<SignedText> text = keys.sign(kPurpose, statement(request, to, *fingerprint));
    if (!text) return text.error();
    request.chain = std::move(text->chain);
    request.signature = std::move(text->signature);
    return request;
}

Result<std::string> check_peering_request(const PeeringRequest& request, const Caller& to, Time now,
                                          const TrustBundles& trust) {
    if (request.bundle.empty() || request.signature.empty())
        return denied("zones of other organisations show their bundle and sign what they ask");
    Result<std::string> fingerprint = trust.fingerprint(request.bundle);
    if (!fingerprint) return invalid(fingerprint.error().message, "/bundle");
    if (std::chrono::abs(request.at - now) > kClocksApart)
        return denied(
            clock_difference_text("zone '" + request.zone + "'", request.at - now, "that of zone '" + to.name + "'"));
    const Result<CertificateInfo> signer = trust.verify_text(
        kPurpose, {statement(request, to, *fingerprint), request.chain, request.signature}, request.bundle);
    if (!signer) return denied(signer.error().message, signer.error().code);
    if (!(signer->name == asker(request))) return denied("it was signed by " + to_uri(signer->name));
    return fingerprint;
}

}  // namespace zbs

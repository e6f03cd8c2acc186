#include "services/common/codec/json/signed_entry.hpp"

#include "services/common/codec/message_codec.hpp"

namespace zbs::codec {
namespace {
constexpr const char* kPurpose = "zbs zone entry 1";
}  // namespace

Result<SignedText> sign_entry(const OwnKeys& keys, const ZoneEntry& entry) {
    return keys.sign(kPurpose, dump(encode(entry)));
}

Result<ZoneEntry> verify_entry(const SignatureVerifier& trust, const SignedText& text) {
    const Result<Json> json = parse(text.text);
    if (!json) return json.error();
    Result<ZoneEntry> entry = decode_zone_entry(*json);
    if (!entry) return entry.error();
    if (!entry->url.starts_with("https://")) return invalid("must be https://host:port", "/url");
    const Result<CertificateInfo> signer = trust.verify_text(kPurpose, text, entry->bundle);
    if (!signer) return signer.error();
    const Caller zone{CallerKind::kZone, entry->organisation, entry->name};
    if (!(signer->name == zone)) {
        return Error{ErrorCode::kDenied,
                     "the entry of " + to_uri(zone) + " is signed by " + to_uri(signer->name) + " instead of itself",
                     "/name"};
    }
    return entry;
}

}  // namespace zbs::codec

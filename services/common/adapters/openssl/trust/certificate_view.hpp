#pragma once
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/adapters/openssl/handles.hpp"

// What a certificate or key says, in our values. Nothing here is verified.
namespace zbs::openssl {

/// What makes a key too weak to be believed, or too costly to check: RSA outside 2048..8192 bits, curves other than
/// P-256, P-384 and P-521 or given by their parameters, any kind but RSA, EC and Ed25519. Nothing where it is good.
std::optional<std::string> find_weakness(const EVP_PKEY* key);

/// Lower-case hexadecimal, an even number of digits.
std::string serial_text(const ASN1_INTEGER* serial);
/// Refers to `text`.
std::string_view content_of(const ASN1_STRING* text);
std::string serial_of(const X509* certificate);

/// A field that cannot be read makes a certificate that is never valid.
Time not_before(const X509* certificate);
Time not_after(const X509* certificate);
std::optional<Time> read_time(const ASN1_TIME* moment);
Moment make_moment(Time time);
/// "2026-11-01", and with the time of day "2026-11-01 12:00 UTC".
std::string date_text(Time time);
std::string moment_text(Time time);

/// As in RFC 2253; everything outside printable ASCII is escaped.
std::string subject_text(const X509* certificate);
std::string name_text(const X509_NAME* name);
/// OpenSSL's "/C=BR/O=Grid/CN=Ana"; nothing where an attribute holds '/', because two subjects could look the
/// same (some releases of OpenSSL 3 escape it, others do not).
std::optional<std::string> subject_line(const X509* certificate);

/// The one URI among the subject alternative names; nothing where there is none. Errors: several URIs, several or
/// damaged extensions.
Result<std::optional<std::string>> find_uri(const X509* certificate);
/// DNS names and addresses among the subject alternative names, as a browser compares them with an address that it
/// opens; in their order. Those that are none (check_advertised_host)
/// are left out.
std::vector<std::string> host_names(const X509* certificate);
/// True for a CA's certificate, and for one that claims to be in any way (basic constraints, key usage, version 1).
bool claims_to_be_ca(const X509* certificate);
bool has_extension(const X509* certificate, int nid);
/// Text of a peer for use in a message: printable ASCII, at most 200 characters.
std::string printable(std::string_view text);

/// SHA-256 over the DER form, 32 bytes.
std::string fingerprint_of(const X509* certificate);

}  // namespace zbs::openssl

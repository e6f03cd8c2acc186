#pragma once

namespace zbs::openssl {

/// cpprestsdk reads all authorities that the system trusts (0.2 MB, 20 to 50 ms of processor) for every TLS connection,
/// before it lets us say whom we trust. We never ask them: `openssl::TlsClient` judges certificates by our own bundles
/// alone. A program that calls this has OpenSSL's SSL_CTX_set_default_verify_paths replaced by one that reads nothing,
/// for all its libraries. Does nothing when it runs.
void read_no_system_authorities();

}  // namespace zbs::openssl

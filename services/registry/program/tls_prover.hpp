#pragma once
#include <functional>
#include <memory>

#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/ports/address_prover.hpp"

namespace zbs::registry_program {

/// AddressProver by a TLS connection to the entry's address: the handshake proves the key, the entry's bundle the name.
/// The address is resolved once and called by number. `keys` must outlive it.
std::unique_ptr<AddressProver> make_tls_prover(const openssl::KeyFolder& keys, openssl::Now now,
                                               bool allow_private_addresses,
                                               std::function<void(std::function<void()>)> post);

}  // namespace zbs::registry_program

#pragma once
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/registry.hpp"

namespace zbs {

/// The zones that a home knows. Durability and errors: as of `ZoneStore`.
class PeerStore {
  public:
    virtual ~PeerStore() = default;

    virtual Result<void> save(const Peer& peer) = 0;
    virtual Result<std::vector<Peer>> load_peers() = 0;
};

}  // namespace zbs

#pragma once
#include <optional>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/ports/storage/application_store.hpp"
#include "services/common/ports/storage/event_store.hpp"
#include "services/common/ports/storage/part_store.hpp"
#include "services/common/ports/storage/profile_store.hpp"

namespace zbs {

/// How far the clock of a zone has been believed. Durability and errors: as of `ZoneStore`.
class ClockStore {
  public:
    virtual ~ClockStore() = default;

    /// The wall clock when it was last believed; none where that was never noted.
    virtual Result<std::optional<Time>> believed_time() = 0;
    virtual Result<void> record_believed_time(Time now) = 0;
};

/// The zones that a home knows. Durability and errors: as of `ZoneStore`.
class PeerStore {
  public:
    virtual ~PeerStore() = default;

    virtual Result<void> save(const Peer& peer) = 0;
    virtual Result<std::vector<Peer>> load_peers() = 0;
};

/// Where a zone keeps what it must not forget. Whole values in, whole values out. A failed call has changed nothing.
/// When what was written is durable is settled where the store is opened: with each call, or with a `Journal`'s commit.
class ZoneStore : public ApplicationStore,
                  public PartStore,
                  public EventStore,
                  public ClockStore,
                  public PeerStore,
                  public ProfileStore {
  public:
    using ApplicationStore::insert, ProfileStore::insert;
    using ApplicationStore::remove, PartStore::remove;
    using ApplicationStore::was_removed, PartStore::was_removed;
    using PartStore::save, PeerStore::save;
};

}  // namespace zbs

#pragma once
#include "services/common/ports/storage/application_store.hpp"
#include "services/common/ports/storage/event_store.hpp"
#include "services/common/ports/storage/part_store.hpp"
#include "services/common/ports/storage/profile_store.hpp"

namespace zbs {

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

#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/application.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/messages/registry.hpp"

namespace zbs {

/// A part as the zone that runs it remembers it.
struct PartRecord {
    Caller home_caller;  ///< who holds it: the home zone
    PartRequest request;
    PartStatus status;
    std::string operation;                 ///< of its launch; empty before
    std::vector<std::int32_t> processors;  ///< by rank, in the zone's own numbering
    std::vector<int> proxies;              ///< of its launch
    bool profile = false;
    std::string account;  ///< its processes run in; empty: the zone's own
    /// Once launched: when. Before: when it is to start; none where that is as soon as home wishes.
    std::optional<Time> starts_at{};
    bool operator==(const PartRecord&) const = default;
};

/// Where a zone keeps what it must not forget. Whole values in, whole values out. A failed call has changed nothing.
/// When what was written is durable is settled where the store is opened: with each call, or with a `Journal`'s commit.
class ZoneStore {
  public:
    virtual ~ZoneStore() = default;

    virtual Result<void> insert(const Application& application) = 0;  ///< kConflict where the id exists
    virtual Result<void> update(const ApplicationId& id, const ApplicationStatus& status) = 0;
    virtual Result<std::vector<Application>> load_applications() = 0;  ///< by id (oldest first)

    virtual Result<void> save(const PartRecord& part) = 0;
    virtual Result<std::vector<PartRecord>> load_parts() = 0;
    /// A number that has never been returned before, not even before a restart.
    virtual Result<std::uint64_t> next_token() = 0;

    virtual Result<void> save(const Peer& peer) = 0;
    virtual Result<std::vector<Peer>> load_peers() = 0;

    virtual Result<void> insert(const Profile& profile) = 0;
    /// Newest of this owner, program and size; complete ones before partial ones.
    virtual Result<std::optional<Profile>> find_profile(const Caller& owner, const std::string& program, int ranks) = 0;
    virtual Result<std::vector<ProfileSummary>> list_profiles(const Caller& owner) = 0;  ///< newest first, at most 1000
    /// None where there is no such profile.
    virtual Result<std::optional<Caller>> profile_owner(const ProfileId& id) = 0;
    virtual Result<std::optional<Profile>> load_profile(const Caller& owner, const ProfileId& id) = 0;
};

}  // namespace zbs

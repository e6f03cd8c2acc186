#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/profile.hpp"

namespace zbs {

/// Profiles of runs, by owner. Durability and errors: as of `ZoneStore`.
class ProfileStore {
  public:
    virtual ~ProfileStore() = default;

    /// Removes those that have to give way (kMaxProfilesOfAKind, kMaxProfilesOfAnOwner). kConflict where the id exists.
    virtual Result<void> insert(const Profile& profile) = 0;
    /// Of this owner those with this program or, where it is not empty, this digest: newest first, at most `limit`.
    struct ProgramQuery {
        Caller owner;
        std::string program, digest;
        std::size_t limit = 200;
    };
    virtual Result<std::vector<ProfileSummary>> profiles_of(const ProgramQuery& query) = 0;
    virtual Result<std::vector<ProfileSummary>> list_profiles(const Caller& owner) = 0;  ///< newest first, at most 1000
    /// None where there is no such profile.
    virtual Result<std::optional<Caller>> profile_owner(const ProfileId& id) = 0;
    virtual Result<std::optional<Profile>> load_profile(const Caller& owner, const ProfileId& id) = 0;
};

}  // namespace zbs

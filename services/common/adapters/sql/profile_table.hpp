#pragma once
#include <optional>
#include <vector>

#include "services/common/adapters/sql/database.hpp"
#include "services/common/ports/storage/profile_store.hpp"

namespace zbs::sql {

/// The profiles of a zone's database; what `ProfileStore` says of them.
class ProfileTable {
  public:
    /// `database` must outlive the table.
    explicit ProfileTable(Database& database) : database_(database) {}

    Result<void> insert(const Profile& profile);
    Result<std::vector<ProfileSummary>> of(const ProfileStore::ProgramQuery& wanted);
    Result<std::optional<Profile>> load(const Caller& owner, const ProfileId& id);
    Result<std::optional<Caller>> owner_of(const ProfileId& id);
    Result<std::vector<ProfileSummary>> list(const Caller& owner);

  private:
    Result<void> make_room(const Profile& profile);

    Database& database_;
};

}  // namespace zbs::sql

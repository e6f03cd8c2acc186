#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/sqlite/backup_file.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/ports/storage/site_store.hpp"

namespace zbs::sqlite {

/// The steps that make a registry's database, oldest first. Append only.
const std::vector<std::string>& registry_schema();

/// RegistryStore in one SQLite file. Entries of the first version, which nobody had signed, are dropped.
Result<std::unique_ptr<RegistryStore>> open_registry_store(const std::string& path);

/// Backups of registries: `write_backup` and `check_backup` take this.
const BackupKind& registry_backups();

struct RestoredRegistry {
    RestoredFiles files;
    std::uint64_t tokens = 0;                  ///< that were open when the backup was made, and work no more
    std::vector<RemovedFromRegistry> removed;  ///< again, because it was removed since the backup
};

/// What an entry of the audit log took out.
using RemovalOf = std::function<std::optional<RemovedFromRegistry>(const AuditEntry&)>;

/// `restore_backup` of a registry. Nothing comes back to life that may have ended since the backup: no token works
/// any more, because it may have been used; what the log in place says was removed is removed again; and no entry is
/// shown before its zone has published a newer one, which zones do by themselves when they renew. Errors: as
/// `restore_backup`.
Result<RestoredRegistry> restore_registry(const std::string& file, const ServiceFiles& to, Time now,
                                          const RemovalOf& removal_of);

}  // namespace zbs::sqlite

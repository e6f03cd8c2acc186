#pragma once
#include <memory>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/ports/storage/registry_store.hpp"

namespace zbs::sqlite {

/// The steps that make a registry's database, oldest first. Append only.
const std::vector<std::string>& registry_schema();

/// RegistryStore in one SQLite file. Entries of the first version, which nobody had signed, are dropped.
Result<std::unique_ptr<RegistryStore>> open_registry_store(const std::string& path);

}  // namespace zbs::sqlite

#pragma once
#include <memory>

#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/ports/site_store.hpp"

namespace zbs::sqlite {

std::unique_ptr<SiteStore> make_site_store(std::shared_ptr<Database> database);

}  // namespace zbs::sqlite

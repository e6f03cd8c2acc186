#pragma once
#include <memory>

#include "services/common/adapters/sql/database.hpp"
#include "services/common/ports/storage/site_store.hpp"

namespace zbs::sql {

std::unique_ptr<SiteStore> make_site_store(std::shared_ptr<Database> database);

}  // namespace zbs::sql

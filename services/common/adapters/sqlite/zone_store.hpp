#pragma once
#include <memory>
#include <string>

#include "services/common/ports/site_store.hpp"
#include "services/common/ports/zone_store.hpp"

namespace zbs::sqlite {

/// A zone's database: one file, one connection that writes.
struct ZoneDatabase {
    std::unique_ptr<ZoneStore> zone;
    std::unique_ptr<SiteStore> site;
};

/// A zone's stores in one SQLite file. Every call is one durable transaction (measured about 4 ms on a disk).
Result<ZoneDatabase> open_zone_database(const std::string& path);

}  // namespace zbs::sqlite

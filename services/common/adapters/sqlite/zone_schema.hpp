#pragma once
#include <string>
#include <vector>

namespace zbs::sqlite {

/// The steps that make a zone's database, oldest first; the n-th lifts it to version n. Append only.
const std::vector<std::string>& zone_schema();

}  // namespace zbs::sqlite

#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "services/common/ports/storage/file_depot.hpp"

namespace zbs::files {

/// What of its disk a depot leaves free, for the database and others: the larger of the two.
struct Reserve {
    std::uint64_t bytes = 1ULL << 30;
    unsigned percent = 1;  ///< of the disk
};

/// A depot in `folder`, which is made where it is missing, for this user alone. A piece that would
/// go into the reserve is refused as kUnavailable. Errors: kUnavailable.
Result<std::unique_ptr<FileDepot>> open_file_depot(const std::string& folder, const Reserve& reserve = {});

}  // namespace zbs::files

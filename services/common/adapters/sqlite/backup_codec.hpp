#pragma once
#include "services/common/adapters/sqlite/backup_file.hpp"
#include "services/common/codec/json/json.hpp"

namespace zbs::sqlite {

/// A backup for programs: whose it is, when it was made, what it holds, and the head of its log.
codec::Json document_of(const BackupSummary& backup);
codec::Json document_of(const RestoredFiles& restored);

}  // namespace zbs::sqlite

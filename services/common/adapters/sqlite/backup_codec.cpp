#include "services/common/adapters/sqlite/backup_codec.hpp"

#include <algorithm>

#include "services/common/adapters/sqlite/audit_log.hpp"

namespace zbs::sqlite {

codec::Json document_of(const BackupSummary& backup) {
    codec::Json counts = codec::Json::object();
    for (const BackupSummary::Count& count : backup.content) {
        std::string key = count.what;
        std::ranges::replace(key, ' ', '_');
        counts[key] = count.rows;
    }
    return {{"service", backup.who},
            {"made_us", to_microseconds(backup.made)},
            {"audit_head", to_string(backup.audit)},
            {"counts", counts}};
}

codec::Json document_of(const RestoredFiles& restored) {
    codec::Json document = {{"backup", document_of(restored.backup)},
                            {"audit_log", restored.kept_audit ? "goes_on" : "of_the_backup"}};
    if (!restored.kept.empty()) document["kept"] = restored.kept;
    return document;
}

}  // namespace zbs::sqlite

#include "services/common/adapters/sqlite/registry_store.hpp"

#include "services/common/adapters/sql/record_table.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/record_schema.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/site_codec.hpp"

namespace zbs::sqlite {
namespace {

class SqliteRegistryStore : public RegistryStore {
  public:
    explicit SqliteRegistryStore(const std::shared_ptr<Database>& database)
        : zones_(database, "zone", codec::encode, codec::decode_enrolled_zone),
          rights_(database, "enrolment right", codec::encode, codec::decode_enrolment_right),
          organisations_(database, "organisation", codec::encode, codec::decode_trusted_organisation) {}

    RecordTable<EnrolledZone>& zones() override { return zones_; }
    RecordTable<EnrolmentRight>& rights() override { return rights_; }
    RecordTable<TrustedOrganisation>& organisations() override { return organisations_; }

  private:
    sql::SqlRecordTable<EnrolledZone> zones_;
    sql::SqlRecordTable<EnrolmentRight> rights_;
    sql::SqlRecordTable<TrustedOrganisation> organisations_;
};

}  // namespace

const std::vector<std::string>& registry_schema() {
    static const std::vector<std::string> steps = {kRecordSchema};
    return steps;
}

Result<std::unique_ptr<RegistryStore>> open_registry_store(const std::string& path) {
    Result<std::unique_ptr<Database>> database =
        Database::open(path, registry_schema(), " ('zbs-registry restore FILE --state DIR')");
    if (!database) return database.error();
    return std::unique_ptr<RegistryStore>(std::make_unique<SqliteRegistryStore>(*std::move(database)));
}

}  // namespace zbs::sqlite

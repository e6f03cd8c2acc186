#pragma once
#include "services/common/messages/registry.hpp"
#include "services/common/messages/site.hpp"
#include "services/common/ports/storage/record_table.hpp"

namespace zbs {

/// What the registry keeps. Lives on the domain's strand.
class RegistryStore {
  public:
    virtual ~RegistryStore() = default;
    virtual RecordTable<EnrolledZone>& zones() = 0;
    virtual RecordTable<EnrolmentRight>& rights() = 0;
    virtual RecordTable<TrustedOrganisation>& organisations() = 0;
};

}  // namespace zbs

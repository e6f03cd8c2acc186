#pragma once
#include <cstdint>
#include <string>

#include "services/common/messages/part.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/messages/staging.hpp"
#include "services/common/ports/transport/respond.hpp"

namespace zbs {

/// Files of a part, on the way to its zone and back. Deadline and errors: as of `ZoneTransport`.
class StagingTransport {
  public:
    virtual ~StagingTransport() = default;

    /// Sends a committed part's zone the list of its files, and asks which of them are there; its launch window begins
    /// anew.
    virtual void stage_part(const ServiceAddress& to, const PartId& id, const StagingRequest& request,
                            Respond<StagingStatus> respond) = 0;
    virtual void put_part_file(const ServiceAddress& to, const PartId& id, const std::string& digest,
                               const FileChunk& chunk, Respond<FilePresence> respond) = 0;
    /// What a part that has ended left; not complete while its zone lays it aside.
    virtual void part_results(const ServiceAddress& to, const PartId& id, Respond<StagedResults> respond) = 0;
    virtual void part_result(const ServiceAddress& to, const PartId& id, const std::string& name, std::uint64_t offset,
                             Respond<FileChunk> respond) = 0;
};

}  // namespace zbs

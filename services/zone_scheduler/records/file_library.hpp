#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "services/common/messages/names/identity.hpp"
#include "services/common/messages/staging.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/storage/file_depot.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"

namespace zbs {

/// Files that users brought, or that homes sent for them: by owner and content, so that nothing is sent twice and
/// nobody learns what another one has. Where a user's bound is reached, what was unused for longest gives way, but
/// never what work that has not ended needs. Lives on the domain's strand.
class FileLibrary {
  public:
    FileLibrary(const ZoneConfig& config, FileDepot& depot) : config_(config), depot_(depot) {}

    /// Whether this owner's file with this digest is still needed; asked of all that were set.
    using InUse = std::function<bool(const Caller& owner, const std::string& digest)>;
    void add_user(InUse in_use) { in_use_.push_back(std::move(in_use)); }

    /// Errors: kNotFound where nothing of it is here; the depot's.
    Result<FilePresence> find(const Caller& owner, const std::string& digest) const;
    /// As `find`, but nothing of it where it is not here.
    Result<FilePresence> look(const Caller& owner, const std::string& digest) const;
    /// A file on its way counts with the size that its first piece declared; with another one it begins anew, at offset
    /// 0. Errors: kTooLarge over the bounds of a file or of the user; kConflict for another size; the depot's.
    Result<FilePresence> put(const Caller& owner, const std::string& digest, const FileChunk& chunk);
    Result<std::string> read(const Caller& owner, const std::string& digest, std::uint64_t offset,
                             std::size_t limit) const;
    /// It was used now.
    void touch(const Caller& owner, const std::string& digest);
    std::string path(const Caller& owner, const std::string& digest) const;

    /// Whether the bounds of this zone allow these inputs. Errors: kTooLarge, naming the file or the bound.
    Result<void> check_bounds(const Staging& staging, const char* pointer) const;
    /// Removes what nobody has used since `time` and nothing needs. Errors: the depot's first one, after all others
    /// were removed.
    Result<void> remove_unused_since(Time time);

    /// What lies in the depot, results included.
    std::uint64_t kept_bytes() const { return depot_.bytes(); }

    FileDepot& depot() { return depot_; }

  private:
    bool is_in_use(const Caller& owner, const std::string& digest) const;
    struct Sum {
        std::uint64_t bytes = 0;  ///< begun files count whole
        std::size_t files = 0;
    };
    Result<Sum> sum_of(const OrganisationName& organisation) const;
    Result<void> check_organisation(const Caller& owner, std::uint64_t bytes);
    Result<void> remove(const std::string& shelf, const std::string& name);
    Result<void> make_room(const Caller& owner, const std::string& digest, std::uint64_t bytes);

    const ZoneConfig& config_;
    FileDepot& depot_;
    std::vector<InUse> in_use_;
    std::map<OrganisationName, Sum> sums_;  ///< of other organisations, until something is removed
};

}  // namespace zbs

#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/common/adapters/sql/database.hpp"
#include "services/zone_scheduler/adapters/postgresql/connection.hpp"

namespace zbs::postgresql {

/// What a writer has to hold for its commits to count.
struct Fence {
    std::int64_t epoch = 0;
    std::function<bool()> holds;  ///< by this host's own clock; any thread
};

/// The one connection that writes to a zone's schema: it holds a lock that only one can have, for as long as it lives.
/// Every statement of a batch is guarded by a savepoint, so that one which fails leaves the others; answers are held in
/// memory whole.
class Database : public sql::Database {
  public:
    /// Connects, makes the schema where it is missing, and brings it to `steps` (version = their count). Errors: the
    /// connection's; kConflict where another writes; a schema of a newer program.
    static Result<std::unique_ptr<Database>> open(const Address& address, const std::vector<std::string>& steps);
    /// To look only: no lock, no steps. Errors: the connection's; kNotFound where no zone has used the schema yet.
    static Result<std::unique_ptr<Database>> open_to_read(const Address& address, std::size_t newest);
    ~Database() override;

    /// From now on a commit counts only while the fence's lease does; in batches.
    void use_fence(Fence fence) { fence_ = std::move(fence); }
    Result<void> together(const std::function<Result<void>()>& writes) override;
    bool is_dirty() const override { return is_open_; }
    bool is_ours() const override { return !fence_ || fence_->holds(); }
    Result<void> commit() override;

  protected:
    std::unique_ptr<sql::Statement> prepare(std::string_view sql) override;

  private:
    class PreparedStatement;
    explicit Database(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
    Result<void> begin_batch();
    Result<Answer> execute(const std::string& name, const std::vector<std::string>& values, bool writes);

    std::unique_ptr<Connection> connection_;
    std::optional<Fence> fence_;
    std::uint64_t prepared_ = 0;
    bool is_open_ = false;      ///< a batch was begun
    bool is_together_ = false;  ///< under the savepoint of `together`
};

/// Ends whoever writes to this schema, e.g. a zone that was stopped and has lost its lease, where the lease is still
/// free with epoch `seen`: never the writer of one that took it meanwhile. Their number. Errors: the server's, where
/// they belong to another role.
Result<int> end_writers(Connection& connection, std::int64_t seen, Duration deadline);

}  // namespace zbs::postgresql

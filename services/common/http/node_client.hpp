#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "services/common/messages/node.hpp"
#include "services/common/messages/staging.hpp"
#include "services/common/ports/http_client.hpp"
#include "services/common/ports/steps/step_runner.hpp"

namespace zbs::http {

/// A node agent, as its zone calls it: typed, over REST. Answers come once, on the strand that `post` puts work on,
/// never from inside the call. Errors beside those of each call: kUnavailable (not there, or an answer that no honest
/// agent gives), kTimeout (says nothing about whether it acted), kDenied. Every call may be repeated.
class NodeClient {
  public:
    template <class T>
    using Respond = std::function<void(Result<T>)>;

    /// `client` must outlive this.
    NodeClient(HttpClient& client, ServiceAddress node, std::function<void(std::function<void()>)> post);
    const ServiceAddress& address() const { return node_; }

    /// Answers once the program is executing, or why it cannot be; a known step starts nothing twice. Errors: the
    /// executor's of the agent.
    void start(const StepSpec& spec, Respond<StepReport> respond) const;
    /// The tree is asked to end, and killed after `grace`; answers at once, with its state now. A step that is not
    /// known never begins after it.
    void stop(const StepId& step_id, Duration grace, Respond<StepReport> respond) const;

    struct StepQuery {
        std::vector<StepId> step_ids;  ///< empty: all that are there; at most 200
        std::uint64_t since = 0;       ///< `StepPage::version` of the last answer: wait while nothing has changed since
        Duration wait{};               ///< at most limits::kMaxNodeWaitSeconds; 0 = answer at once
    };
    void statuses(const StepQuery& query, Respond<StepPage> respond) const;

    /// Files of the step's folder whose names begin with `prefix`, by name; of no prefix as `StepFiles::list_all`.
    void list(const StepId& step_id, const std::string& prefix, Respond<std::vector<StepFile>> respond) const;
    /// Bytes [offset, offset + limit) of a file, fewer at its end. `limit`: 1 to limits::kMaxLogChunkBytes. Errors:
    /// kNotFound.
    void read(const StepId& step_id, const std::string& file, std::uint64_t offset, std::size_t limit,
              Respond<std::string> respond) const;
    /// Errors: kConflict while it runs.
    void remove(const StepId& step_id, std::size_t at_most, Respond<StepRemoval> respond) const;

    /// How much of an input of steps the agent has.
    void find_input(const std::string& digest, Respond<FilePresence> respond) const;
    /// A piece of one. Errors: as the agent's `InputStore::put`.
    void put_input(const std::string& digest, const FileChunk& chunk, Respond<FilePresence> respond) const;

    /// Errors: kConflict where the agent has a column (shares) with this number or a greater one.
    void set_slices(const SliceColumn& column, Respond<void> respond) const;
    void set_shares(const ShareTable& table, Respond<void> respond) const;

    /// Has the agent measure the way to another one, which takes it some seconds at most. Errors:
    /// kTooManyRequests while it measures another.
    void probe(const ProbeRequest& request, Respond<ProbeReport> respond) const;

  private:
    template <class T, class Decode>
    void send(HttpCall call, Decode decode, Respond<T> respond) const;

    HttpClient& client_;
    ServiceAddress node_;
    std::function<void(std::function<void()>)> post_;
};

}  // namespace zbs::http

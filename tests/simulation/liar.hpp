#pragma once
#include <optional>
#include <string>

#include "algorithms/base/rng.hpp"
#include "services/common/http/call.hpp"
#include "services/common/messages/part.hpp"

namespace zbs::simulation {

/// What a hostile peer makes of its answers to other zones, and of its own calls: no JSON, wrong types, other ids,
/// yesterday's answers and tokens, holds for processors that it does not have, starts that it cannot keep, and denial
/// of what it has accepted.
class Liar {
  public:
    explicit Liar(std::uint64_t seed) : rng_(seed) {}
    /// One in three answers.
    void bend(const http::Call& call, http::Reply& reply);
    /// One in three tokens of commits and launches.
    void bend(http::Call& call);

  private:
    void forge_hold(const http::Call& call, http::Reply& reply);
    void forge_windows(http::Reply& reply);
    void change_part(http::Reply& reply);

    Rng rng_;
    std::string before_ = R"({"id":"00000000000000000000000000"})";
    std::optional<PartStatus> last_;  ///< some part that it reported before
};

}  // namespace zbs::simulation

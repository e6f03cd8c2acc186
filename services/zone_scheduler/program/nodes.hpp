#pragma once
#include <functional>
#include <memory>

#include "services/common/adapters/node/node_executor.hpp"
#include "services/zone_scheduler/core/zone_core.hpp"
#include "services/zone_scheduler/program/engine.hpp"

namespace zbs::zone_program {

/// What runs steps on machines that have agents.
struct Nodes {
    std::unique_ptr<HttpClient> client;  ///< agents live at private addresses, whatever may be said of peers
    std::unique_ptr<node::PieceReader> reader;
    std::unique_ptr<node::NodeExecutor> executor;

    /// Where agents are, as they register.
    void use(const NodeDirectory& directory);
};

/// None where no machine has an agent. `local` must outlive it.
std::optional<Nodes> make_nodes(Engine& engine, const ZoneSettings& settings, const StateFolder& state, Executor& local,
                                node::NodeExecutor::Post post, Log& log);

}  // namespace zbs::zone_program

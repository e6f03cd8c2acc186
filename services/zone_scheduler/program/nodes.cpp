#include "services/zone_scheduler/program/nodes.hpp"

namespace zbs::zone_program {

void Nodes::use(const NodeDirectory& directory) {
    executor->use_directory([&directory](const std::string& machine) -> std::optional<node::KnownAgent> {
        const NodeRegistration* known = directory.find(machine);
        if (known == nullptr) return std::nullopt;
        return node::KnownAgent{known->url, known->description.step_folder, known->description.weights};
    });
}

std::optional<Nodes> make_nodes(Engine& engine, const ZoneSettings& settings, const StateFolder& state, Executor& local,
                                node::NodeExecutor::Post post, Log& log) {
    if (settings.zone.agents.empty()) return std::nullopt;
    ZoneSettings inside = settings;
    inside.allow_private_addresses = true;
    Nodes nodes{.client = make_client(engine, inside),
                .reader = std::make_unique<node::PieceReader>(post),
                .executor = nullptr};
    nodes.executor = std::make_unique<node::NodeExecutor>(
        node::NodeExecutorOptions{
            .machines = settings.zone.agents,
            .folder = state.path + "/results",
            .most_output_bytes = settings.zone.max_output_bytes == 0 ? UINT64_MAX : settings.zone.max_output_bytes,
            .read = [reader = nodes.reader.get()](node::FilePiece piece,
                                                  auto answer) { reader->read(std::move(piece), std::move(answer)); }},
        settings.zone.organisation, local, *nodes.client, std::move(post), engine.clock, log);
    return nodes;
}

}  // namespace zbs::zone_program

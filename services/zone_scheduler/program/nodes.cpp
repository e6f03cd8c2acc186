#include "services/zone_scheduler/program/nodes.hpp"

#include <utility>

namespace zbs::zone_program {

void Nodes::use(const NodeDirectory& directory) {
    executor->use_directory([&directory](const MachineName& machine) -> std::optional<node::KnownAgent> {
        const NodeRegistration* known = directory.find(machine);
        if (known == nullptr) return std::nullopt;
        return node::KnownAgent{known->url, known->description.step_folder, known->description.weights};
    });
}

NodeLinkSensor::Ask Nodes::probe(const OrganisationName& organisation, node::NodeExecutor::Post post) const {
    return [client = client.get(), organisation, post = std::move(post)](
               const NodeLinkSensor::Agent& from, const ProbeRequest& to,
               std::function<void(Result<ProbeReport>)> respond) {
        const Caller who{CallerKind::kNode, organisation, from.name};
        http::NodeClient(*client, {from.url, who}, post).probe(to, std::move(respond));
    };
}

std::optional<Nodes> make_nodes(ServiceHost& host, const ZoneSettings& settings, const StateFolder& state,
                                const Storage& storage, node::NodeExecutor::Post post,
                                std::function<void(const Error&)> lost, Log& log) {
    if (settings.zone.agents.empty()) return std::nullopt;
    ZoneSettings inside = settings;
    inside.allow_private_addresses = true;
    Nodes nodes{.caller = make_client(host, inside),
                .client = nullptr,
                .reader = std::make_unique<node::PieceReader>(post),
                .executor = nullptr};
    nodes.client =
        std::make_unique<LeasedClient>(*nodes.caller, *storage.database.journal, storage.turn, std::move(lost));
    nodes.executor = std::make_unique<node::NodeExecutor>(
        node::NodeExecutorOptions{
            .machines = settings.zone.agents,
            .folder = state.path + "/results",
            .most_output_bytes = settings.zone.max_output_bytes == 0 ? UINT64_MAX : settings.zone.max_output_bytes,
            .read = [reader = nodes.reader.get()](node::FilePiece piece,
                                                  auto answer) { reader->read(std::move(piece), std::move(answer)); }},
        settings.zone.organisation, *storage.executor, *nodes.client, std::move(post), host.clock, log);
    return nodes;
}

}  // namespace zbs::zone_program

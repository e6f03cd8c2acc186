#include "client/api/zone_view.hpp"

#include "services/common/codec/json/reply_view.hpp"

namespace zbs::client {
namespace {

using codec::Json;
using codec::ReplyView;

std::optional<SeriesView> series_in(const ReplyView& view, const char* key) {
    if (!view.has(key)) return std::nullopt;
    const ReplyView series = view.object(key);
    SeriesView read{.next = series.number("next"), .error = std::nullopt, .values = {}};
    if (series.has("error")) read.error = series.number("error");
    for (const Json& value : series.array("values"))
        if (value.is_number()) read.values.push_back(value.get<double>());
    return read;
}

LinkEstimate estimate_in(const ReplyView& view) {
    const ReplyView link = view.object("link");
    return {link.number("delay_s"), link.number("bandwidth_Bps")};
}

MeasuredLink measured_in(const Json& item) {
    const ReplyView view(item);
    MeasuredLink link{series_in(view, "delay"), series_in(view, "bandwidth"), std::nullopt, std::nullopt, item};
    if (view.has("failures")) link.failures = view.integer("failures");
    if (view.has("measured_us")) link.measured = time_from_microseconds(view.integer("measured_us"));
    return link;
}

/// Adds what the agent sent to the machine.
void add_agent(MachineView& machine, const ReplyView& agent) {
    const ReplyView described = agent.object("description");
    machine.agent = {static_cast<int>(described.integer("cores")), described.integer("memory_bytes"),
                     series_in(agent, "available")};
    machine.item["cores"] = machine.agent->cores;
    machine.item["memory_bytes"] = machine.agent->memory_bytes;
    if (agent.has("available")) machine.item["availability"] = agent.any("available");
}

}  // namespace

NodesView decode_nodes_view(const Json& answer) {
    const ReplyView all(answer);
    NodesView view{all.text("zone"), all.text("organisation"), all.text("sharing"), all.texts("categories"), {}};
    std::map<std::string, ReplyView> agents;
    for (const Json& agent : all.array("agents"))
        agents.emplace(ReplyView(agent).object("description").text("name"), ReplyView(agent));
    for (const Json& item : all.array("nodes")) {
        if (!item.is_object()) continue;
        const ReplyView row(item);
        MachineView machine{row.text("name"),
                            static_cast<int>(row.integer("processors")),
                            static_cast<int>(row.integer("used")),
                            row.any("speed"),
                            std::nullopt,
                            item};
        if (const auto agent = agents.find(machine.name); agent != agents.end()) add_agent(machine, agent->second);
        view.machines.push_back(std::move(machine));
    }
    return view;
}

LinksView decode_links_view(const Json& answer) {
    const ReplyView all(answer), machines = all.object("machines");
    LinksView view{{}, machines.text("source"), estimate_in(machines), machines.integer("pairs"), {}};
    for (const Json& item : all.array("links")) {
        const ReplyView row(item);
        view.zones.push_back({measured_in(item), row.text("zone"), row.text("source"), estimate_in(row)});
    }
    for (const Json& item : machines.array("worst")) {
        const ReplyView row(item);
        view.worst.push_back({measured_in(item), row.text("from"), row.text("to")});
    }
    return view;
}

CountsView decode_counts_view(const Json& answer) {
    const ReplyView all(answer);
    CountsView view{{}, time_from_microseconds(all.integer("ended_since_us")), answer};
    const Json& counts = all.any("counts");
    if (!counts.is_object()) return view;
    for (const auto& [state, count] : counts.items())
        if (count.is_number_unsigned()) view.of_state.emplace(state, count.get<std::uint64_t>());
    return view;
}

SelfView decode_self_view(const Json& answer) {
    const ReplyView self(answer);
    return {self.text("name"),       self.text("zone"),         self.texts("groups"),
            self.boolean("limited"), self.boolean("via_proxy"), answer};
}

std::string decode_contract_version(const Json& contract) { return ReplyView(contract).object("info").text("version"); }

bool is_usable(const codec::PeerView& zone) { return zone.outbound == to_string(PeeringState::kAccepted); }

Json encode_home_zone(const NodesView& home, const std::string& url, const std::string& state) {
    int processors = 0, used = 0;
    for (const MachineView& machine : home.machines) {
        processors += machine.processors;
        used += machine.used;
    }
    return {{"zone", home.zone},
            {"organisation", home.organisation},
            {"processors", processors},
            {"used", used},
            {"url", url},
            {"categories", home.categories},
            {"usable", true},
            {"condition", {{"state", state}, {"age_s", 0.0}}}};
}

Json encode_other_zone(const codec::PeerView& zone) {
    return {{"zone", zone.zone},
            {"organisation", zone.organisation},
            {"url", zone.url},
            {"categories", zone.categories},
            {"usable", is_usable(zone)},
            {"reason", zone.reason},
            {"condition", ReplyView(zone.item).has("condition") ? zone.item["condition"] : Json::object()},
            {"outbound", zone.outbound},
            {"inbound", zone.inbound}};
}

Json encode_top(const Json& zone, const CountsView& counts, const Json& applications, bool is_truncated) {
    Json document = {{"zone", zone}, {"applications", applications}};
    if (counts.item.is_object()) document.update(counts.item);
    if (is_truncated) document["truncated"] = true;
    return document;
}

Json with_end(const SelfView& self, std::optional<Time> not_after) {
    Json item = self.item;
    if (not_after) item["not_after_us"] = to_microseconds(*not_after);
    return item;
}

Json encode_id(const std::string& id) { return {{"id", id}}; }

}  // namespace zbs::client

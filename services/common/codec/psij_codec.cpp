#include "services/common/codec/psij_codec.hpp"

#include <chrono>

#include "algorithms/base/utf8.hpp"

namespace zbs::codec {
namespace {

Result<void> check_text(const formats::LaunchRequest& request) {
    Result<void> ok;
    const auto check = [&](const std::string& text, const std::string& at) {
        if (ok.has_value() && !is_utf8(text)) ok = invalid("JSON holds UTF-8 only", at);
    };
    check(request.name, "/name");
    check(request.executable, "/executable");
    check(request.directory, "/directory");
    for (std::size_t i = 0; i < request.arguments.size(); ++i)
        check(request.arguments[i], "/arguments/" + std::to_string(i));
    for (std::size_t i = 0; i < request.environment.size(); ++i) {
        check(request.environment[i].first, "/environment/" + std::to_string(i));
        check(request.environment[i].second, "/environment/" + std::to_string(i));
    }
    for (std::size_t z = 0; z < request.zones.size(); ++z)
        check(request.zones[z].name, "/zones/" + std::to_string(z) + "/name");
    return ok;
}

Result<void> check(const formats::LaunchRequest& request) {
    if (auto ok = formats::check_zones(request); !ok) return ok;
    if (auto ok = formats::check_program(request); !ok) return ok;
    return check_text(request);
}

Json spec_of(const formats::LaunchRequest& request, std::size_t index) {
    const formats::LaunchZone& zone = request.zones[index];
    const auto hosts = formats::ranks_by_host(zone);
    Json resources = {{"__version", 1}, {"process_count", zone.ranks.size()}};
    if (formats::is_even(hosts)) {
        resources["node_count"] = hosts.size();
        resources["processes_per_node"] = hosts.front().second;
    }
    Json attributes = {{"custom_attributes",
                        {{"zbs.zone", zone.name},
                         {"zbs.zone_index", std::to_string(index)},
                         {"zbs.zone_count", std::to_string(request.zones.size())},
                         {"zbs.ranks", formats::rank_list(zone)}}}};
    if (request.walltime > Duration::zero()) {
        attributes["duration"] =
            std::to_string(std::chrono::ceil<std::chrono::seconds>(request.walltime).count()) + " s";
    }
    Json spec = {{"executable", request.executable},
                 {"arguments", request.arguments},
                 {"launcher", "mpirun"},
                 {"resources", std::move(resources)},
                 {"attributes", std::move(attributes)}};
    if (!request.name.empty()) spec["name"] = request.name;
    if (!request.directory.empty()) spec["directory"] = request.directory;
    if (!request.environment.empty()) {
        spec["environment"] = Json::object();
        for (const auto& [name, value] : request.environment) spec["environment"][name] = value;
    }
    return spec;
}

}  // namespace

Result<Json> encode_psij(const formats::LaunchRequest& request, std::size_t zone) {
    if (auto ok = check(request); !ok) return ok.error();
    return spec_of(request, zone);
}

Result<Json> encode_psij(const formats::LaunchRequest& request) {
    if (auto ok = check(request); !ok) return ok.error();
    Json specs = Json::array();
    for (std::size_t zone = 0; zone < request.zones.size(); ++zone) specs.push_back(spec_of(request, zone));
    return specs;
}

}  // namespace zbs::codec

#include <algorithm>
#include <set>

#include "algorithms/formats/launchers/hostfile.hpp"
#include "algorithms/formats/launchers/rsl.hpp"
#include "services/zone_scheduler/http/zone_codec.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"

namespace zbs {
namespace {

using codec::RankRow;

std::vector<RankRow> rows_of(const Application& application) {
    std::vector<RankRow> rows;
    for (const ApplicationPart& part : application.status.parts) {
        for (const RankPlace& place : part.status.assignment) rows.push_back({part.zone, place});
    }
    std::sort(rows.begin(), rows.end(), [](const RankRow& a, const RankRow& b) { return a.place.rank < b.place.rank; });
    return rows;
}

std::string contact_of(const ZoneName& zone, const ZoneServices& services) {
    std::string url = services.config.url;
    for (const Peer& peer : services.peers.peers()) {
        if (peer.zone == zone) url = peer.url;
    }
    const std::size_t scheme = url.find("://");
    return (scheme == std::string::npos ? url : url.substr(scheme + 3)) + "/zbs-" + zone;
}

/// RSL fixes counts per site, so ranks are renumbered zone by zone; the permutation goes with it (json format).
Result<std::string> rsl_of(const Application& application, const ZoneServices& services) {
    formats::RslRequest request;
    for (const ApplicationPart& part : application.status.parts) {
        std::set<MachineName> machines;
        for (const RankPlace& place : part.status.assignment) machines.insert(place.machine);
        formats::RslSubjob subjob;
        subjob.contact = contact_of(part.zone, services);
        subjob.label = "subjob " + std::to_string(request.subjobs.size());
        subjob.count = static_cast<int>(part.ranks.size());
        subjob.host_count = static_cast<int>(machines.size());
        subjob.lan_id = part.zone;
        subjob.directory = application.request.directory;
        subjob.executable = application.request.argv[0];
        subjob.arguments.assign(application.request.argv.begin() + 1, application.request.argv.end());
        subjob.walltime = application.request.walltime;
        request.subjobs.push_back(std::move(subjob));
    }
    return formats::write_rsl(request);
}

}  // namespace

http::Reply assignment_reply(const Application& application, const ZoneServices& services, const std::string& format) {
    if (format != "json" && format != "rsl" && format != "hostfile")
        return http::problem(invalid("must be one of json, rsl, hostfile", "format"));
    const std::vector<RankRow> rows = rows_of(application);
    if (rows.size() != static_cast<std::size_t>(application.request.ranks)) {
        return http::problem({ErrorCode::kConflict,
                              "application " + to_string(application.request.id) + " is " +
                                  to_string(application.status.state) + " and has no assignment",
                              {}});
    }
    if (format == "json") {
        std::vector<TaskIndex> rsl_order;
        for (const ApplicationPart& part : application.status.parts)
            rsl_order.insert(rsl_order.end(), part.ranks.begin(), part.ranks.end());
        return http::ok(codec::encode_assignment(application.request.id, rows, rsl_order));
    }
    Result<std::string> text = Error{};
    if (format == "rsl") {
        text = rsl_of(application, services);
    } else {
        std::vector<std::string> hosts;
        for (const RankRow& row : rows) hosts.push_back(row.zone + "." + row.place.machine);
        text = formats::write_hydra_hostfile(hosts);
    }
    if (!text)
        return http::problem(
            {ErrorCode::kConflict, "the assignment cannot be written as " + format + ": " + text.error().message, {}});
    return {200, "text/plain; charset=utf-8", *std::move(text), {}};
}

}  // namespace zbs

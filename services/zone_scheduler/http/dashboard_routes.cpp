// The zone's pages: files of the dashboard, and how the zone is, for whoever comes without scripts or without a name.
#include <algorithm>

#include "algorithms/formats/svg.hpp"
#include "services/common/http/reply.hpp"
#include "services/zone_scheduler/dashboard/bundle.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"

namespace zbs {
namespace {

using http::Body;
using http::Reply;
using http::Request;

/// What anybody may know: name, organisation, version, whether it takes work; figures only where all figures are
/// public.
std::string status_text(const ZoneServices& services) {
    const ZoneConfig& config = services.config;
    std::string text = "<h1>ZBS zone " + formats::xml_escaped(config.zone.name) + "</h1>\n";
    const auto line = [&text](std::string_view name, const std::string& value) {
        text.append("<p>").append(name).append(": ").append(formats::xml_escaped(value)).append("</p>\n");
    };
    line("Organisation", config.organisation);
    line("Version", ZBS_VERSION);
    line("State", services.registry.draining() ? "drains: takes no new work"
                  : services.serves            ? "takes work"
                                               : "starts or ends");
    if (config.public_metrics) {
        int processors = 0, used = 0;
        std::size_t parts = 0;
        for (const PartTable* table : services.parts.tables()) parts += table->all().size();
        for (const ProcessorLedger::NodeView& node : services.parts.nodes()) {
            processors += node.machine.processors;
            used += node.used;
        }
        line("Processors in use", std::to_string(used) + " of " + std::to_string(processors));
        line("Parts held or running", std::to_string(parts));
    }
    return text;
}

Reply page_reply(const ZoneServices& services) {
    std::string page(dashboard::page());
    if (const std::size_t at = page.find(dashboard::kStatusMark); at != std::string::npos)
        page.replace(at, dashboard::kStatusMark.size(), status_text(services));
    return {200, "text/html; charset=utf-8", std::move(page), http::page_headers()};
}

Reply file_reply(const std::string& name) {
    const auto files = dashboard::files();
    const auto file = std::ranges::find(files, std::string_view(name), &dashboard::File::name);
    if (file == files.end()) return http::problem({ErrorCode::kNotFound, "the dashboard has no such file", {}});
    Reply reply{200, std::string(file->content_type), std::string(file->bytes), http::page_headers()};
    reply.headers.emplace_back("Cache-Control", http::kForever);
    return reply;
}

}  // namespace

void add_dashboard_routes(http::Router& router, ZoneServices& services) {
    router.add_sync("GET", "/", Action::kGetDashboard, Body::kNone,
                    [&services](const Request&) { return page_reply(services); });
    router.add_sync("GET", "/assets/{name}", Action::kGetDashboardAsset, Body::kNone,
                    [](const Request& request) { return file_reply(request.call.parameters.at("name")); });
}

}  // namespace zbs

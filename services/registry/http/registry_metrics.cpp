#include "services/registry/http/registry_metrics.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace zbs {

RegistryMetrics::RegistryMetrics(const RegistryConfig& config, const Clock& clock, RegistryResources resources)
    : clock_(clock),
      resources_(std::move(resources)),
      requests_(all_.counter(
          {"zbs_registry_requests", "Calls to this registry that were answered.", "", {"operation", "code"}, 512})),
      zones_(all_.gauge({"zbs_registry_zones",
                         "Enrolled zones: in the list now (live), or without a lease (silent).",
                         "",
                         {"state"}})),
      organisations_(all_.gauge({"zbs_registry_organisations", "Organisations whose bundles are kept."})),
      store_bytes_(all_.gauge({"zbs_registry_store_bytes", "Size of the database's files.", "bytes"})),
      certificate_left_(all_.gauge(
          {"zbs_registry_certificate_left_seconds", "Until the end of this registry's own certificate.", "seconds"})) {
    all_.info("zbs_registry_build", "The program, and whose registry it is.",
              {{"version", ZBS_VERSION}, {"registry", config.name}, {"organisation", config.organisation}});
    all_.gauge({"process_start_time_seconds", "Start of the process, since 1970.", "seconds"})
        .at()
        .set(static_cast<double>(to_microseconds(clock.now())) / 1e6);
}

void RegistryMetrics::answered(Action action, int status) {
    requests_.at({std::string(to_string(action)), std::to_string(status)}).add();
}

std::string RegistryMetrics::text(metrics::TextFormat format, const Registry& registry) {
    const std::vector<Registry::Enrolment> zones = registry.enrolments();
    const auto live = std::ranges::count_if(zones, &Registry::Enrolment::live);
    zones_.at({"live"}).set(static_cast<double>(live));
    zones_.at({"silent"}).set(static_cast<double>(std::ssize(zones) - live));
    organisations_.at().set(static_cast<double>(registry.organisations().size()));
    if (resources_.store_bytes) store_bytes_.at().set(static_cast<double>(resources_.store_bytes()));
    if (resources_.certificate_until)
        certificate_left_.at().set(to_seconds(resources_.certificate_until() - clock_.now()));
    return all_.text(format);
}

}  // namespace zbs

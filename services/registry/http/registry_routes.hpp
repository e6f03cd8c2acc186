#pragma once
#include <functional>
#include <optional>
#include <string>

#include "services/common/http/decision_log.hpp"
#include "services/common/http/router.hpp"
#include "services/common/metrics/metrics.hpp"
#include "services/registry/domain/registry.hpp"

namespace zbs {

/// What the registry's handlers call. All of it lives on the domain's strand, and so do the handlers.
struct RegistryServices {
    const RegistryConfig& config;
    Registry& registry;
    const TrustBundles& trust;
    AuditLog& audit;
    std::string contract{};  ///< text of the OpenAPI document, schemas/openapi/registry
    std::function<std::string(metrics::TextFormat)> metrics_text{};
    bool has_public_metrics = false;  ///< anybody who reaches the registry may read its figures
};

/// Routes of schemas/openapi/registry. `services` must outlive the router.
http::Router make_registry_routes(RegistryServices& services, http::RouterHooks hooks);

/// What every call passes before a handler sees it. Errors as `authorise` says; kUnavailable where it cannot be put on
/// record.
Result<void> check_registry_call(const RegistryServices& services, http::DecisionLog& decisions, Action action,
                                 const http::Call& call);

/// What was taken out by the call that an entry of the audit log is about; none where it allowed no removal. The
/// registry's own organisation, whose removal is always refused, is none either.
std::optional<RemovedFromRegistry> removal_of(const AuditEntry& entry, const OrganisationName& own_organisation);

}  // namespace zbs

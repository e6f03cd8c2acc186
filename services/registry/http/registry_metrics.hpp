#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "services/common/authorisation/action.hpp"
#include "services/common/metrics/metrics.hpp"
#include "services/common/ports/clock.hpp"
#include "services/registry/domain/registry.hpp"

namespace zbs {

/// What the program around a registry knows of its resources, where it does.
struct RegistryResources {
    std::function<std::uint64_t()> store_bytes;  ///< size of the database's files
    std::function<Time()> certificate_until;     ///< end of the own certificate
};

/// The registry's figures. Calls are counted as they are answered; what is, is read when somebody asks. Lives on the
/// domain's strand, and begins anew with the process, as readers of such figures expect.
class RegistryMetrics {
  public:
    /// `config` and `clock` must outlive this.
    RegistryMetrics(const RegistryConfig& config, const Clock& clock, RegistryResources resources);

    /// A call was answered.
    void answered(Action action, int status);
    /// All of it. Cost: the enrolled zones, and the length of the text.
    std::string text(metrics::TextFormat format, const Registry& registry);

  private:
    const Clock& clock_;
    RegistryResources resources_;
    metrics::Registry all_;
    metrics::Family<metrics::Counter>& requests_;
    metrics::Family<metrics::Gauge>& zones_;
    metrics::Family<metrics::Gauge>& organisations_;
    metrics::Family<metrics::Gauge>& store_bytes_;
    metrics::Family<metrics::Gauge>& certificate_left_;
};

}  // namespace zbs

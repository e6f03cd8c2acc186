#pragma once
#include <cstddef>

#include "services/common/messages/registry.hpp"
#include "services/common/ports/transport/respond.hpp"

namespace zbs {

enum class ProbeSize { kSmall, kLarge };

/// Measures the way to another zone. Deadline and errors: as of `ZoneTransport`.
class ProbeTransport {
  public:
    virtual ~ProbeTransport() = default;

    /// Fetches something short, or of some hundred KiB, and gives its size in bytes: to measure the way there.
    virtual void probe(const ServiceAddress& to, ProbeSize size, Respond<std::size_t> respond) = 0;
};

}  // namespace zbs

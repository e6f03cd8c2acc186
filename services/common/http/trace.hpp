#pragma once
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "algorithms/base/ids.hpp"
#include "services/common/ports/trace_context.hpp"

namespace zbs::http {

/// Of the header `traceparent` (W3C Trace Context, level 1): none where it is not well-formed.
TraceContext read_traceparent(std::string_view header);
/// The header of a call that belongs to `trace`, with a fresh id of that call.
std::string traceparent_of(const TraceContext& trace);

/// Which trace an application's submission belonged to, so that later calls about it carry it on. Remembers the newest
/// `kMax`, and those only while the process lives. For one strand.
class TraceBook {
  public:
    static constexpr std::size_t kMax = 10'000;

    /// The first trace of an application counts. Nothing where `trace` is none.
    void record(const ApplicationId& application, const TraceContext& trace);
    void record(const PartId& part, const ApplicationId& application);
    /// None where nothing is known.
    TraceContext of(const ApplicationId& application) const;
    TraceContext of(const PartId& part) const;

  private:
    std::map<ApplicationId, TraceContext> traces_;
    std::deque<ApplicationId> oldest_;
    std::map<PartId, ApplicationId> parts_;
    std::deque<PartId> oldest_parts_;
};

}  // namespace zbs::http

#pragma once
#include <functional>
#include <memory>

#include "services/zone_scheduler/home/application_ports.hpp"
#include "services/zone_scheduler/home/start_choice.hpp"

namespace zbs {

/// Makes plans: at once where that is quick, else in the background. There a plan has `kWithin`; what takes longer to
/// map goes in blocks.
class PlanMaker {
  public:
    static constexpr Duration kWithin = std::chrono::seconds{10};
    using Respond = std::function<void(Result<StartChoice>)>;
    /// A plan that is being made.
    struct InMaking;

    /// The ports must outlive it.
    explicit PlanMaker(const ApplicationPorts& ports) : ports_(ports) {}

    Result<StartChoice> make_now(const ApplicationRequest& request, const ProfileLibrary::Choice& model,
                                 const StartOutline& start) const;
    /// Calls `respond` once, never from inside this call.
    std::shared_ptr<InMaking> begin(const ApplicationRequest& request, const ProfileLibrary::Choice& model,
                                    StartOutline start, Respond respond);
    /// One of both. Calls `respond` once; from inside this call where the plan is quick.
    void make(const ApplicationRequest& request, const ProfileLibrary::Choice& model, StartOutline start,
              Respond respond);
    /// Its `respond` is called with an error, unless it was called before; not from inside this call.
    void drop(const std::shared_ptr<InMaking>& plan);

  private:
    const ApplicationPorts& ports_;
};

}  // namespace zbs

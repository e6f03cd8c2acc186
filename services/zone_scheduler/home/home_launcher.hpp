#pragma once
#include "services/zone_scheduler/home/application.hpp"
#include "services/zone_scheduler/home/application_ports.hpp"

namespace zbs {

/// The MPI launcher of an application, a process at home. What comes of it becomes an event.
class HomeLauncher {
  public:
    HomeLauncher(const ApplicationPorts& ports, ApplyInput apply) : ports_(ports), apply_(std::move(apply)) {}

    void start(const std::shared_ptr<ApplicationRun>& run);
    void check(const std::shared_ptr<ApplicationRun>& run);
    void remove(const std::shared_ptr<ApplicationRun>& run);

  private:
    std::string why_it_ended(const StepId& step) const;

    const ApplicationPorts& ports_;
    const ApplyInput apply_;
};

}  // namespace zbs

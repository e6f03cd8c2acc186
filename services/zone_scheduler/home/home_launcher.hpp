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
    /// Every `poll_every`, until it has ended.
    void watch(const std::shared_ptr<ApplicationRun>& run);
    void await_end(const std::shared_ptr<ApplicationRun>& run, const effect::AwaitLauncher& end);
    void measure_output(const std::shared_ptr<ApplicationRun>& run);
    void find_end(const std::shared_ptr<ApplicationRun>& run, const EndedByHome& by_home);

  private:
    std::string why_it_ended(const StepId& step) const;

    const ApplicationPorts& ports_;
    const ApplyInput apply_;
};

}  // namespace zbs

#pragma once
#include "services/zone_scheduler/home/application.hpp"
#include "services/zone_scheduler/home/application_ports.hpp"

namespace zbs {

/// The MPI launcher of an application, a process at home. What comes of it becomes an event.
class HomeLauncher {
  public:
    HomeLauncher(const ApplicationPorts& ports, ApplyInput apply) : ports_(ports), apply_(std::move(apply)) {}

    using Run = std::shared_ptr<ApplicationRun>;
    void perform(const Run& run, const effect::StartLauncher&);
    void perform(const Run& run, const effect::CheckLauncher& check);
    void perform(const Run& run, const effect::StopLauncher& stop);
    void perform(const Run& run, const effect::RemoveLauncher&);
    /// Every `poll_every`, until it has ended.
    void perform(const Run& run, const effect::Watch&);
    void perform(const Run& run, const effect::AwaitLauncher& end);
    void perform(const Run& run, const effect::MeasureOutput&);
    void perform(const Run& run, const effect::FindEnd& find);

  private:
    std::string why_it_ended(const StepId& step) const;

    const ApplicationPorts& ports_;
    const ApplyInput apply_;
};

}  // namespace zbs

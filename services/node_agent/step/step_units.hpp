#pragma once
#include <sys/types.h>

#include <chrono>
#include <list>
#include <string>
#include <vector>

#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/common/adapters/process/start/starter_message.hpp"

namespace zbs::step {

/// Sends the caller the result of its request for a step; a refusal goes to the log, too.
void answer(const Descriptor& caller, const process::StarterReply& reply);

/// Steps that the service manager begins, each as a unit of its own: so the starter needs no right that a job has, and
/// what is forbidden to it is not forbidden to jobs. `program` of systemd (systemd-run) asks for a unit, which runs
/// `zbs-step attend`; that comes to this process for its descriptors, and then is the supervisor.
class StepUnits {
  public:
    /// A request that was accepted, by its caller's connection; all descriptors of starter_message.hpp.
    struct Request {
        Descriptor caller;
        std::vector<Descriptor> given;
        std::vector<std::string> arguments;
    };

    /// `unit_maker` is the absolute path of systemd-run, `step` of zbs-step; attendants come to `socket`.
    StepUnits(std::string unit_maker, std::string step, std::string socket)
        : unit_maker_(std::move(unit_maker)), step_(std::move(step)), socket_(std::move(socket)) {}

    /// Asks for its unit; the caller hears of it later, or now where that cannot be.
    void begin(Request request);
    /// The process `who` is there for a request and says `text`: it gets the descriptors, and the caller its number.
    void attend(int connection, pid_t who, const std::string& text);
    /// A child of this process has ended. Where it was to ask for a unit and could not, the caller hears why.
    void record_ended(pid_t child, int status);
    /// Gives up what nobody has come for.
    void give_up_late();
    /// When to do so next; time_point::max() where nobody is waited for.
    std::chrono::steady_clock::time_point next() const;
    bool empty() const { return begun_.empty(); }

  private:
    struct Begun {
        Request request;
        std::string number, unit;
        pid_t maker = 0;                       ///< the process that asks for the unit; 0: it has ended
        Descriptor complaints = Descriptor();  ///< what that says
        std::chrono::steady_clock::time_point until;
    };
    /// Error number.
    int run_maker(Begun& begun) const;

    std::string unit_maker_, step_, socket_;
    std::list<Begun> begun_;  ///< oldest first
};

}  // namespace zbs::step

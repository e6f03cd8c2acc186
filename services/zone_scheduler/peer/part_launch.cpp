// What becomes of a hold: commit and launch.
#include "services/zone_scheduler/launch/launchers.hpp"
#include "services/zone_scheduler/launch/mpich.hpp"
#include "services/zone_scheduler/peer/part_service.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {

Result<PartStatus> PartService::commit(const Caller& caller, const PartId& id, std::uint64_t token) {
    const Result<Shared> found = find_to_change(caller, id, token);
    if (!found) return found.error();
    const Shared& part = *found;
    end_if_lost(part);
    if (allocations_.is_asked(id) && std::holds_alternative<part::Held>(part->phase))
        return Error{ErrorCode::kUnavailable, "part " + to_string(id) + " is not held yet; ask again", {}};
    if (is_final(part->record.status.state))
        return Error{
            ErrorCode::kConflict,
            "part " + to_string(id) + " is " + to_string(part->record.status.state) + ": " + view(*part).reason,
            {}};
    if (auto ok = apply(part, part::Commit{}); !ok) return redact_for(caller, ok.error());
    return view(*part);
}

Result<PartStatus> PartService::launch(const Caller& caller, const PartId& id, const LaunchRequest& request) {
    const Result<Shared> known = find(caller, id);
    if (!known) return known.error();
    const PartStatus& status = (*known)->record.status;
    // Steps are named after it: under another name a peer could reach the processes of somebody else's part.
    if (status.token == request.token && request.operation != launch_operation(id))
        return invalid("must be " + launch_operation(id), "/operation");
    if (status.token == request.token && (*known)->record.operation == request.operation)
        return view(**known);  // asked again: nothing starts twice
    const Result<Shared> found = find_to_change(caller, id, request.token);
    if (!found) return found.error();
    const Shared& part = *found;
    if (auto may = part::check_launch(*part, now()); !may) return may.error();
    if (!is_ready(*part)) {
        return Error{
            ErrorCode::kUnavailable,
            "the processors of part " + to_string(id) +
                " are not free yet: what ran there has not ended, or the machine is not there; ask again or plan anew",
            {}};
    }
    if (auto staged = staging_.check_staged(part->record); !staged) return staged.error();
    if (auto good = check_launcher(caller, request); !good) return good.error();
    Result<std::vector<MachineName>> machines = runner_.machines_of(part->record, view(*part).assignment, request);
    if (!machines) return machines.error();

    if (auto ok = ports_.filter.record_run(part->record.account); !ok) return redact_for(caller, ok.error());
    if (auto ok = apply(part, part::Launch{request, *std::move(machines)}); !ok) return redact_for(caller, ok.error());
    watch();
    const bool has_failed =
        part->record.status.state == PartState::kFailed || (part::stop_of(*part) && part::stop_of(*part)->not_started);
    return has_failed ? view_failed_launch(*part) : view(*part);
}

void PartService::start_steps(const Shared& part, const LaunchRequest& request) {
    const PartId id = part->record.request.id;
    if (auto started = runner_.start(part->record, request); !started) {
        const std::string reason =
            "zone " + config_.zone.name + " could not start its part: " + started.error().message;
        log_.warn("launch_failed", {{"part", to_string(id)}, {"reason", reason}});
        return try_apply(part, part::StartFailed{reason});
    }
    ports_.executor.end_staging(to_string(id));  // each step has asked in its own name
    sharing_.note_change();
    sharing_.send();
    log_.info("part_launched", {{"part", to_string(id)},
                                {"operation", request.operation},
                                {"proxies", std::to_string(request.proxies.size())}});
}

/// Failed, although the state is final only once what had started is gone.
PartStatus PartService::view_failed_launch(const part::State& part) const {
    PartStatus failed = view(part);
    failed.state = PartState::kFailed;
    const bool is_own = part.record.home_caller.organisation == config_.organisation;
    return is_own ? failed : outside_view(std::move(failed), false);
}

/// Whether this caller may have proxies that do what the request says.
Result<void> PartService::check_launcher(const Caller& caller, const LaunchRequest& request) {
    if (is_srun(request.launcher) != request.program.has_value())
        return invalid("must be there for srun, and for no other launcher", "/program");
    if (needs_own_zone(request.launcher)) {
        if (caller != config_.self())
            return Error{ErrorCode::kDenied,
                         std::string("launcher ") + to_string(request.launcher) + " is for a zone's own users only",
                         "/launcher"};
        if (const std::string why = why_no_launcher(config_, request.launcher); !why.empty())
            return Error{ErrorCode::kRejected, why, "/launcher"};
        return {};
    }
    const Result<std::string> launcher = mpich::coordinator_host(request.options);
    if (!launcher) return Error{ErrorCode::kInvalidArgument, launcher.error().message, "/options"};
    if (caller.organisation == config_.organisation) return {};
    if (auto good = ports_.check_address(*launcher); !good) {
        ports_.peerings.record(caller.organisation, TrustEvent::kFailedCheck);
        return Error{ErrorCode::kDenied, "proxies here may not connect to " + *launcher + ": " + good.error().message,
                     "/options"};
    }
    return {};
}

}  // namespace zbs

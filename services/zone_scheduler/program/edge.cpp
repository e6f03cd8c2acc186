#include "services/zone_scheduler/program/edge.hpp"

#include <boost/asio/dispatch.hpp>
#include <filesystem>
#include <utility>

#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/messages/names/host_name.hpp"

namespace zbs::zone_program {

Edge::Edge(ServiceHost& host, const ZoneSettings& settings, std::string local_token,
           std::function<http::Reply(const http::Call&)> standby)
    : door(host,
           {.address = settings.listen_address,
            .port = static_cast<unsigned short>(settings.listen_port),
            .setting = {"'listen'", "'listen'", settings.place_of("listen")},
            .rates = settings.rates,
            .local_token = std::move(local_token),
            .body_limit =
                [this](const http::Call& head) {
                    return serves_ ? zone_->body_limit(head) : std::nullopt;  // a standby reads none
                }},
           [this, &host](http::Call call, http::Respond respond) {
               // At once where nothing else is under way, without a change of threads.
               boost::asio::dispatch(host.strand, [this, came_early = !serves_, call = std::move(call),
                                                   respond = std::move(respond)]() mutable {
                   if (zone_ == nullptr || was_judged_early(came_early, call)) return respond(standby_(call));
                   zone_->serve(std::move(call), std::move(respond));
               });
           }),
      standby_(std::move(standby)) {}

Result<std::string> Edge::open(const ZoneSettings& settings, const StateFolder& state) {
    if (auto opened = door.open(); !opened) return opened.error();
    return (state.has_identity() ? "https://" : "http://") + HostPort{settings.advertised_host, door.port()}.text();
}

Result<void> Edge::announce(const ZoneSettings& settings, const StateFolder& state, const std::string& url) {
    if (!process::write_file(state.address(), url + "\n"))
        return Error{ErrorCode::kUnavailable, "cannot write the address of this zone", state.address()};
    const std::string home = state.operator_identity() + "/home";  // makes the folder credentials of `zbs`, too
    std::error_code fault;
    if (std::filesystem::exists(state.operator_identity(), fault) &&
        !process::write_file(home, url + " " + to_uri(settings.zone.self()) + "\n"))
        return Error{ErrorCode::kUnavailable, "cannot write where operators find this zone", home};
    return {};
}

}  // namespace zbs::zone_program

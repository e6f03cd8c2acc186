// `zbs dashboard`: the home zone's pages in a browser, which has no certificate of the user, by way of this machine.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <optional>
#include <random>

#include "client/api/zone_client.hpp"
#include "client/calls/dashboard_proxy.hpp"
#include "client/cli/context.hpp"
#include "services/common/adapters/beast/server.hpp"
#include "services/common/adapters/beast/service_loop.hpp"
#include "services/common/adapters/command_line/values.hpp"

namespace zbs::cli {
namespace {

constexpr int kThreads = 4;  ///< signing before a submission waits for the zone on one of them

/// 128 random bits as 32 hexadecimal digits.
std::string fresh_secret() {
    std::random_device random;
    char text[33];
    std::string secret;
    for (int i = 0; i < 4; ++i) {
        std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(random()));
        secret += text;
    }
    return secret;
}

/// A page in a file of our own that leads to `address`: on the command line of a browser every user of this machine
/// could read the secret. Gone with its owner.
class LeadingPage {
  public:
    explicit LeadingPage(const std::string& address) {
        const char* folder = std::getenv("XDG_RUNTIME_DIR");
        path_ = std::string(folder == nullptr || *folder == '\0' ? "/tmp" : folder) + "/zbs-dashboard-XXXXXX.html";
        const int file = mkstemps(path_.data(), 5);  // mode 0600
        if (file < 0) return;
        const std::string text =
            "<!doctype html><title>ZBS</title><meta http-equiv=\"refresh\" content=\"0;url=" + address +
            "\"><a href=\"" + address + "\">Go on</a>\n";
        good_ = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
        close(file);
    }
    ~LeadingPage() { unlink(path_.c_str()); }
    LeadingPage(const LeadingPage&) = delete;
    LeadingPage& operator=(const LeadingPage&) = delete;
    const std::string& path() const { return path_; }
    bool good() const { return good_; }

  private:
    std::string path_;
    bool good_ = false;
};

void open_browser(const LeadingPage& page) {
    if (page.good() && fork() == 0) {
        execlp("xdg-open", "xdg-open", page.path().c_str(), static_cast<char*>(nullptr));
        std::cerr << "zbs: there is no xdg-open here; open the address yourself\n";
        _exit(127);
    }
}

void serve_dashboard(Context& context, int port, bool open) {
    const auto zone = context.connect();
    if (!zone) return;
    if (const Result<codec::Json> there = zone->get("/v1/whoami"); !there) return context.fail(there.error());
    boost::asio::io_context io;
    std::unique_ptr<client::DashboardProxy> proxy;
    beast::Server server(
        io,
        {.port = static_cast<unsigned short>(port),
         .setting = {.port = "'--port'"},
         .max_connections = 64,
         .body_limit = [&proxy](const http::Call& head) { return proxy->body_limit(head); }},
        [&proxy](const http::Call& call, http::Respond respond) { proxy->serve(call, std::move(respond)); });
    if (const Result<void> started = server.start(); !started) return context.fail(started.error());
    proxy = std::make_unique<client::DashboardProxy>(zone->http(), zone->home(),
                                                     "127.0.0.1:" + std::to_string(server.port()), fresh_secret());
    std::mutex signing;  // the client is for one thread at a time
    proxy->before_submit([&zone, &signing](const ApplicationRequest& request) {
        const std::lock_guard lock(signing);
        const std::string id = to_string(request.id);
        return client::delegate(*zone, id, id, client::delegation_lifetime(request.walltime));
    });
    std::cout << proxy->address() << std::endl;
    std::cerr << "zbs: open this address in a browser of this machine; whoever has it acts as you until you stop this "
                 "command (Ctrl-C)\n";
    std::optional<LeadingPage> page;
    if (open) open_browser(page.emplace(proxy->address()));
    beast::run_until_signalled(io, kThreads, {.drain = [&server] { server.drain(); }});
}

}  // namespace

void add_dashboard_command(CLI::App& app, Context& context) {
    auto port = std::make_shared<int>(0);
    auto open = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand("dashboard",
                                           "the pages of your home zone in a browser of this machine, as you\n\n"
                                           "Example: zbs dashboard --open");
    command->add_option("--port", *port, "listen there on 127.0.0.1; 0: any free port")
        ->check(command_line::whole_number_in(0, 65'535))
        ->capture_default_str();
    command->add_flag("--open", *open, "open the browser, too");
    command->callback([&context, port, open] { serve_dashboard(context, *port, *open); });
}

}  // namespace zbs::cli

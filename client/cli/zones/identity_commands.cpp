#include <CLI/CLI.hpp>
#include <ctime>
#include <iostream>

#include "algorithms/base/text.hpp"
#include "client/api/zone_client.hpp"
#include "client/api/zone_view.hpp"
#include "client/cli/context.hpp"
#include "services/common/messages/names/join_token.hpp"

namespace zbs::cli {
namespace {

using codec::Json;

std::string date_of(Time at) {
    const std::time_t seconds = static_cast<std::time_t>(to_microseconds(at) / 1'000'000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
    return text;
}

void print_identity(const client::Credentials& own) {
    std::cerr << "you are " << to_uri(own.name()) << " at " << own.home().url << " (" << to_uri(own.home().who) << ")";
    if (own.not_after()) std::cerr << " until " << date_of(*own.not_after());
    std::cerr << "\n";
}

void login(Context& context, const std::string& code, bool renew) {
    if (code.empty() != renew) return context.fail(invalid("give either --code CODE, from your operator, or --renew"));
    Result<void> done;
    if (renew) {
        const auto own = client::Credentials::open(context.credentials);
        done = own ? own->renew() : Result<void>(own.error());
    } else {
        const Result<JoinToken> token = parse_join_token(code);
        done = token ? client::Credentials::log_in(context.credentials, *token) : Result<void>(token.error());
    }
    if (!done) return context.fail(done.error());
    const auto own = client::Credentials::open(context.credentials);
    if (!own) return context.fail(own.error());
    print_identity(*own);
}

void whoami(Context& context) {
    const auto zone = context.connect();
    if (!zone) return;
    const Result<Json> answer = zone->get("/v1/whoami");
    if (!answer) return context.fail(answer.error());
    const client::SelfView self = client::decode_self_view(*answer);
    const auto not_after = zone->credentials() != nullptr ? zone->credentials()->not_after() : std::nullopt;
    const std::string until = not_after ? date_of(*not_after) : "-";
    const Json item = client::with_end(self, not_after);
    if (context.output == "json") return print_document(context, item);
    const std::string how = self.is_limited                  ? "limited proxy"
                            : self.is_proxy                  ? "proxy"
                            : zone->credentials() == nullptr ? "local token"
                                                             : "certificate";
    Listing listing{"identities", {"YOU", "BY", "GROUPS", "HOME ZONE", "UNTIL"}, {}, Json::array({item})};
    listing.rows.push_back({self.name, how, self.groups.empty() ? "-" : joined(self.groups, ","), self.zone, until});
    print(context, listing);
}

/// The id of a delegation.
void print_delegation(const Context& context, const std::string& id) {
    if (context.for_people())
        std::cout << id << "\n";
    else
        print_document(context, client::encode_id(id));
}

/// Lets the home zone make proxies for the user's applications by itself, for a while.
void delegate_renewal(Context& context, const std::string& life) {
    const Result<Duration> lifetime = parse_duration(life);
    if (!lifetime) return context.fail(invalid(lifetime.error().message, "--for"));
    const auto zone = context.connect();
    if (!zone) return;
    if (zone->credentials() == nullptr)
        return context.fail(invalid("without TLS there is nothing to delegate; log in with 'zbs login'"));
    const Result<Id128> fresh = context.fresh_id(*zone);
    if (!fresh) return context.fail(fresh.error());
    const std::string id = to_string(*fresh);
    if (auto handed = client::delegate(*zone, id, {}, *lifetime); !handed) return context.fail(handed.error());
    print_delegation(context, id);
    std::cerr << "your home zone may renew the delegations of your applications for " << life
              << "; take it back with 'zbs delegate --revoke " << id << "'\n";
}

void revoke_delegation(Context& context, const std::string& id) {
    if (!parse_id128(id)) return context.fail(invalid("must be an id of 26 characters", "--revoke"));
    const auto zone = context.connect();
    if (!zone) return;
    const Result<Json> gone = zone->call("DELETE", "/v1/delegations/" + id);
    if (!gone) return context.fail(gone.error());
    print_delegation(context, id);
}

}  // namespace

void add_identity_commands(CLI::App& app, Context& context) {
    auto code = std::make_shared<std::string>();
    auto renew = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand(
        "login",
        "get a certificate from your home zone; the key is made here and stays here\n\nExample: zbs login --code "
        "zbs-login-1+ana+...");
    command->add_option("--code", *code, "the one-time word from your operator ('zbs-zone user add NAME')");
    command->add_flag("--renew", *renew,
                      "a fresh certificate for the one you have (commands do it by themselves in time)");
    command->callback([&context, code, renew] { login(context, *code, *renew); });
    auto life = std::make_shared<std::string>("24h");
    auto revoked = std::make_shared<std::string>();
    CLI::App* delegate = app.add_subcommand(
        "delegate",
        "let your home zone renew the delegations of your applications while they wait or run without you\n\nExample: "
        "zbs delegate --for 3d");
    delegate->add_option("--for", *life, "how long, at most 7d")->capture_default_str();
    delegate->add_option("--revoke", *revoked, "take one back, by its id");
    delegate->callback([&context, life, revoked] {
        if (!settle_document_output(context)) return;
        revoked->empty() ? delegate_renewal(context, *life) : revoke_delegation(context, *revoked);
    });
    app.add_subcommand("whoami", "who you are to your home zone, and how it knows\n\nExample: zbs whoami")
        ->callback([&context] { whoami(context); });
}

}  // namespace zbs::cli

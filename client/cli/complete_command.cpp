// zbs complete KIND [LINE]: hidden; what completion scripts offer of what the home zone knows.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <sstream>

#include "client/api/zone_view.hpp"
#include "client/cli/applications/application_list.hpp"
#include "client/cli/applications/application_view.hpp"
#include "client/cli/context.hpp"

namespace zbs::cli {
namespace {

using codec::Json;

constexpr unsigned kDeadline_s = 1;
constexpr std::size_t kMaxOffered = 100;

/// Nobody waits at a prompt for a zone that is away, and nothing may come between its lines: after the deadline the
/// program is gone, wherever it was.
void be_quiet_and_quick() {
    if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) dup2(nowhere, 2);
    signal(SIGALRM, [](int) { _exit(0); });
    alarm(kDeadline_s);
}

/// The shell evaluates what it is offered, and much of it comes from others; what begins with - would be an option.
bool is_plain(const std::string& word) {
    return !word.empty() && word.front() != '-' && std::ranges::all_of(word, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    });
}

/// Options in front of the cursor that say which zone is asked, and as whom. `line` is as it was typed: quotes around a
/// word are understood, and nothing else of a shell.
void read_line(const std::string& line, Context& context) {
    const std::pair<const char*, std::string*> known[] = {{"--url", &context.url},
                                                          {"--identity", &context.identity},
                                                          {"--token", &context.token},
                                                          {"--credentials", &context.credentials},
                                                          {"--proxy", &context.proxy}};
    std::istringstream words(line);
    std::string* next = nullptr;
    const auto bare = [](const std::string& word) {
        const bool is_quoted = word.size() > 1 && (word[0] == '"' || word[0] == '\'') && word.back() == word[0];
        return is_quoted ? word.substr(1, word.size() - 2) : word;
    };
    for (std::string word; words >> word && word != "--";) {
        if (next != nullptr) *next = bare(word);
        next = nullptr;
        for (const auto& [name, value] : known) {
            if (word == name) next = value;
            if (word.starts_with(std::string(name) + "=")) *value = bare(word.substr(word.find('=') + 1));
        }
    }
}

/// As `Context::connect`, which would renew a certificate and report errors.
std::unique_ptr<client::ZoneClient> connect_quietly(const Context& context) {
    constexpr std::chrono::milliseconds kNoPatience{0};
    if (!context.identity.empty()) {
        const auto self = parse_identity(context.identity);
        if (!self || context.url.empty()) return nullptr;
        return std::make_unique<client::ZoneClient>(context.url, *self, context.token, kNoPatience);
    }
    auto own = context.proxy.empty() ? client::Credentials::open(context.credentials)
                                     : client::Credentials::open_with_proxy(context.credentials, context.proxy);
    if (!own) return nullptr;
    return std::make_unique<client::ZoneClient>(*std::move(own), context.url, kNoPatience);
}

std::vector<std::string> application_ids(client::ZoneClient& zone, const std::string& states) {
    std::vector<std::string> ids;
    if (const Result<Json> answer = zone.list({.limit = kMaxOffered, .states = states}))
        for (const ApplicationView& one : client::decode_application_list(*answer).applications) ids.push_back(one.id);
    return ids;
}

/// Of each zone that the home zone knows.
std::vector<std::string> peer_names(client::ZoneClient& zone, std::string codec::PeerView::*name) {
    std::vector<std::string> names;
    if (const Result<Json> answer = zone.get("/v1/peerings"))
        for (const codec::PeerView& peer : codec::decode_peerings_view(*answer).peers) names.push_back(peer.*name);
    return names;
}

std::vector<std::string> find_words(client::ZoneClient& zone, const std::string& kind) {
    if (kind == "applications") return application_ids(zone, {});
    if (kind == "open-applications") return application_ids(zone, open_states());
    if (kind == "organisations") return peer_names(zone, &codec::PeerView::organisation);
    if (kind == "profiles") {
        const Result<Json> answer = zone.get("/v1/profiles");
        return answer ? client::decode_profile_ids(*answer) : std::vector<std::string>{};
    }
    if (kind != "zones") return {};
    std::vector<std::string> names = peer_names(zone, &codec::PeerView::zone);
    if (const Result<Json> own = zone.get("/v1/nodes")) names.push_back(client::decode_nodes_view(*own).zone);
    return names;
}

}  // namespace

void add_complete_command(CLI::App& app, Context& context) {
    CLI::App* const command = app.add_subcommand("complete", "words for a shell's completion, one a line")->group("");
    const auto kind = std::make_shared<std::string>(), line = std::make_shared<std::string>();
    command->add_option("KIND", *kind, "of words")->required();
    command->add_option("LINE", *line, "what was typed");
    command->callback([&context, kind, line] {
        be_quiet_and_quick();
        read_line(*line, context);
        const auto zone = connect_quietly(context);
        if (!zone) return;
        std::string text;
        for (const std::string& word : find_words(*zone, *kind))
            if (is_plain(word)) text += word + "\n";
        alarm(0);
        std::cout << text;
    });
}

}  // namespace zbs::cli

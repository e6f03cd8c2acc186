#include "client/cli/context.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "client/api/zone_view.hpp"
#include "client/cli/applications/application_follow.hpp"
#include "client/cli/interrupt.hpp"
#include "services/common/adapters/command_line/output.hpp"
#include "services/common/adapters/command_line/terminal.hpp"
#include "services/common/adapters/system/asio_clock.hpp"
#include "services/common/codec/json/document_text.hpp"
#include "services/common/http/reply.hpp"

namespace zbs::cli {

void Context::fail(const Error& error, const std::string& place) {
    exit_code = exit_code_of(error);
    if (output == "json" || output == "jsonl") std::cout << http::problem(error).body << "\n";
    std::cerr << "zbs: " << (place.empty() ? "" : printable(place) + ": ") << printable(error.message) << "\n";
}

namespace {

void announce_absence(const Error& error, const std::string& id) {
    std::cerr << "zbs: the home zone is away: " << printable(error.message) << "; "
              << (id.empty() ? "applications go on" : id + " goes on")
              << ", and this command waits up to 30 minutes for the zone\n";
}

void announce_return() { std::cerr << "zbs: the home zone is back\n"; }

/// For a command that gives up after its patience.
void announce_silence(client::ZoneClient& zone) {
    const auto begins = [&zone](const Error&) {
        std::cerr << "zbs: no answer from " << printable(zone.url()) << " yet; still trying\n";
    };
    zone.outlast({.patience = {}, .begins = begins, .ends = [] {}, .is_given_up = {}});
}

/// For a command that draws again and again: an interrupt is its usual end, and prints a line only during an absence.
void outlast_drawing(client::ZoneClient& zone) {
    const auto line = std::make_shared<std::optional<InterruptLine>>();
    const auto begins = [line](const Error& error) {
        line->emplace(way_back({}));
        announce_absence(error, {});
    };
    const auto ends = [line] {
        line->reset();
        announce_return();
    };
    zone.outlast({.begins = begins, .ends = ends, .is_given_up = {}});
}

}  // namespace

Result<void> Context::check_url() const {
    if (const Result<void> good = client::ZoneClient::check_addresses(url); !good)
        return invalid(good.error().message, url_place);
    return {};
}

std::unique_ptr<client::ZoneClient> Context::connect() {
    if (const Result<void> good = check_url(); !good) {
        fail(good.error());
        return nullptr;
    }
    if (!identity.empty()) return connect_without_tls();
    auto own = proxy.empty() ? client::Credentials::open(credentials)
                             : client::Credentials::open_with_proxy(credentials, proxy);
    if (own && own->is_due()) {
        if (const Result<void> renewed = own->renew_if_due(); !renewed) {
            std::cerr << "zbs: your certificate ends soon, and its renewal met a fault: "
                      << printable(text_with_pointer(renewed.error())) << "\n";
        }
        own = client::Credentials::open(credentials);
    }
    if (!own) {
        fail(own.error());
        return nullptr;
    }
    auto zone = std::make_unique<client::ZoneClient>(*std::move(own), url);
    outlasts_absence ? outlast_drawing(*zone) : announce_silence(*zone);
    return zone;
}

std::unique_ptr<client::ZoneClient> Context::connect_without_tls() {
    if (url.empty()) {
        fail(invalid("which zone? without TLS give --url http://HOST:PORT or set ZBS_URL, too"));
        return nullptr;
    }
    const auto self = parse_identity(identity);
    if (!self) {
        fail(invalid("--identity and ZBS_IDENTITY take spiffe://ORGANISATION/user/NAME"));
        return nullptr;
    }
    auto zone = std::make_unique<client::ZoneClient>(url, *self, token);
    outlasts_absence ? outlast_drawing(*zone) : announce_silence(*zone);
    return zone;
}

void outlast_absence(client::ZoneClient& zone, const std::string& id, std::function<bool()> is_given_up) {
    zone.outlast({.begins = [id](const Error& error) { announce_absence(error, id); },
                  .ends = announce_return,
                  .is_given_up = std::move(is_given_up)});
}

Caller Context::caller(const client::ZoneClient& zone) const {
    if (zone.credentials() != nullptr) return zone.credentials()->name();
    return parse_identity(identity).value_or(Caller{});
}

Result<Id128> Context::fresh_id(client::ZoneClient& zone) const {
    Caller owner = caller(zone);
    if (owner.kind == CallerKind::kAnonymous) {
        const Result<codec::Json> answer = zone.get("/v1/whoami");
        if (!answer) return answer.error();
        owner = parse_identity(client::decode_self_view(*answer).name).value_or(Caller{});
    }
    return system::SystemIds{}.fresh(owner);
}

std::string default_credentials_folder() {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    const std::string config = variable("XDG_CONFIG_HOME");
    return (config.empty() ? variable("HOME") + "/.config" : config) + "/zbs/credentials";
}

std::string printable(const std::string& text) {
    std::string out = text;
    for (char& c : out) {
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) c = '?';
    }
    return out;
}

std::string ascii(std::string text) {
    for (char& c : text) {
        if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    }
    return text;
}

std::string counted(std::uint64_t count, const std::string& thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string shown(const Context& context, const Listing& rows) {
    return written(rows, context.output, command_line::table_width(), isatty(1) == 1);
}

void print(Context& context, const Listing& listing) {
    const Result<Listing> rows = chosen(listing, context.choice);
    if (!rows) return context.fail(rows.error());
    std::cout << shown(context, *rows);
}

void print_document(const Context& context, const codec::Json& json) {
    if (context.output == "name") {
        for (const char* key : {"id", "name", "zone"}) {
            if (const auto found = json.find(key); found != json.end() && found->is_string()) {
                std::cout << harmless_line(found->get<std::string>()) << "\n";
                return;
            }
        }
    }
    std::cout << codec::document_text(json);
}

bool settle_document_output(Context& context, bool has_name) {
    const bool is_list = context.output == "csv";
    if (!is_list && (has_name || context.output != "name")) return true;
    if (!context.output_is_asked) {
        context.output = "table";
        return true;
    }
    context.fail(invalid(std::string(is_list ? "csv is for lists" : "name is for what has an id") +
                             "; this command prints table, wide, json" + (has_name ? ", jsonl or name" : " or jsonl"),
                         "--output"));
    return false;
}

void add_list_options(CLI::App& command, Context& context, const Listing& empty,
                      const std::vector<std::string>& filters) {
    command_line::add_list_options(command, context.choice, empty, filters);
}

void add_output_option(CLI::App& command, Context& context, const char* variable) {
    command_line::add_format_option(command, context.output, output_formats())->envname(variable);
}

void add_json_flag(CLI::App& app, Context& context, const std::optional<std::string>& asked) {
    app.add_flag_callback(
        "--json",
        [&context, asked] {
            const std::vector<std::string>& formats = output_formats();
            // Of some commands -o is a file.
            if (asked && *asked != "json" && std::ranges::find(formats, *asked) != formats.end())
                throw CLI::ValidationError("--json", "contradicts -o " + *asked + "; give one of them");
            context.output = "json";
            context.output_is_asked = true;
        },
        "short for -o json");
}

namespace {

/// At most six characters: 999, 12.3k, 4.56M.
std::string short_number(double value) {
    constexpr const char* kUnits[] = {"", "k", "M", "G", "T", "P"};
    int unit = 0;
    while (value >= 999.5 && unit < 5) {
        value /= 1000;
        ++unit;
    }
    const char* const form = unit == 0 || value >= 100 ? "%.0f" : value < 10 ? "%.2f" : "%.1f";
    return number_text(form, value) + kUnits[unit];
}

}  // namespace

std::string draw_matrix(const TaskGraph& graph, const std::vector<TaskIndex>& order,
                        const std::vector<std::size_t>& blocks, const std::vector<std::string>& labels) {
    constexpr std::size_t kMaxDrawn = 32;
    std::string out;
    if (order.size() > kMaxDrawn) {
        std::vector<TaskEdge> edges(graph.edges().begin(), graph.edges().end());
        const std::size_t shown = std::min<std::size_t>(edges.size(), 20);
        std::partial_sort(edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(shown), edges.end(),
                          [](const TaskEdge& a, const TaskEdge& b) { return a.bytes > b.bytes; });
        out += "heaviest pairs of " + std::to_string(edges.size()) + ":\n";
        for (std::size_t i = 0; i < shown; ++i) {
            out += "  " + std::to_string(edges[i].u) + " - " + std::to_string(edges[i].v) + "  " +
                   human_bytes(edges[i].bytes) + " in " + short_number(edges[i].messages) + " messages\n";
        }
        return out;
    }
    const auto is_end = [&](std::size_t i) {
        return std::find(blocks.begin(), blocks.end(), i + 1) != blocks.end() && i + 1 < order.size();
    };
    const auto cell = [](const std::string& text) {
        return std::string(text.size() < 7 ? 7 - text.size() : 1, ' ') + text;
    };
    std::size_t label_width = 0;
    for (const std::string& label : labels) label_width = std::max(label_width, label.size());
    std::string head(label_width + 6, ' ');
    for (std::size_t j = 0; j < order.size(); ++j) head += cell(std::to_string(order[j])) + (is_end(j) ? " |" : "");
    out += head + "\n";
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::string label = i < labels.size() ? labels[i] : "";
        std::string number = std::to_string(order[i]);
        out += label + std::string(label_width - label.size() + 1, ' ') +
               std::string(number.size() < 5 ? 5 - number.size() : 0, ' ') + number;
        for (std::size_t j = 0; j < order.size(); ++j) {
            double bytes = 0;
            for (const TaskGraph::Neighbour& n : graph.neighbours(order[i])) {
                if (n.task == order[j]) bytes = n.bytes;
            }
            out += cell(bytes > 0 ? short_number(bytes) : i == j ? "-" : ".") + (is_end(j) ? " |" : "");
        }
        out += "\n";
        if (is_end(i)) {
            std::string rule(label_width + 6, '-');
            for (std::size_t j = 0; j < order.size(); ++j) rule += std::string(7, '-') + (is_end(j) ? "-+" : "");
            out += rule + "\n";
        }
    }
    return out;
}

}  // namespace zbs::cli

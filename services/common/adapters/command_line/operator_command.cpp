#include "services/common/adapters/command_line/operator_command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <utility>

#include "services/common/adapters/command_line/exit_codes.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/codec/records/audit_codec.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/listing/audit_listing.hpp"
#include "services/common/listing/setting_listing.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::command_line {
namespace {

using codec::Json;

struct AuditChoice {
    std::uint64_t after = 0;
    std::size_t limit = 100;
    std::string since;
};

Result<Json> ask(const AuditSource& source, std::uint64_t after, std::size_t limit) {
    return source.get("/v1/audit?after=" + std::to_string(after) + "&limit=" + std::to_string(limit));
}

/// The entry before the first from `since` on.
Result<std::uint64_t> find_begin(const AuditSource& source, const std::string& since) {
    if (since.empty()) return std::uint64_t{0};
    const Result<Time> begin = parse_since(since, source.now());
    if (!begin) return begin.error();
    return listing::last_entry_before(*begin, [&](std::uint64_t number) -> Result<codec::AuditPage> {
        const Result<Json> page = ask(source, number, 1);
        return page ? codec::decode_audit_page(*page) : Result<codec::AuditPage>(page.error());
    });
}

Result<void> list(const OperatorCommand& shared, const Output& output, const AuditSource& source,
                  const AuditChoice& choice) {
    const Result<std::uint64_t> begin = find_begin(source, choice.since);
    if (!begin) return begin.error();
    const Result<Json> answer = ask(source, std::max(choice.after, *begin), choice.limit);
    if (!answer) return answer.error();
    const auto page = codec::decode_audit_page(*answer);
    if (!page) return page.error();
    shared.print(output, listing::audit_listing(*page), *answer);
    if (page->next > 0) std::cerr << "more: --after " << page->next << "\n";
    return {};
}

void verify(const OperatorCommand& shared, const Output& output, const AuditSource& source, const std::string& head) {
    if (!shared.can_begin(output)) return;
    std::optional<AuditHead> expected;
    if (!head.empty()) {
        const Result<AuditHead> read = source.parse_head(head);
        if (!read) return shared.fail(read.error(), output);
        expected = *read;
    }
    const Result<AuditSummary> found = source.verify(expected);
    if (!found) return shared.not_well(found.error(), output);
    const std::string noted = source.text_of(found->head);
    output.print_document(codec::audit_summary(*found, noted, expected.has_value()),
                          codec::audit_summary_text(*found, noted, expected.has_value()));
}

void check(const OperatorCommand& shared, const Output& output, const ConfigSource& source) {
    if (!shared.can_begin(output)) return;
    const auto read = source.read();
    if (!read) return shared.not_well(read.error(), output);
    std::vector<std::string> notes;
    const Result<void> good = source.check(notes);
    for (const std::string& note : notes) std::cerr << "note: " << listing::harmless_line(note) << "\n";
    if (!good) return shared.not_well(good.error(), output);
    std::string names;
    for (const std::string& file : read->files) names += (names.empty() ? "" : ", ") + listing::harmless_line(file);
    output.print_document(codec::encode_checked_settings(read->values.size(), read->files, notes),
                          "good: " + std::to_string(read->values.size()) + " settings, of " + names + "\n");
}

Result<void> show(const OperatorCommand& shared, const Output& output, const ConfigSource& source, bool with_origin) {
    const auto read = source.read();
    if (!read) return read.error();
    shared.print(output, listing::settings_of(read->values, with_origin));
    return {};
}

}  // namespace

int fail(const char* program, const Error& error) {
    std::cerr << program << ": " << text_with_pointer(error) << "\n";
    return exit_code_of(error);
}

void OperatorCommand::fail(const Error& error, const Output& output) const {
    if (output.for_json()) std::cout << http::problem(error).body << "\n";
    *exit_code = command_line::fail(program, error);
}

void OperatorCommand::not_well(const Error& error, const Output& output) const {
    fail(error, output);
    *exit_code = kFailed;
}

bool OperatorCommand::can_begin(const Output& output) const {
    Result<void> good = output.check();
    if (good && service->empty()) good = invalid(which);
    if (good) return true;
    fail(good.error(), output);
    *exit_code = kUsage;
    return false;
}

void OperatorCommand::run(const Output& output, const std::function<Result<void>()>& act) const {
    if (!can_begin(output)) return;
    if (const Result<void> done = act(); !done) fail(done.error(), output);
}

void OperatorCommand::print(const Output& output, const listing::Listing& listing, const codec::Json& whole) const {
    const Result<void> printed = output.print(listing, whole);
    if (printed) return;
    fail(printed.error(), output);
    *exit_code = kUsage;
}

void add_audit_command(CLI::App& cli, const OperatorCommand& shared, AuditSource audited) {
    const auto source = std::make_shared<const AuditSource>(std::move(audited));
    const std::string example = std::string("\n\nExample: ") + shared.program + " audit ";
    CLI::App* const audit = cli.add_subcommand("audit", "the record of decisions");
    audit->require_subcommand(1);
    const auto choice = std::make_shared<AuditChoice>();
    CLI::App* const rows =
        audit->add_subcommand("list", "what the running service decided: number, time, who, what, decision, why" +
                                          example + "list --after 1200 --json " + source->example);
    rows->add_option("--after", choice->after, "only entries behind this number")
        ->check(natural_number())
        ->capture_default_str();
    rows->add_option("--limit", choice->limit, "at most so many")
        ->check(whole_number_in(1, limits::kMaxAuditRows))
        ->capture_default_str();
    const auto listed = std::make_shared<Output>(Output::Kind::kList);
    listed->add_to(*rows, listing::audit_listing({}));
    add_since_option(*rows, choice->since);
    rows->callback([shared, listed, source, choice] {
        shared.run(*listed, [&] { return list(shared, *listed, *source, *choice); });
    });
    const auto head = std::make_shared<std::string>();
    CLI::App* const check = audit->add_subcommand(
        "verify",
        "check that no entry of the record was changed, moved or removed, and that it has its beginning; prints how "
        "many there are, from when to when, and the head to note for the next time" +
            example + "verify " + source->example);
    check->add_option("--head", *head,
                      "ENTRIES:HASH as printed earlier: shows also whether entries were cut off the end since");
    const auto verified = std::make_shared<Output>(Output::Kind::kDocument);
    verified->add_to(*check);
    check->callback([shared, verified, source, head] { verify(shared, *verified, *source, *head); });
}

void add_config_commands(CLI::App& cli, const OperatorCommand& shared, ConfigSource source) {
    CLI::App* const config = cli.add_subcommand("config", "the configuration file and its parts");
    config->require_subcommand(1);
    const std::string example = std::string("\n\nExample: ") + shared.program + " config ";
    const std::string file = " --config " + source.file;
    CLI::App* const checking = config->add_subcommand(
        "check",
        "whether the service could start with it, or go on after SIGHUP: the first fault with file and line, and exit "
        "code 1. Changes nothing" +
            example + "check" + file);
    CLI::App* const showing = config->add_subcommand(
        "show", "every setting that is in force, those that nobody has set, too; passwords are left out" + example +
                    "show --origin" + file + example.substr(1) + "show --filter origin!=default" + file);
    const auto checked = std::make_shared<Output>(Output::Kind::kDocument);
    checked->add_to(*checking);
    const auto output = std::make_shared<Output>(Output::Kind::kList);
    output->add_to(*showing, listing::settings_of({}, false));
    const auto with_origin = std::make_shared<bool>(false);
    showing->add_flag("--origin", *with_origin, "with the file and line that each stands in, or default");
    const auto kept = std::make_shared<const ConfigSource>(std::move(source));
    checking->callback([shared, checked, kept] { check(shared, *checked, *kept); });
    showing->callback([shared, output, kept, with_origin] {
        shared.run(*output, [&] { return show(shared, *output, *kept, *with_origin); });
    });
}

}  // namespace zbs::command_line

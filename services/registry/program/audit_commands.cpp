// zbs-registry's commands about the record of decisions.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <optional>

#include "services/common/adapters/command_line/since.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/json/audit_text.hpp"
#include "services/common/listing/audit_listing.hpp"
#include "services/common/messages/limits.hpp"
#include "services/registry/program/registry_client.hpp"

namespace zbs::registry_program {
namespace {

using codec::Json;
using command_line::Output;

Result<Json> ask(const Options& options, std::uint64_t after, std::size_t limit) {
    return call(options, "GET", "/v1/audit?after=" + std::to_string(after) + "&limit=" + std::to_string(limit));
}

/// The entry before the first from `since` on.
Result<std::uint64_t> find_begin(const Options& options, const std::string& since) {
    const Result<Time> begin = command_line::parse_since(since, system::wall_clock());
    if (!begin) return begin.error();
    return listing::last_entry_before(*begin, [&](std::uint64_t number) -> Result<codec::AuditPage> {
        const Result<Json> page = ask(options, number, 1);
        return page ? codec::decode_audit_page(*page) : Result<codec::AuditPage>(page.error());
    });
}

struct AuditChoice {
    std::uint64_t after = 0;
    std::size_t limit = 100;
    std::string since;
};

void list(const Options& options, const Printer& printer, const AuditChoice& choice) {
    if (!printer.can_begin(options)) return;
    const Result<std::uint64_t> begin =
        choice.since.empty() ? Result<std::uint64_t>(0) : find_begin(options, choice.since);
    if (!begin) return printer.fail(begin.error());
    const Result<Json> answer = ask(options, std::max(choice.after, *begin), choice.limit);
    if (!answer) return printer.fail(answer.error());
    const auto page = codec::decode_audit_page(*answer);
    if (!page) return printer.fail(page.error());
    printer.print(listing::audit_listing(*page), *answer);
    if (page->next > 0) std::cerr << "more: --after " << page->next << "\n";
}

void verify(const Options& options, const Printer& printer, const std::string& head) {
    if (!printer.can_begin(options)) return;
    std::optional<AuditHead> expected;
    if (!head.empty()) {
        const Result<AuditHead> read = sqlite::parse_audit_head(head);
        if (!read) return printer.fail(read.error());
        expected = *read;
    }
    const auto found = sqlite::verify_audit_log(StateFolder{options.state}.audit(), expected);
    if (!found) return printer.not_well(found.error());
    const std::string noted = sqlite::to_string(found->head);
    printer.output->print_document(codec::audit_summary(*found, noted, expected.has_value()),
                                   codec::audit_summary_text(*found, noted, expected.has_value()));
}

}  // namespace

void add_audit_commands(CLI::App& cli, Options& options, int& exit_code) {
    CLI::App* audit = cli.add_subcommand("audit", "the record of decisions");
    audit->require_subcommand(1);
    auto choice = std::make_shared<AuditChoice>();
    CLI::App* rows = audit->add_subcommand(
        "list",
        "what the running registry decided: number, time, who, what, decision, why\n\nExample: zbs-registry audit list "
        "--after 1200 --state DIR");
    rows->add_option("--after", choice->after, "only entries behind this number")->capture_default_str();
    rows->add_option("--limit", choice->limit, "at most so many")
        ->check(command_line::whole_number_in(1, limits::kMaxAuditRows))
        ->capture_default_str();
    const auto listed = std::make_shared<Output>(Output::Kind::kList);
    listed->add_to(*rows, listing::audit_listing({}));
    command_line::add_since_option(*rows, choice->since);
    rows->callback([&options, &exit_code, listed, choice] { list(options, {listed.get(), &exit_code}, *choice); });
    auto head = std::make_shared<std::string>();
    CLI::App* check = audit->add_subcommand(
        "verify",
        "check that no entry of the record was changed, moved or removed, and that it has its beginning\n\nExample: "
        "zbs-registry audit verify --state DIR");
    check->add_option("--head", *head, "ENTRIES:HASH as printed earlier: shows also whether its end was cut off since");
    const auto checked = std::make_shared<Output>(Output::Kind::kDocument);
    checked->add_to(*check);
    check->callback([&options, &exit_code, checked, head] { verify(options, {checked.get(), &exit_code}, *head); });
}

}  // namespace zbs::registry_program

#include "services/common/adapters/command_line/audit_command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <iostream>

#include "services/common/adapters/command_line/values.hpp"
#include "services/common/codec/records/audit_codec.hpp"
#include "services/common/listing/audit_listing.hpp"
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

}  // namespace

void add_audit_command(CLI::App& cli, const OperatorCommand& shared, AuditSource audited) {
    const auto source = std::make_shared<const AuditSource>(std::move(audited));
    const std::string example = std::string("\n\nExample: ") + shared.program + " audit ";
    CLI::App* const audit = cli.add_subcommand("audit", "the record of decisions");
    audit->require_subcommand(1);
    const auto choice = std::make_shared<AuditChoice>();
    CLI::App* const rows =
        audit->add_subcommand("list", "what the running service decided: number, time, who, what, decision, why" +
                                          example + "list --after 1200 --json " + source->example);
    rows->add_option("--after", choice->after, "only entries behind this number")->capture_default_str();
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

}  // namespace zbs::command_line

// zbs-registry's commands about the record of decisions.
#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>

#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/codec/audit_text.hpp"
#include "services/common/codec/document_text.hpp"
#include "services/common/messages/limits.hpp"
#include "services/registry/program/registry_client.hpp"

namespace zbs::registry_program {
namespace {

using codec::Json;

/// Exit code.
int list(const Options& options, std::uint64_t after, std::size_t limit, bool as_json) {
    const Result<Json> answer =
        call(options, "GET", "/v1/audit?after=" + std::to_string(after) + "&limit=" + std::to_string(limit));
    if (!answer) return fail(answer.error());
    if (as_json) {
        std::cout << codec::document_text(*answer);
        return 0;
    }
    const auto page = codec::decode_audit_page(*answer);
    if (!page) return fail(page.error());
    std::cout << codec::audit_rows(*page);
    if (page->next > 0) std::cerr << "more: --after " << page->next << "\n";
    return 0;
}

/// Exit code.
int verify(const Options& options, const std::string& head) {
    std::optional<AuditHead> expected;
    if (!head.empty()) {
        const Result<AuditHead> read = sqlite::parse_audit_head(head);
        if (!read) return fail(read.error());
        expected = *read;
    }
    const auto found = sqlite::verify_audit_log(StateFolder{options.state}.audit(), expected);
    if (!found) return fail(found.error());
    std::cout << codec::audit_summary_text(*found, sqlite::to_string(found->head), expected.has_value());
    return 0;
}

}  // namespace

void add_audit_commands(CLI::App& cli, Options& options, int& exit_code) {
    CLI::App* audit = cli.add_subcommand("audit", "the record of decisions");
    audit->require_subcommand(1);
    auto after = std::make_shared<std::uint64_t>(0);
    auto limit = std::make_shared<std::size_t>(100);
    auto as_json = std::make_shared<bool>(false);
    CLI::App* rows = audit->add_subcommand(
        "list",
        "what the running registry decided: number, time, who, what, decision, why\n\nExample: zbs-registry audit list "
        "--after 1200 --state DIR");
    rows->add_option("--after", *after, "only entries behind this number")->capture_default_str();
    rows->add_option("--limit", *limit, "at most so many")
        ->check(CLI::Range(std::size_t{1}, limits::kMaxAuditRows))
        ->capture_default_str();
    rows->add_flag("--json", *as_json,
                   "entries, head of the log, and the number to go on after, as the service says it");
    rows->callback(
        [&options, &exit_code, after, limit, as_json] { exit_code = list(options, *after, *limit, *as_json); });
    auto head = std::make_shared<std::string>();
    CLI::App* check = audit->add_subcommand(
        "verify",
        "check that no entry of the record was changed, moved or removed, and that it has its beginning\n\nExample: "
        "zbs-registry audit verify --state DIR");
    check->add_option("--head", *head, "ENTRIES:HASH as printed earlier: shows also whether its end was cut off since");
    check->callback([&options, &exit_code, head] { exit_code = verify(options, *head); });
}

}  // namespace zbs::registry_program

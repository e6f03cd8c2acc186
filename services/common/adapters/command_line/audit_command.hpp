#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "services/common/adapters/command_line/operator_command.hpp"
#include "services/common/ports/storage/audit.hpp"

namespace zbs::command_line {

/// The record of decisions of a service, as its running program shows it and as its storage has it.
struct AuditSource {
    std::function<Result<codec::Json>(const std::string& path)> get;
    std::function<Result<AuditSummary>(const std::optional<AuditHead>& expected)> verify;
    Result<AuditHead> (*parse_head)(std::string_view);
    std::string (*text_of)(const AuditHead&);
    Time (*now)();
    std::string example;  ///< how an example names the service: "--config zone.toml"
};

/// `audit list` and `audit verify`.
void add_audit_command(CLI::App& cli, const OperatorCommand& shared, AuditSource source);

}  // namespace zbs::command_line

#pragma once
#include <string>

#include "services/common/adapters/command_line/operator_command.hpp"
#include "services/common/codec/json/json.hpp"
#include "services/registry/program/registry_program.hpp"

namespace zbs::registry_program {

/// One call to the running registry, with the operator's key from its state folder. Errors: a registry that has never
/// run or does not answer, keys that cannot be read, and what it says.
Result<codec::Json> call(const Options& options, const std::string& method, const std::string& path,
                         const codec::Json& body = {});

command_line::OperatorCommand operator_command(const Options& options, int& exit_code);

}  // namespace zbs::registry_program

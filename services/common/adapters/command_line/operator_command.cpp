#include "services/common/adapters/command_line/operator_command.hpp"

#include <iostream>

#include "services/common/adapters/command_line/exit_codes.hpp"
#include "services/common/http/reply.hpp"

namespace zbs::command_line {

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

}  // namespace zbs::command_line

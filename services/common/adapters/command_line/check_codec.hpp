#pragma once
#include "services/common/adapters/command_line/check.hpp"
#include "services/common/codec/json/json.hpp"

namespace zbs::command_line {

codec::Json encode(const Check& check);
/// All of them, after the worst verdict.
codec::Json document_of(const std::vector<Check>& checks);

}  // namespace zbs::command_line

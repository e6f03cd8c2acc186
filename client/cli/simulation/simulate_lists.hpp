#pragma once
#include "client/cli/context.hpp"

// What `zbs simulate` can be given by name.
namespace zbs::cli {

/// Every policy, allocator and packing rule: one line and its source.
void list_all(Context& context);
/// With their options.
void list_policies(Context& context);
void list_allocators(Context& context);
void list_generators(Context& context);

}  // namespace zbs::cli

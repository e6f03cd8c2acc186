#pragma once

namespace zbs::bench {

/// `zbs_bench plan`: how long a call waits while a zone plans a large application, and how long the plan takes. Exit
/// code.
int run_plan_bench(int argc, char** argv);

}  // namespace zbs::bench

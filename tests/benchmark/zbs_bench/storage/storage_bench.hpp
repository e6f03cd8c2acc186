#pragma once

namespace zbs::bench {

/// `zbs_bench restart`: how long a zone with many stored applications takes to be ready. Exit code.
int run_restart_bench(int argc, char** argv);

/// `zbs_bench durability`: durable submissions over REST, beside what the disk can do. Exit code.
int run_durability_bench(int argc, char** argv);

}  // namespace zbs::bench

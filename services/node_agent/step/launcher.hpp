#pragma once

namespace zbs::step {

/// `zbs-step launcher STEP PROGRAM ARGS...`, on a node of Slurm between Slurm's daemon and a program that launches the
/// job's programs (MPICH's proxy, Open MPI's daemon). SIGURG and SIGTERM announce the stop of the step: each process
/// below PROGRAM gets one SIGTERM, and PROGRAM, which would end them at once, gets none. PROGRAM has 1 s once nothing
/// else is alive. The time of the others is limited by the supervisor of the step, on its own host. Returns the exit
/// code of PROGRAM; 128 + n if signal n ended it.
int run_launcher(int argc, char** argv);

}  // namespace zbs::step

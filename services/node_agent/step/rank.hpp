#pragma once

namespace zbs::step {

/// `zbs-step rank PROGRAM ARGS...`, between the proxy of MPICH's launcher and a rank: runs the rank, and records in the
/// folder of `kRankEndsVariable` how it ended, where that was not well. Returns the exit code; where a signal ended the
/// rank it ends by that one, too.
///
/// Under Open MPI's daemon it records ends, too; the preloaded library marks a rank that left before MPI_Finalize
/// (`own_files::kEarly`).
///
/// What the rank says to its launcher (PMI) passes through here. The launcher ends at once when a rank aborts, and its
/// proxy ends all ranks when one is gone; so both hear of it only once they have read what the rank wrote before.
int run_rank(int argc, char** argv);

/// `zbs-step launcher STEP PROGRAM ARGS...`, on a node of Slurm between Slurm's daemon and a program that launches the
/// job's programs (MPICH's proxy, Open MPI's daemon). SIGURG and SIGTERM announce the stop of the step: each process
/// below PROGRAM gets one SIGTERM, and PROGRAM, which would end them at once, gets none. PROGRAM has 1 s once nothing
/// else is alive. The time of the others is limited by the supervisor of the step, on its own host. Returns the exit
/// code of PROGRAM; 128 + n if signal n ended it.
int run_launcher(int argc, char** argv);

}  // namespace zbs::step

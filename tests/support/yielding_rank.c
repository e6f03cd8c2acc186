/* Preloaded into MPI programs (MPICH on UCX) that run on fewer processors than they have ranks.
 *
 * A rank that waits polls, and keeps its processor from the rank that it waits for until its time slice ends. Here it
 * yields the processor each time a poll finds nothing, through whatever transport: nine ranks of ScaLAPACK's xcbrd on
 * two cores need 2 s, and over 120 s without. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

static unsigned (*next_progress)(void*);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_next(void) { *(void**)&next_progress = dlsym(RTLD_NEXT, "ucp_worker_progress"); }

unsigned ucp_worker_progress(void* worker);
unsigned ucp_worker_progress(void* worker) {
    pthread_once(&once, find_next);
    const unsigned done = next_progress(worker);
    if (done == 0) sched_yield();
    return done;
}

/* Preloaded into MPI programs (MPICH on UCX) that run on fewer processors than they have ranks.
 *
 * A rank that waits asks its sockets again and again (epoll_wait with timeout 0) and takes the processor from those
 * that have something to do: with 9 ranks on 2 cores a message costs tens of milliseconds. Here a rank whose sockets
 * have had nothing for one round sleeps until one of them has, at most kNapMs, as if it had a processor of its own.
 * Only sockets are waited for: use it with UCX_TLS=tcp,self and MPIR_CVAR_NOLOCAL=1, so that nothing comes through
 * shared memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/epoll.h>

enum { kMostSets = 16, kNapMs = 5 };

typedef int (*epoll_wait_function)(int, struct epoll_event*, int, int);

static _Thread_local struct pollfd sets[kMostSets]; /* that this thread has asked with timeout 0 */
static _Thread_local int set_count, empty_in_a_row;
static epoll_wait_function next_epoll_wait;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_next(void) { *(void**)&next_epoll_wait = dlsym(RTLD_NEXT, "epoll_wait"); }

/* Sleeps until a set has something. A set that was closed is forgotten. */
static void nap(void) {
    if (poll(sets, (nfds_t)set_count, kNapMs) <= 0) return;
    for (int i = 0; i < set_count;) {
        if (sets[i].revents & POLLNVAL)
            sets[i] = sets[--set_count];
        else
            ++i;
    }
}

int epoll_wait(int set, struct epoll_event* events, int most, int timeout) {
    pthread_once(&once, find_next);
    const int found = next_epoll_wait(set, events, most, timeout);
    if (timeout != 0) return found;
    if (found != 0) {
        empty_in_a_row = 0;
        return found;
    }
    int known = 0;
    while (known < set_count && sets[known].fd != set) ++known;
    if (known == set_count) {
        if (set_count == kMostSets) return 0;
        sets[set_count++] = (struct pollfd){.fd = set, .events = POLLIN};
        empty_in_a_row = 0;
    } else if (++empty_in_a_row > 2 * set_count) {
        const int code = errno;
        nap();
        errno = code;
        empty_in_a_row = 0;
    }
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What a kernel counts by while it boots.
 *
 * A kernel loses time while it boots. It reads the wall clock once, early on; then it counts by the ticks of its timer,
 * which come late or not at all in that phase; some milliseconds of wall time later it reads its monotonic clock for the
 * first time, and counts on by it from there. The wall clocks of nodes would differ by what all that took each of them.
 *
 * So the first reading shows the instant at which the wall clock was read, and the second the truth: to the kernel, the
 * time between the two has passed all the same. The ticks are held back until then, or they would count it twice. (Old
 * kernels measure how fast they compute, and wait for ticks to do so. They get them late, and what those ticks have
 * counted is not given to them again.)
 */
#include "shim.h"

#include <stdatomic.h>

enum boot { NOTHING_READ, WALL_READ, TIMER_MADE, COUNTING };
static _Atomic enum boot boot;
static _Atomic int64_t wall_read_at;

void shim_timer_made(void)
{
	enum boot before = WALL_READ;
	atomic_compare_exchange_strong(&boot, &before, TIMER_MADE);
}

bool shim_holds_ticks(void)
{
	return atomic_load(&boot) == TIMER_MADE;
}

/* The kernel's ticks as they shall be when it has begun to count. */
static struct {
	timer_t id;
	struct itimerspec host;
	/* When the first tick comes even so, by the host's clock. */
	int64_t latest;
	_Atomic bool waits;
} held;

/* A kernel that waits for a tick before it counts gets it after this long, for it would hang otherwise. */
static const int64_t LONGEST_HOLD = 200000000;

void shim_hold_ticks(timer_t id, struct itimerspec *host)
{
	struct timespec now;
	shim_library()->clock_gettime(CLOCK_MONOTONIC, &now);
	held.id = id;
	held.host = *host;
	held.latest = shim_nanoseconds(&now) + LONGEST_HOLD;
	atomic_store(&held.waits, true);
	host->it_value = shim_timespec(LONGEST_HOLD);
}

void shim_forget_ticks(void)
{
	atomic_store(&held.waits, false);
}

/* The kernel begins to count at this instant of the host; returns how much time ticks have counted before, on the host. */
static int64_t release_ticks(int64_t host)
{
	if (!atomic_exchange(&held.waits, false))
		return 0;
	int64_t interval = shim_nanoseconds(&held.host.it_interval);
	if (host >= held.latest)
		return ((host - held.latest) / interval + 1) * interval;
	shim_library()->timer_settime(held.id, 0, &held.host, NULL);
	return 0;
}

int64_t shim_counted_from(enum shim_clock shown, int64_t host)
{
	enum boot state = atomic_load(&boot);
	if (state == COUNTING || shim_orders()->machine)
		return host;
	if (shown == SHIM_WALL) {
		/* Only the first one counts: others are for file names and the like. */
		if (state == NOTHING_READ) {
			atomic_store(&wall_read_at, host);
			atomic_store(&boot, WALL_READ);
		}
		return host;
	}
	atomic_store(&boot, COUNTING);
	/* A monotonic clock that was read before the timer was made may not go back: then the time is lost. */
	if (state != TIMER_MADE)
		return host;
	return atomic_load(&wall_read_at) + release_ticks(host);
}

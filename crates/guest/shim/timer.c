/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Timers. A kernel sets one for whatever it has to do next.
 *
 * All that run on a scaled clock run on the host's CLOCK_MONOTONIC, also those that were made for the wall clock: the
 * host's own wall clock may step, the lab's may not. A timer on a CPU clock stays what it is.
 */
#include "shim.h"

#include <stdatomic.h>

/* A kernel makes one timer per processor that it emulates. */
#define TIMERS 64

enum state { FREE, TAKEN, READY };

static struct {
	_Atomic enum state state;
	timer_t id;
	enum shim_clock clock;
} timers[TIMERS];

static int slot_of(timer_t id)
{
	for (int i = 0; i < TIMERS; i++)
		if (atomic_load(&timers[i].state) == READY && timers[i].id == id)
			return i;
	return -1;
}

static int take_slot(void)
{
	for (int i = 0; i < TIMERS; i++) {
		enum state expected = FREE;
		if (atomic_compare_exchange_strong(&timers[i].state, &expected, TAKEN))
			return i;
	}
	return -1;
}

static void free_slot_of(timer_t id)
{
	int slot = slot_of(id);
	if (slot >= 0)
		atomic_store(&timers[slot].state, FREE);
}

static enum shim_clock clock_of(timer_t id)
{
	int slot = slot_of(id);
	return slot < 0 ? SHIM_AS_IS : timers[slot].clock;
}

EXPORT int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict id)
{
	enum shim_clock shown = shim_clock(clock);
	if (shown == SHIM_AS_IS)
		return shim_library()->timer_create(clock, event, id);
	int slot = take_slot();
	if (slot < 0) {
		errno = EAGAIN;
		return -1;
	}
	int failed = shim_library()->timer_create(CLOCK_MONOTONIC, event, id);
	if (failed) {
		atomic_store(&timers[slot].state, FREE);
		return failed;
	}
	/* A fork inherits this table but no timers, and its new ones have the old numbers. */
	free_slot_of(*id);
	timers[slot].id = *id;
	timers[slot].clock = shown;
	atomic_store(&timers[slot].state, READY);
	shim_timer_made();
	return 0;
}

EXPORT int timer_delete(timer_t id)
{
	int failed = shim_library()->timer_delete(id);
	if (!failed)
		free_slot_of(id);
	return failed;
}

static struct itimerspec in_lab_time(const struct itimerspec *host)
{
	return (struct itimerspec){
		.it_value = shim_timespec(shim_lab_remainder(shim_nanoseconds(&host->it_value))),
		.it_interval = shim_timespec(shim_lab_remainder(shim_nanoseconds(&host->it_interval))),
	};
}

EXPORT int timer_settime(timer_t id, int flags, const struct itimerspec *restrict set, struct itimerspec *restrict old)
{
	enum shim_clock shown = clock_of(id);
	/* What the library would refuse, it shall refuse. */
	if (shown == SHIM_AS_IS || !set || !shim_is_span(&set->it_value) || !shim_is_span(&set->it_interval))
		return shim_library()->timer_settime(id, flags, set, old);
	int64_t value = shim_nanoseconds(&set->it_value);
	if (value && (flags & TIMER_ABSTIME)) {
		value = shim_host_instant(shown, value);
		/* Long past is past; 0 would disarm. */
		if (value < 1)
			value = 1;
	} else {
		value = shim_host_span(value);
	}
	struct itimerspec host = {
		.it_value = shim_timespec(value),
		.it_interval = shim_timespec(shim_host_period(shim_nanoseconds(&set->it_interval))),
	};
	/* Any other order takes the place of one that is held. */
	shim_forget_ticks();
	bool ticks = host.it_interval.tv_sec || host.it_interval.tv_nsec;
	if (ticks && !(flags & TIMER_ABSTIME) && shim_holds_ticks())
		shim_hold_ticks(id, &host);
	int failed = shim_library()->timer_settime(id, flags, &host, old);
	if (!failed && old)
		*old = in_lab_time(old);
	return failed;
}

EXPORT int timer_gettime(timer_t id, struct itimerspec *left)
{
	int failed = shim_library()->timer_gettime(id, left);
	if (!failed && clock_of(id) != SHIM_AS_IS)
		*left = in_lab_time(left);
	return failed;
}

static int64_t nanoseconds(const struct timeval *from)
{
	return shim_nanoseconds(&(struct timespec){.tv_sec = from->tv_sec, .tv_nsec = from->tv_usec * 1000});
}

/* Rounded up to whole microseconds, so that what is left never shows as 0. */
static struct timeval microseconds(int64_t nanoseconds)
{
	struct timespec exact = shim_timespec(nanoseconds + 999);
	return (struct timeval){.tv_sec = exact.tv_sec, .tv_usec = exact.tv_nsec / 1000};
}

static struct itimerval in_lab_microseconds(const struct itimerval *host)
{
	return (struct itimerval){
		.it_value = microseconds(shim_lab_remainder(nanoseconds(&host->it_value))),
		.it_interval = microseconds(shim_lab_remainder(nanoseconds(&host->it_interval))),
	};
}

static bool is_span(const struct timeval *span)
{
	return span->tv_sec >= 0 && span->tv_usec >= 0 && span->tv_usec < 1000000;
}

/* Of the three old interval timers only ITIMER_REAL counts time; the others count the process's own computing. */
static bool scales(int which)
{
	return which == ITIMER_REAL && shim_orders()->lapse.scaled;
}

EXPORT int setitimer(__itimer_which_t which, const struct itimerval *restrict set, struct itimerval *restrict old)
{
	if (!scales((int)which) || !set || !is_span(&set->it_value) || !is_span(&set->it_interval))
		return shim_library()->setitimer((int)which, set, old);
	struct itimerval host = {
		.it_value = microseconds(shim_host_span(nanoseconds(&set->it_value))),
		.it_interval = microseconds(shim_host_period(nanoseconds(&set->it_interval))),
	};
	int failed = shim_library()->setitimer((int)which, &host, old);
	if (!failed && old)
		*old = in_lab_microseconds(old);
	return failed;
}

EXPORT int getitimer(__itimer_which_t which, struct itimerval *left)
{
	int failed = shim_library()->getitimer((int)which, left);
	if (!failed && scales((int)which))
		*left = in_lab_microseconds(left);
	return failed;
}

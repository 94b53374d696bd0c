/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Waits for other threads until an instant. Kernels that run as processes have no others; the threads of a virtual machine (QEMU)
 * wait for one another.
 *
 * Such a wait names an instant of the wall clock or, for a condition that was made so, of the monotonic clock, and the condition does
 * not tell which. They are told apart by their size: the lab's wall clock begins at its epoch and the monotonic one at 0.
 */
#include "shim.h"

static enum shim_clock clock_of(int64_t instant)
{
	return instant >= shim_orders()->lapse.wall / 2 ? SHIM_WALL : SHIM_LAB;
}

/* What the library would refuse, it shall refuse. */
static bool is_ours(const struct timespec *instant)
{
	return shim_orders()->lapse.scaled && shim_is_span(instant);
}

/* The instant by the host's CLOCK_MONOTONIC, which no step of its wall clock reaches. */
static struct timespec on_host(enum shim_clock clock, const struct timespec *instant)
{
	int64_t host = shim_host_instant(clock, shim_nanoseconds(instant));
	return shim_timespec(host < 0 ? 0 : host);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
				  const struct timespec *restrict until)
{
	if (!is_ours(until))
		return shim_library()->pthread_cond_timedwait(condition, mutex, until);
	struct timespec host = on_host(clock_of(shim_nanoseconds(until)), until);
	return shim_library()->pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &host);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock,
				  const struct timespec *restrict until)
{
	enum shim_clock shown = shim_clock(clock);
	if (shown == SHIM_AS_IS || !is_ours(until))
		return shim_library()->pthread_cond_clockwait(condition, mutex, clock, until);
	struct timespec host = on_host(shown, until);
	return shim_library()->pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &host);
}

EXPORT int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
	if (!is_ours(until))
		return shim_library()->sem_timedwait(semaphore, until);
	struct timespec host = on_host(SHIM_WALL, until);
	return shim_library()->sem_clockwait(semaphore, CLOCK_MONOTONIC, &host);
}

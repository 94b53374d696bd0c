/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Lab time: which clocks show it, and the exact arithmetic between it and the host's time.
 *
 * Every clock of every node follows from one reading of the host's CLOCK_MONOTONIC and from the common epoch, so two
 * clocks never disagree, and a step of the host's wall clock reaches no node.
 */
#include "shim.h"

__extension__ typedef __int128 wide;

static const int64_t SECOND = 1000000000;
/* The longest wait that is passed on: 146 years, a half of what 63 bits can count. */
static const int64_t LONGEST = INT64_MAX / 2;

/* The quotient rounded down, and up, whatever the sign of the dividend; the divisor is positive. */
static wide floor_of(wide dividend, int64_t divisor)
{
	wide quotient = dividend / divisor;
	return quotient * divisor > dividend ? quotient - 1 : quotient;
}

static wide ceiling_of(wide dividend, int64_t divisor)
{
	return -floor_of(-dividend, divisor);
}

static int64_t bounded(wide value)
{
	if (value > LONGEST)
		return LONGEST;
	return value < -LONGEST ? -LONGEST : (int64_t)value;
}

int64_t shim_nanoseconds(const struct timespec *from)
{
	return bounded((wide)from->tv_sec * SECOND + from->tv_nsec);
}

struct timespec shim_timespec(int64_t nanoseconds)
{
	int64_t seconds = (int64_t)floor_of(nanoseconds, SECOND);
	return (struct timespec){.tv_sec = seconds, .tv_nsec = (long)(nanoseconds - (wide)seconds * SECOND)};
}

bool shim_is_span(const struct timespec *span)
{
	return span->tv_sec >= 0 && span->tv_nsec >= 0 && span->tv_nsec < SECOND;
}

int64_t shim_lab_instant(int64_t host)
{
	const struct shim_lapse *lapse = &shim_orders()->lapse;
	return bounded(floor_of(((wide)host - lapse->epoch) * lapse->denominator, lapse->numerator));
}

int64_t shim_host_instant(enum shim_clock clock, int64_t instant)
{
	const struct shim_lapse *lapse = &shim_orders()->lapse;
	wide lab = clock == SHIM_WALL ? (wide)instant - lapse->wall : instant;
	return bounded(ceiling_of(lab * lapse->numerator, lapse->denominator) + lapse->epoch);
}

int64_t shim_host_span(int64_t lab)
{
	const struct shim_lapse *lapse = &shim_orders()->lapse;
	return bounded(ceiling_of((wide)lab * lapse->numerator, lapse->denominator));
}

int64_t shim_host_period(int64_t lab)
{
	const struct shim_lapse *lapse = &shim_orders()->lapse;
	wide halves = (wide)lab * lapse->numerator * 2 + lapse->denominator;
	int64_t nearest = bounded(floor_of(halves, 2 * lapse->denominator));
	return lab && !nearest ? 1 : nearest;
}

int64_t shim_lab_remainder(int64_t host)
{
	const struct shim_lapse *lapse = &shim_orders()->lapse;
	return bounded(ceiling_of((wide)host * lapse->denominator, lapse->numerator));
}

/*
 * The clocks of a process's or thread's own CPU time are left alone, as are clocks of devices: they count how much was
 * computed, not how much time passed, and computing is not slowed. (A kernel accounts for its own programs by its tick
 * and its monotonic clock, so all that is seen inside is in lab time.)
 */
enum shim_clock shim_clock(clockid_t clock)
{
	if (!shim_orders()->lapse.scaled)
		return SHIM_AS_IS;
	switch (clock) {
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
	case CLOCK_BOOTTIME_ALARM:
		return SHIM_LAB;
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_REALTIME_ALARM:
	case CLOCK_TAI:
		return SHIM_WALL;
	default:
		return SHIM_AS_IS;
	}
}

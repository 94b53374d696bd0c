/*
 * Lab time: what clocks show, and the exact arithmetic for everything else that knows of time.
 *
 * Every clock of every node follows from one reading of the host's CLOCK_MONOTONIC and from the common epoch, so two
 * clocks never disagree, and a step of the host's wall clock reaches no node.
 */
#include "shim.h"

#include <stdatomic.h>

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

/*
 * A kernel loses time while it boots. It reads the wall clock once, early on; then it counts by the ticks of its timer,
 * which come late or not at all in that phase; some milliseconds of wall time later it reads its monotonic clock for the
 * first time, and counts on by it from there. The wall clocks of nodes would differ by what all that took each of them.
 *
 * So the first reading shows the instant at which the wall clock was read, and the second the truth: to the kernel, the
 * time between the two has passed all the same. The ticks are held back until then, or they would count it twice. (Old
 * kernels measure how fast they compute, and wait for ticks to do so. They get them late, and what those ticks have
 * counted is not given to them again.)
 */
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

/* What the host's clock says, or what it said when this kernel read its wall clock. */
static int64_t counted_from(enum shim_clock shown, int64_t host)
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
	return atomic_load(&wall_read_at) + shim_release_ticks(host);
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *now)
{
	enum shim_clock shown = shim_clock(clock);
	int failed = shim_library()->clock_gettime(shown == SHIM_AS_IS ? clock : CLOCK_MONOTONIC, now);
	if (failed || shown == SHIM_AS_IS)
		return failed;
	int64_t instant = shim_lab_instant(counted_from(shown, shim_nanoseconds(now)));
	if (shown == SHIM_WALL)
		instant += shim_orders()->lapse.wall;
	*now = shim_timespec(instant);
	return 0;
}

EXPORT int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	/* Linux has had no time zone in the kernel to speak of; the library itself fills in zeroes. */
	if (zone)
		*(struct timezone *)zone = (struct timezone){0};
	struct timespec exact;
	int failed = clock_gettime(CLOCK_REALTIME, &exact);
	if (!failed)
		*now = (struct timeval){.tv_sec = exact.tv_sec, .tv_usec = exact.tv_nsec / 1000};
	return failed;
}

EXPORT time_t time(time_t *seconds)
{
	struct timespec exact;
	if (clock_gettime(CLOCK_REALTIME, &exact))
		return -1;
	if (seconds)
		*seconds = exact.tv_sec;
	return exact.tv_sec;
}

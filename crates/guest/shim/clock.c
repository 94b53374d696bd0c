/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Clocks: what a program reads shows lab time. */
#include "shim.h"

EXPORT int clock_gettime(clockid_t clock, struct timespec *now)
{
	enum shim_clock shown = shim_clock(clock);
	int failed = shim_library()->clock_gettime(shown == SHIM_AS_IS ? clock : CLOCK_MONOTONIC, now);
	if (failed || shown == SHIM_AS_IS)
		return failed;
	int64_t instant = shim_lab_instant(shim_counted_from(shown, shim_nanoseconds(now)));
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

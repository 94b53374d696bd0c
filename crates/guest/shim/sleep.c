/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Sleeps: kernels that run as processes sleep while they start, and nowhere else. */
#include "shim.h"

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *span, struct timespec *left)
{
	enum shim_clock shown = shim_clock(clock);
	/* What the library would refuse, it shall refuse. */
	if (shown == SHIM_AS_IS || !shim_is_span(span))
		return shim_library()->clock_nanosleep(clock, flags, span, left);
	int64_t lab = shim_nanoseconds(span);
	if (flags & TIMER_ABSTIME) {
		int64_t instant = shim_host_instant(shown, lab);
		struct timespec host = shim_timespec(instant < 0 ? 0 : instant);
		return shim_library()->clock_nanosleep(CLOCK_MONOTONIC, flags, &host, NULL);
	}
	struct timespec host = shim_timespec(shim_host_span(lab));
	int result = shim_library()->clock_nanosleep(CLOCK_MONOTONIC, flags, &host, left);
	if (result == EINTR && left)
		*left = shim_timespec(shim_lab_remainder(shim_nanoseconds(left)));
	return result;
}

EXPORT int nanosleep(const struct timespec *span, struct timespec *left)
{
	/* POSIX has it on CLOCK_REALTIME, but unaffected by steps of it; Linux has it on CLOCK_MONOTONIC. */
	int result = clock_nanosleep(CLOCK_MONOTONIC, 0, span, left);
	if (result)
		errno = result;
	return result ? -1 : 0;
}

EXPORT unsigned int sleep(unsigned int seconds)
{
	struct timespec left = {0};
	struct timespec span = {.tv_sec = seconds};
	return nanosleep(&span, &left) ? (unsigned int)left.tv_sec + (left.tv_nsec >= 500000000) : 0;
}

EXPORT int usleep(useconds_t microseconds)
{
	struct timespec span = {.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000L};
	return nanosleep(&span, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Waits for descriptors. A timeout of 0 or none at all needs no clock and is passed on as it is; kernels use no others
 * as far as we know, but one that did would otherwise live in two times at once.
 */
#include "shim.h"
#include "backend.h"

#include <limits.h>

static const int64_t MILLISECOND = 1000000;

/* Whether a timeout in milliseconds has to be converted. */
static bool counts(int timeout)
{
	return timeout > 0 && shim_orders()->lapse.scaled;
}

static int library_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (!counts(timeout))
		return shim_library()->poll(fds, count, timeout);
	struct timespec host = shim_timespec(shim_host_span(timeout * MILLISECOND));
	return shim_library()->ppoll(fds, count, &host, NULL);
}

EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int ready;
	return backend_poll(fds, count, &ready) ? ready : library_poll(fds, count, timeout);
}

/* The host's span for an optional timeout; NULL where it is to be passed on as it is. */
static const struct timespec *host_span(const struct timespec *lab, struct timespec *room)
{
	if (!lab || !shim_is_span(lab) || !shim_orders()->lapse.scaled)
		return lab;
	*room = shim_timespec(shim_host_span(shim_nanoseconds(lab)));
	return room;
}

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	struct timespec room;
	return shim_library()->ppoll(fds, count, host_span(timeout, &room), mask);
}

EXPORT int pselect(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict odd,
		   const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
	struct timespec room;
	return shim_library()->pselect(count, in, out, odd, host_span(timeout, &room), mask);
}

EXPORT int select(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict odd,
		  struct timeval *restrict timeout)
{
	bool scales = timeout && timeout->tv_sec >= 0 && timeout->tv_usec >= 0 && shim_orders()->lapse.scaled;
	if (!scales)
		return shim_library()->select(count, in, out, odd, timeout);
	struct timespec lab = {.tv_sec = timeout->tv_sec, .tv_nsec = timeout->tv_usec * 1000};
	struct timespec host = shim_timespec(shim_host_span(shim_nanoseconds(&lab)) + 999);
	struct timeval left = {.tv_sec = host.tv_sec, .tv_usec = host.tv_nsec / 1000};
	int ready = shim_library()->select(count, in, out, odd, &left);
	/* On Linux it says how much was left. */
	lab = (struct timespec){.tv_sec = left.tv_sec, .tv_nsec = left.tv_usec * 1000};
	lab = shim_timespec(shim_lab_remainder(shim_nanoseconds(&lab)));
	*timeout = (struct timeval){.tv_sec = lab.tv_sec, .tv_usec = lab.tv_nsec / 1000};
	return ready;
}

/* In whole milliseconds, rounded up: epoll knows no others on kernels before 5.11. */
static int host_milliseconds(int timeout)
{
	if (!counts(timeout))
		return timeout;
	int64_t host = (shim_host_span(timeout * MILLISECOND) + MILLISECOND - 1) / MILLISECOND;
	return host > INT_MAX ? INT_MAX : (int)host;
}

EXPORT int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout)
{
	int ready;

	if (interrupt_poll(events, most, &ready))
		return ready;
	return shim_library()->epoll_wait(epoll, events, most, host_milliseconds(timeout));
}

EXPORT int epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout, const sigset_t *mask)
{
	return shim_library()->epoll_pwait(epoll, events, most, host_milliseconds(timeout), mask);
}

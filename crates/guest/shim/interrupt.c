/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Interrupts of devices in virtual time, without a signal and without a system call.
 *
 * A device tells its kernel of frames on a back channel: a pair of sockets, of which the kernel reads one end whenever
 * SIGIO says so. Here both are in one process, and one thread: the message is kept in memory, SIGIO's handler is called
 * like any function, and what it asks of epoll and of the socket is answered from that memory. The kernel cannot tell
 * the difference, except that a signal would come on the stack for signals, and this comes on the stack of the waiting
 * thread.
 *
 * Nothing else raises SIGIO while the handler runs: a kernel in virtual time has no device that the outside world
 * could speak through.
 */
#include "shim.h"
#include "backend.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* vhost-user: requests of the device, to read its configuration anew and to serve one of its queues. */
#define BACKEND_CONFIG_CHANGE 2
#define BACKEND_VRING_CALL 4
#define FLAGS_VERSION 1u

struct __attribute__((packed)) call {
	uint32_t request, flags, size, queue, state;
};

static struct channel {
	int fd;                     /* the end that the kernel reads; 0: there is none */
	struct epoll_event event;   /* how the kernel wants to be told of it */
	bool told;
	uint8_t calls[QUEUES * sizeof(struct call)];
	unsigned from, to;          /* which of their bytes have not been read */
} channels[MOST_DEVICES];
static unsigned channel_count;

/* What the kernel did last: it makes a pair, watches one end, and gives the other to the device. */
static int pair[2];
static int watched;
static struct epoll_event watch;

/* All that the kernel watches up to its checkpoint. A copy would watch it together with its template. */
static struct {
	int fd;
	struct epoll_event event;
} early[16];
static unsigned early_count;
static bool too_many_early;

static struct sigaction handler;
static bool inside;                 /* it was called by us, and runs */

static struct channel *channel_of(int fd)
{
	for (unsigned i = 0; i < channel_count; i++)
		if (channels[i].fd == fd)
			return &channels[i];
	return NULL;
}

bool interrupt_owns(int fd)
{
	return fd > 0 && channel_of(fd);
}

void interrupt_open(unsigned place, int fd)
{
	if (fd != pair[1] || watched != pair[0] || !handler.sa_handler)
		mailbox_broken((uint64_t)fd);
	if (place >= channel_count)
		channel_count = place + 1;
	channels[place] = (struct channel){ .fd = watched, .event = watch, .told = true };
}

/* Puts a request on the channel of a device; whether the kernel listens there. */
static bool request(unsigned place, const void *bytes, size_t length)
{
	struct channel *channel = &channels[place];

	if (!channel->fd)
		return false;
	if (channel->from == channel->to)
		channel->from = channel->to = 0;
	if (length > sizeof(channel->calls) - channel->to)
		mailbox_broken(place);
	memcpy(channel->calls + channel->to, bytes, length);
	channel->to += (unsigned)length;
	channel->told = false;
	return true;
}

bool interrupt_call(unsigned place, unsigned queue)
{
	const struct call call = { BACKEND_VRING_CALL, FLAGS_VERSION, 8, queue, 0 };

	return request(place, &call, sizeof(call));
}

bool interrupt_config(unsigned place)
{
	const uint32_t change[3] = { BACKEND_CONFIG_CHANGE, FLAGS_VERSION, 0 };

	return request(place, change, sizeof(change));
}

void interrupt_raise(void)
{
	static siginfo_t info;
	static ucontext_t context;
	int saved = errno;

	inside = true;
	if (handler.sa_flags & SA_SIGINFO)
		handler.sa_sigaction(SIGIO, &info, &context);
	else
		handler.sa_handler(SIGIO);
	inside = false;
	errno = saved;
}

long interrupt_read(int fd, void *bytes, size_t length)
{
	struct channel *channel = channel_of(fd);
	size_t there = channel->to - channel->from;

	if (!there)
		return -EAGAIN;
	if (length > there)
		length = there;
	memcpy(bytes, channel->calls + channel->from, length);
	channel->from += (unsigned)length;
	return (long)length;
}

bool interrupt_poll(struct epoll_event *events, int most, int *ready)
{
	*ready = 0;
	for (unsigned i = 0; i < channel_count && *ready < most; i++)
		if (channels[i].fd && !channels[i].told) {
			channels[i].told = true;
			events[*ready] = (struct epoll_event){ .events = EPOLLIN, .data = channels[i].event.data };
			++*ready;
		}
	return inside || *ready;
}

/* Whether this descriptor is an instance of epoll. */
static bool is_epoll(int fd)
{
	static const char kind[] = "anon_inode:[eventpoll]";
	char link[32] = "/proc/self/fd/", digits[12], target[sizeof(kind)], *to = link + strlen(link);
	unsigned count = 0;

	do
		digits[count++] = (char)('0' + fd % 10);
	while (fd /= 10);
	while (count)
		*to++ = digits[--count];
	return readlink(link, target, sizeof(target)) == sizeof(kind) - 1 && !memcmp(target, kind, sizeof(kind) - 1);
}

bool interrupt_copied(void)
{
	for (int fd = 0; fd < MOST_DESCRIPTORS; fd++) {
		int fresh;

		if (!is_epoll(fd))
			continue;
		fresh = epoll_create1(EPOLL_CLOEXEC);
		if (fresh < 0 || too_many_early || dup3(fresh, fd, O_CLOEXEC) < 0)
			return false;
		close(fresh);
		for (unsigned i = 0; i < early_count; i++)
			if (syscall(SYS_epoll_ctl, fd, EPOLL_CTL_ADD, early[i].fd, &early[i].event))
				return false;
	}
	return true;
}

/* Keeps what the kernel watches. */
static void note_early(int change, int fd, const struct epoll_event *event)
{
	const unsigned room = sizeof(early) / sizeof(*early);
	unsigned i;

	for (i = 0; i < early_count && early[i].fd != fd; i++)
		;
	if (change == EPOLL_CTL_DEL) {
		if (i < early_count)
			early[i] = early[--early_count];
	} else if (i == room) {
		too_many_early = true;
	} else if (event) {
		early[i].fd = fd;
		early[i].event = *event;
		early_count += i == early_count;
	}
}

/* ---- What the kernel calls ---- */

EXPORT int sigaction(int number, const struct sigaction *restrict new, struct sigaction *restrict old)
{
	if (number == SIGIO && new)
		handler = *new;
	return shim_library()->sigaction(number, new, old);
}

EXPORT int socketpair(int domain, int type, int protocol, int fds[2])
{
	int failed = (int)syscall(SYS_socketpair, domain, type, protocol, fds);

	if (!failed) {
		pair[0] = fds[0];
		pair[1] = fds[1];
	}
	return failed;
}

EXPORT int epoll_ctl(int epoll, int change, int fd, struct epoll_event *event)
{
	int failed = (int)syscall(SYS_epoll_ctl, epoll, change, fd, event);

	if (!failed)
		note_early(change, fd, event);
	if (event && change != EPOLL_CTL_DEL) {
		struct channel *channel = channel_of(fd);

		watched = fd;
		watch = *event;
		if (channel)
			channel->event = *event;
	}
	return failed;
}

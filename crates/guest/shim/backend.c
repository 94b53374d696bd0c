/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Virtual time inside a kernel's process: see backend.h. */
#include "shim.h"
#include "backend.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Paths that no file has: what the kernel connects to under these names is the device backend. */
#define TIME_PATH "/netloom/time"
#define DEVICE_PATH "/netloom/device/"
#define SAMPLES_PATH "/netloom/samples"
#define CHECKPOINT_PATH "/netloom/checkpoint"

/* linux/um_timetravel.h */
enum { OP_ACK, OP_START, OP_REQUEST, OP_WAIT, OP_GET, OP_UPDATE, OP_RUN, OP_FREE_UNTIL, OP_GET_TOD, OP_BROADCAST };

struct time_message {
	uint32_t op;
	uint32_t seq;
	uint64_t time;
};

/* How long a kernel takes to boot by its own clock, at most. */
#define BOOT_TIME UINT64_C(1000000000)

/* Answers that the kernel has not read yet: never more than one per question, and a RUN. */
#define TIME_ANSWERS 8

static struct {
	bool on;                    /* the kernel lives in virtual time */
	bool boots;                 /* it has not come to its checkpoint, and time is its own */
	int control;                /* the socket that tells the scheduler of our end */
	int orders;                 /* the socket of a template; -1: it is none */
	int checkpoint;             /* the descriptor on which the kernel tells that it has come to its checkpoint */
	uint64_t epoch;             /* time of day at virtual time 0 */
	int time;                   /* the descriptor that the kernel takes for its controller's socket */
	uint64_t told;              /* what the kernel's clock shows */
	int waits;                  /* the kernel waits for leave to run */
	unsigned first, count;
	struct time_message answers[TIME_ANSWERS];
} backend = { .control = -1, .orders = -1, .checkpoint = -1, .time = -1 };

static void answer(uint32_t op, uint32_t seq, uint64_t time)
{
	struct time_message *slot;

	if (backend.count == TIME_ANSWERS)
		mailbox_broken(op);
	slot = &backend.answers[(backend.first + backend.count) % TIME_ANSWERS];
	*slot = (struct time_message){ .op = op, .seq = seq, .time = time };
	backend.count++;
}

/* Hands over all frames that are due now, and raises the interrupts. */
static void deliver(void)
{
	struct mailbox_frame *frame;

	for (frame = mailbox_next(); frame && frame->at <= mailbox_state.now; frame = mailbox_next()) {
		const uint8_t *bytes = (const uint8_t *)(frame + 1);

		if (frame->kind != FRAME_PACKET) {
			bool raised;

			if (device_interrupt())
				return; /* the kernel hears of its queues first, at this same instant */
			raised = device_set_carrier(frame->device, frame->kind == FRAME_CARRIER_ON);
			mailbox_taken(frame);
			if (raised)
				return;
			continue;
		}
		if (device_deliver(frame->device, frame, bytes) != DELIVERED) {
			if (device_interrupt())
				return; /* the kernel makes room first, at this same instant */
			mailbox_state.mailbox->unheard++;
		}
		mailbox_taken(frame);
	}
	device_interrupt();
}

/* Lets time pass up to what comes first, the kernel's next wake or a frame. */
static void let_pass(void)
{
	for (;;) {
		struct mailbox_frame *frame = mailbox_next();
		uint64_t next = mailbox_state.next_wake;

		if (frame && frame->at < next)
			next = frame->at;
		if (next < mailbox_state.now)
			next = mailbox_state.now;
		if (next >= mailbox_state.until) {
			mailbox_end_window();
			continue;
		}
		if (next > mailbox_state.now)
			samples_take(mailbox_state.mailbox, backend.told, next);
		mailbox_state.now = next;
		/* An interrupt makes the kernel run at this instant; a frame for a device that is off does not. */
		deliver();
		if (mailbox_state.next_wake <= mailbox_state.now)
			break;
	}
}

/* While a kernel boots, nobody else is there: time passes up to its next wake. */
static void pass_alone(void)
{
	if (mailbox_state.next_wake == NEVER)
		mailbox_broken(OP_WAIT);
	if (mailbox_state.now < mailbox_state.next_wake)
		mailbox_state.now = mailbox_state.next_wake;
}

/* The kernel waits: lets time pass, and lets it run then. */
static void let_run(void)
{
	static uint32_t seq;

	if (backend.boots)
		pass_alone();
	else
		let_pass();
	backend.waits = 0;
	mailbox_state.next_wake = NEVER;
	backend.told = mailbox_state.now;
	answer(OP_RUN, ++seq, mailbox_state.now);
}

/* The kernel says something to its controller. */
static long time_message(const void *bytes, size_t length)
{
	struct time_message message;

	if (length != sizeof(message))
		mailbox_broken(length);
	memcpy(&message, bytes, sizeof(message));
	switch (message.op) {
	case OP_ACK: /* of a RUN */
		break;
	case OP_START:
	case OP_BROADCAST:
		answer(OP_ACK, message.seq, 0);
		break;
	case OP_REQUEST:
		mailbox_state.next_wake = message.time;
		answer(OP_ACK, message.seq, 0);
		break;
	case OP_WAIT:
		backend.waits = 1;
		answer(OP_ACK, message.seq, 0);
		break;
	case OP_GET:
		answer(OP_ACK, message.seq, mailbox_state.now);
		break;
	case OP_UPDATE:
		/* A kernel that has just joined does not know yet what time it is. */
		if (message.time > mailbox_state.now)
			mailbox_state.now = message.time;
		answer(OP_ACK, message.seq, 0);
		break;
	case OP_GET_TOD:
		answer(OP_ACK, message.seq, backend.epoch + mailbox_state.now);
		break;
	default:
		mailbox_broken(message.op);
	}
	return (long)length;
}

static long time_answer(void *bytes, size_t length)
{
	if (!backend.count) {
		if (!backend.waits)
			return -EAGAIN;
		let_run();
	}
	if (length != sizeof(struct time_message))
		mailbox_broken(length);
	memcpy(bytes, &backend.answers[backend.first], sizeof(struct time_message));
	backend.first = (backend.first + 1) % TIME_ANSWERS;
	backend.count--;
	return (long)length;
}

/* A descriptor that can be read but not mapped: the kernel then does without shared memory, which saves nothing here. */
static int unmappable(void)
{
	return (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
}

static ssize_t result(long value)
{
	if (value >= 0)
		return value;
	errno = (int)-value;
	return -1;
}

/* The kernel goes on by this mailbox. */
static void attach(int control, int memory, int doorbell)
{
	mailbox_open(memory, doorbell);
	backend.on = true;
	backend.control = control;
	backend.epoch = mailbox_state.mailbox->epoch;
}

/* The kernel has come to its checkpoint. */
static long go_on(const void *bytes, size_t length)
{
	struct checkpoint_ends ends;

	uint64_t next_wake = mailbox_state.next_wake;

	if (checkpoint_reached(bytes, length, backend.orders, &ends))
		attach(ends.control, ends.mailbox, ends.doorbell);
	backend.boots = false;
	/*
	 * It has something to do just now, and may do it when the scheduler says so. One that begins later than the lab joins it at that
	 * instant: before, it is alone, and its own clock comes up to that by and by.
	 */
	mailbox_state.next_wake = mailbox_lab_now();
	while (mailbox_state.until <= mailbox_lab_now())
		mailbox_end_window();
	mailbox_state.next_wake = next_wake;
	return (long)length;
}

/* Reads decimal numbers with commas between them. */
static void read_numbers(const char *text, uint64_t *numbers, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char *end;

		numbers[i] = strtoull(text, &end, 10);
		text = *end == ',' ? end + 1 : end;
	}
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("NETLOOM_BACKEND"); /* SOCKET,MEMORY,DOORBELL: three descriptors */
	uint64_t numbers[3] = { 0 };

	if (text) {
		read_numbers(text, numbers, 3);
		attach((int)numbers[0], (int)numbers[1], (int)numbers[2]);
		mailbox_state.now = mailbox_state.mailbox->start;
		/* What a kernel gets at its checkpoint, it has not got before. */
		backend.boots = getenv("NETLOOM_REST") != NULL;
		/* It has booted by the time at which it begins, as far as there is time before that. */
		if (backend.boots && mailbox_state.now >= BOOT_TIME)
			mailbox_state.now -= BOOT_TIME;
	}
	text = getenv("NETLOOM_TEMPLATE"); /* SOCKET,START,EPOCH */
	if (text) {
		read_numbers(text, numbers, 3);
		backend.on = true;
		backend.boots = true;
		backend.orders = (int)numbers[0];
		mailbox_state.now = numbers[1];
		backend.epoch = numbers[2];
	}
	backend.told = mailbox_state.now;
}

/* ---- What the kernel calls ---- */

EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	const char *path = ((const struct sockaddr_un *)address)->sun_path;

	if (backend.on && address->sa_family == AF_UNIX) {
		if (!strcmp(path, TIME_PATH)) {
			backend.time = fd;
			return 0;
		}
		if (!strncmp(path, DEVICE_PATH, strlen(DEVICE_PATH)))
			return (int)result(device_connect(fd, (unsigned)strtoul(path + strlen(DEVICE_PATH), NULL, 10)));
		if (!strcmp(path, SAMPLES_PATH)) {
			samples_connect(fd);
			return 0;
		}
		/* One that gets nothing there need not stop there. */
		if (!strcmp(path, CHECKPOINT_PATH) && backend.boots) {
			backend.checkpoint = fd;
			return 0;
		}
	}
	return (int)syscall(SYS_connect, fd, address, length);
}

EXPORT ssize_t read(int fd, void *buffer, size_t length)
{
	if (backend.on) {
		if (fd == backend.time)
			return result(time_answer(buffer, length));
		if (device_owns(fd))
			return result(device_answer(fd, buffer, length));
		if (interrupt_owns(fd))
			return result(interrupt_read(fd, buffer, length));
	}
	return syscall(SYS_read, fd, buffer, length);
}

EXPORT ssize_t write(int fd, const void *buffer, size_t length)
{
	if (backend.on && fd == backend.time)
		return result(time_message(buffer, length));
	if (backend.on && samples_owns(fd))
		return result(samples_tell(buffer, length));
	if (backend.boots && fd == backend.checkpoint)
		return result(go_on(buffer, length));
	return syscall(SYS_write, fd, buffer, length);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	struct cmsghdr *header;
	int fds[2];
	long got;

	if (!backend.on || fd != backend.time)
		return syscall(SYS_recvmsg, fd, message, flags);
	/* The answer to START brings the memory that controller and kernel could share, and a log. */
	got = time_answer(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len);
	fds[0] = unmappable();
	fds[1] = unmappable();
	header = CMSG_FIRSTHDR(message);
	if (!header || message->msg_controllen < CMSG_SPACE(sizeof(fds)))
		mailbox_broken(OP_START);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(header), fds, sizeof(fds));
	return result(got);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	if (backend.on && device_owns(fd)) {
		struct cmsghdr *header = CMSG_FIRSTHDR((struct msghdr *)message);
		unsigned count = 0;
		int fds[2] = { -1, -1 };

		if (header && header->cmsg_type == SCM_RIGHTS) {
			count = (unsigned)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
			if (count > 2)
				count = 2;
			memcpy(fds, CMSG_DATA(header), count * sizeof(int));
		}
		return result(device_message(fd, message->msg_iov[0].iov_base, message->msg_iov[0].iov_len, fds, count));
	}
	return syscall(SYS_sendmsg, fd, message, flags);
}

bool backend_poll(struct pollfd *fds, nfds_t count, int *ready)
{
	bool ours = false;

	if (!backend.on)
		return false;
	*ready = 0;
	for (nfds_t i = 0; i < count; i++) {
		bool has;

		if (fds[i].fd == backend.time)
			has = backend.count > 0 || backend.waits;
		else if (device_owns(fds[i].fd))
			has = device_has_answer(fds[i].fd);
		else
			continue;
		ours = true;
		fds[i].revents = has ? POLLIN : 0;
		*ready += has;
	}
	/* Every question is answered at once, so that the kernel never waits for an answer that is not there. */
	if (ours && !*ready)
		mailbox_broken(count);
	return ours;
}

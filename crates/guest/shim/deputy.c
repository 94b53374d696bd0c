/* Virtual time inside a kernel's process: see deputy.h. */
#include "shim.h"
#include "deputy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Paths that no file has: what the kernel connects to under these names is the deputy. */
#define TIME_PATH "/netloom/time"
#define DEVICE_PATH "/netloom/device/"
#define SAMPLES_PATH "/netloom/samples"

/* linux/um_timetravel.h */
enum { OP_ACK, OP_START, OP_REQUEST, OP_WAIT, OP_GET, OP_UPDATE, OP_RUN, OP_FREE_UNTIL, OP_GET_TOD, OP_BROADCAST };

struct time_message {
	uint32_t op;
	uint32_t seq;
	uint64_t time;
};

/* Answers that the kernel has not read yet: never more than one per question, and a RUN. */
#define TIME_ANSWERS 8

static struct {
	int control;                /* the socket that tells the scheduler of our end; -1: no virtual time */
	int time;                   /* the descriptor that the kernel takes for its controller's socket */
	struct deck *deck;
	struct bell *bell;
	uint64_t now;
	uint64_t told;              /* what the kernel's clock shows */
	uint64_t until;             /* instants before this one may be played */
	uint64_t next_wake;
	int more;                   /* the scheduler holds further frames back */
	int alone;                  /* the first frame that is sent ends the window */
	int waits;                  /* the kernel waits for leave to run */
	uint32_t taken;             /* bytes of `to_kernel` that have reached the kernel */
	unsigned first, count;
	struct time_message answers[TIME_ANSWERS];
} deputy = { .control = -1, .time = -1, .next_wake = NEVER };

long raw_read(int fd, void *buffer, size_t length)
{
	long got = syscall(SYS_read, fd, buffer, length);

	return got < 0 ? -errno : got;
}

long raw_write(int fd, const void *buffer, size_t length)
{
	long put = syscall(SYS_write, fd, buffer, length);

	return put < 0 ? -errno : put;
}

/* The scheduler has gone, and the kernel goes with it. */
static _Noreturn void gone(void)
{
	syscall(SYS_exit_group, 1);
	__builtin_unreachable();
}

static void say(uint32_t kind, uint64_t next_wake)
{
	struct deck *deck = deputy.deck;

	deck->answer = (struct answer){ .kind = kind, .now = deputy.now, .next_wake = next_wake };
	__atomic_store_n(&deck->whose, SCHEDULERS, __ATOMIC_RELEASE);
	__atomic_fetch_add(&deputy.bell->rung, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&deputy.bell->asleep, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &deputy.bell->rung, FUTEX_WAKE, 1);
}

static struct turn await_turn(void)
{
	struct deck *deck = deputy.deck;

	/* If the lab process goes, the machine's kernel ends this one. */
	while (__atomic_load_n(&deck->whose, __ATOMIC_ACQUIRE) == SCHEDULERS)
		syscall(SYS_futex, &deck->whose, FUTEX_WAIT, SCHEDULERS, NULL);
	return deck->turn;
}

_Noreturn void deputy_broken(uint64_t what)
{
	say(ANSWER_BROKEN, what);
	gone();
}

struct deck_frame *deputy_room(uint32_t length)
{
	struct deck_lane *lane = &deputy.deck->from_kernel;
	uint32_t room = deck_frame_room(length);

	if (room > DECK_ROOM)
		deputy_broken(length);
	if (lane->used + room > DECK_ROOM) {
		say(ANSWER_FULL, deputy.next_wake);
		await_turn();
		lane->used = 0;
	}
	return (struct deck_frame *)(lane->frames + lane->used);
}

void deputy_sent(struct deck_frame *frame)
{
	frame->at = deputy.now;
	if (deputy.alone && deputy.until > deputy.now + 1)
		deputy.until = deputy.now + 1;
	deputy_put(frame);
}

void deputy_put(const struct deck_frame *frame)
{
	deputy.deck->from_kernel.used += deck_frame_room(frame->length);
}

/* The next frame for the kernel; null when all have been taken. */
static struct deck_frame *next_frame(void)
{
	struct deck_lane *lane = &deputy.deck->to_kernel;

	if (deputy.taken == lane->used && deputy.more) {
		struct turn turn;

		say(ANSWER_EMPTY, deputy.next_wake);
		turn = await_turn();
		deputy.more = turn.more != 0;
		deputy.taken = 0;
	}
	if (deputy.taken == lane->used)
		return NULL;
	return (struct deck_frame *)(lane->frames + deputy.taken);
}

/* Everything before `until` is done: the scheduler's turn. */
static void end_window(void)
{
	struct turn turn;

	say(ANSWER_DONE, deputy.next_wake);
	turn = await_turn();
	deputy.until = turn.until;
	deputy.alone = turn.kind == TURN_ALONE;
	deputy.more = turn.more != 0;
	deputy.taken = 0;
	deputy.deck->from_kernel.used = 0;
}

static void answer(uint32_t op, uint32_t seq, uint64_t time)
{
	struct time_message *slot;

	if (deputy.count == TIME_ANSWERS)
		deputy_broken(op);
	slot = &deputy.answers[(deputy.first + deputy.count) % TIME_ANSWERS];
	*slot = (struct time_message){ .op = op, .seq = seq, .time = time };
	deputy.count++;
}

/* Hands over all frames that are due now, and raises the interrupts. */
static void deliver(void)
{
	struct deck_frame *frame;

	for (frame = next_frame(); frame && frame->at <= deputy.now; frame = next_frame()) {
		const uint8_t *bytes = (const uint8_t *)(frame + 1);

		if (device_deliver(frame->device, frame, bytes) != DELIVERED) {
			if (device_interrupt())
				return; /* the kernel makes room first, at this same instant */
			deputy.deck->unheard++;
		}
		deputy.taken += deck_frame_room(frame->length);
	}
	device_interrupt();
}

/* The kernel waits: lets time pass up to what comes first, its next wake or a frame, and lets it run then. */
static void let_run(void)
{
	static uint32_t seq;

	for (;;) {
		struct deck_frame *frame = next_frame();
		uint64_t next = deputy.next_wake;

		if (frame && frame->at < next)
			next = frame->at;
		if (next < deputy.now)
			next = deputy.now;
		if (next >= deputy.until) {
			end_window();
			continue;
		}
		if (next > deputy.now)
			samples_take(deputy.deck, deputy.told, next);
		deputy.now = next;
		/* An interrupt makes the kernel run at this instant; a frame for a device that is off does not. */
		deliver();
		if (deputy.next_wake <= deputy.now)
			break;
	}
	deputy.waits = 0;
	deputy.next_wake = NEVER;
	deputy.told = deputy.now;
	answer(OP_RUN, ++seq, deputy.now);
}

/* The kernel says something to its controller. */
static long time_message(const void *bytes, size_t length)
{
	struct time_message message;

	if (length != sizeof(message))
		deputy_broken(length);
	memcpy(&message, bytes, sizeof(message));
	switch (message.op) {
	case OP_ACK: /* of a RUN */
		break;
	case OP_START:
	case OP_BROADCAST:
		answer(OP_ACK, message.seq, 0);
		break;
	case OP_REQUEST:
		deputy.next_wake = message.time;
		answer(OP_ACK, message.seq, 0);
		break;
	case OP_WAIT:
		deputy.waits = 1;
		answer(OP_ACK, message.seq, 0);
		break;
	case OP_GET:
		answer(OP_ACK, message.seq, deputy.now);
		break;
	case OP_UPDATE:
		deputy.now = message.time;
		answer(OP_ACK, message.seq, 0);
		break;
	case OP_GET_TOD:
		answer(OP_ACK, message.seq, deputy.deck->epoch + deputy.now);
		break;
	default:
		deputy_broken(message.op);
	}
	return (long)length;
}

static long time_answer(void *bytes, size_t length)
{
	if (!deputy.count) {
		if (!deputy.waits)
			return -EAGAIN;
		let_run();
	}
	if (length != sizeof(struct time_message))
		deputy_broken(length);
	memcpy(bytes, &deputy.answers[deputy.first], sizeof(struct time_message));
	deputy.first = (deputy.first + 1) % TIME_ANSWERS;
	deputy.count--;
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

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("NETLOOM_DEPUTY"); /* SOCKET,MEMORY,BELL: three descriptors */
	long numbers[3] = { -1, -1, -1 };
	void *deck, *bell;

	if (!text)
		return;
	for (unsigned i = 0; i < 3; i++) {
		char *end;

		numbers[i] = strtol(text, &end, 10);
		text = *end == ',' ? end + 1 : end;
	}
	deck = mmap(NULL, sizeof(struct deck), PROT_READ | PROT_WRITE, MAP_SHARED, (int)numbers[1], 0);
	bell = mmap(NULL, sizeof(struct bell), PROT_READ | PROT_WRITE, MAP_SHARED, (int)numbers[2], 0);
	if (deck == MAP_FAILED || bell == MAP_FAILED || ((struct deck *)deck)->version != DECK_VERSION)
		gone();
	deputy.bell = bell;
	deputy.deck = deck;
	deputy.control = (int)numbers[0];
	deputy.now = deputy.told = deputy.deck->start;
}

/* ---- What the kernel calls ---- */

EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	const char *path = ((const struct sockaddr_un *)address)->sun_path;

	if (deputy.control >= 0 && address->sa_family == AF_UNIX) {
		if (!strcmp(path, TIME_PATH)) {
			deputy.time = fd;
			return 0;
		}
		if (!strncmp(path, DEVICE_PATH, strlen(DEVICE_PATH)))
			return (int)result(device_connect(fd, (unsigned)strtoul(path + strlen(DEVICE_PATH), NULL, 10)));
		if (!strcmp(path, SAMPLES_PATH)) {
			samples_connect(fd);
			return 0;
		}
	}
	return (int)syscall(SYS_connect, fd, address, length);
}

EXPORT ssize_t read(int fd, void *buffer, size_t length)
{
	if (deputy.control >= 0) {
		if (fd == deputy.time)
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
	if (deputy.control >= 0 && fd == deputy.time)
		return result(time_message(buffer, length));
	if (deputy.control >= 0 && samples_owns(fd))
		return result(samples_tell(buffer, length));
	return syscall(SYS_write, fd, buffer, length);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	struct cmsghdr *header;
	int fds[2];
	long got;

	if (deputy.control < 0 || fd != deputy.time)
		return syscall(SYS_recvmsg, fd, message, flags);
	/* The answer to START brings the memory that controller and kernel could share, and a log. */
	got = time_answer(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len);
	fds[0] = unmappable();
	fds[1] = unmappable();
	header = CMSG_FIRSTHDR(message);
	if (!header || message->msg_controllen < CMSG_SPACE(sizeof(fds)))
		deputy_broken(OP_START);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(header), fds, sizeof(fds));
	return result(got);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	if (deputy.control >= 0 && device_owns(fd)) {
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

bool deputy_poll(struct pollfd *fds, nfds_t count, int *ready)
{
	bool ours = false;

	if (deputy.control < 0)
		return false;
	*ready = 0;
	for (nfds_t i = 0; i < count; i++) {
		bool has;

		if (fds[i].fd == deputy.time)
			has = deputy.count > 0 || deputy.waits;
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
		deputy_broken(count);
	return ours;
}

/*
 * The shim's device backend without a kernel: this program is linked with the shim and plays both who calls it, a kernel with one
 * network device, and, in a thread, the scheduler on the other side of the mailbox. It is compiled with sanitizers.
 *
 *   harness frames          frames in both directions arrive as they were sent
 *   harness carrier         a device's link loses its carrier and gets it back, between frames of the same instants
 *   harness samples         are taken at their instants between two at which something happens
 *   harness arithmetic      conversions of time at the ends of their ranges
 *   harness noise SEED N    N kernels that do whatever comes; each ends by itself or as broken, and touches nothing else
 */
#include "../../shim/shim.h"
#include "../../shim/backend.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what)                                                                                                    \
	do {                                                                                                           \
		if (!(what)) {                                                                                         \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                             \
			_exit(2);                                                                                      \
		}                                                                                                      \
	} while (0)

/* ---- The scheduler ---- */

static struct mailbox *mailbox;
static struct doorbell *doorbell;
static uint64_t taken_frames, taken_bytes, unlike;
static unsigned planned; /* frames for the next grant */
static uint64_t until;   /* up to when the kernel may run */
static const unsigned sizes[] = { 100, 5000, 60, 1514 };

static uint8_t pattern(uint64_t i)
{
	return (uint8_t)(i * 7 + 3);
}

static uint16_t carriers[2]; /* what becomes of the carrier behind the first frame of the next grants */

static void put_frames(uint64_t at)
{
	struct mailbox_lane *lane = &mailbox->to_kernel;

	lane->used = 0;
	for (unsigned n = 0; n < planned; n++) {
		struct mailbox_frame *frame = (struct mailbox_frame *)(lane->frames + lane->used);

		if (n == 1 && carriers[0]) {
			*frame++ = (struct mailbox_frame){ .at = at, .kind = carriers[0] };
			lane->used += (uint32_t)sizeof(*frame);
			carriers[0] = carriers[1];
			carriers[1] = 0;
		}

		*frame = (struct mailbox_frame){ .at = at + n, .length = sizes[n % 4], .device = (uint16_t)(n / 4) };
		for (uint32_t i = 0; i < frame->length; i++)
			((uint8_t *)(frame + 1))[i] = pattern(i);
		lane->used += mailbox_frame_room(frame->length);
	}
	planned = 0;
}

static void take_frames(void)
{
	struct mailbox_lane *lane = &mailbox->from_kernel;

	CHECK(lane->used <= MAILBOX_ROOM);
	for (uint32_t at = 0; at < lane->used;) {
		const struct mailbox_frame *frame = (const struct mailbox_frame *)(lane->frames + at);

		CHECK(at + mailbox_frame_room(frame->length) <= lane->used);
		for (uint32_t i = 0; i < frame->length; i++)
			unlike += ((const uint8_t *)(frame + 1))[i] != pattern(i);
		taken_frames++;
		taken_bytes += frame->length;
		at += mailbox_frame_room(frame->length);
	}
}

static void *scheduler(void *unused)
{
	(void)unused;
	for (;;) {
		while (__atomic_load_n(&mailbox->whose, __ATOMIC_ACQUIRE) == BACKENDS_TURN) {
			uint32_t rung = __atomic_load_n(&doorbell->rung, __ATOMIC_SEQ_CST);
			struct timespec patience = { .tv_nsec = 10000000 };

			__atomic_store_n(&doorbell->asleep, 1, __ATOMIC_SEQ_CST);
			if (__atomic_load_n(&mailbox->whose, __ATOMIC_ACQUIRE) == BACKENDS_TURN)
				syscall(SYS_futex, &doorbell->rung, FUTEX_WAIT, rung, &patience);
			__atomic_store_n(&doorbell->asleep, 0, __ATOMIC_SEQ_CST);
		}
		switch (mailbox->answer.kind) {
		case ANSWER_DONE:
			take_frames();
			put_frames(until);
			until += 1000000;
			mailbox->turn = (struct turn){ .kind = TURN_RUN, .until = until };
			break;
		case ANSWER_FULL:
			take_frames();
			mailbox->turn = (struct turn){ .kind = TURN_GO_ON };
			break;
		case ANSWER_EMPTY:
			mailbox->turn = (struct turn){ .kind = TURN_GO_ON };
			break;
		default: /* broken: the process ends by itself */
			return NULL;
		}
		__atomic_store_n(&mailbox->whose, BACKENDS_TURN, __ATOMIC_RELEASE);
		syscall(SYS_futex, &mailbox->whose, FUTEX_WAKE, 1);
	}
}

static void *map(int fd, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(memory != MAP_FAILED);
	return memory;
}

static void prepare(void)
{
	int numbers[3];

	CHECK(sscanf(getenv("NETLOOM_BACKEND"), "%d,%d,%d", numbers, numbers + 1, numbers + 2) == 3);
	mailbox = map(numbers[1], sizeof(struct mailbox));
	doorbell = map(numbers[2], sizeof(struct doorbell));
}

static void start_scheduler(void)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, scheduler, NULL));
}

/* ---- The kernel ---- */

#define BASE 0x60000000ull
#define MEMORY (512u << 10)
#define SIZE 16u
#define BUFFER 2048u
/* Where the parts of the queues are, from the beginning of the memory. */
#define DESCRIPTORS(queue) ((queue) * 0x1000u)
#define AVAILABLE(queue) ((queue) * 0x1000u + 0x400)
#define USED(queue) ((queue) * 0x1000u + 0x800)
#define BUFFERS(queue) (0x4000u + (queue) * 0x20000u)

enum { ACK, START, REQUEST, WAIT, GET, UPDATE, RUN };
struct time_message {
	uint32_t op, seq;
	uint64_t time;
};

static int time_fd, device_fd, memory_fd, epoll_fd, own_end, device_end;
static uint8_t *memory;
static uint64_t now;

static void report_time(uint32_t op, uint64_t time)
{
	struct time_message message = { .op = op, .time = time }, answer;

	CHECK(write(time_fd, &message, sizeof message) == sizeof message);
	if (op == ACK)
		return;
	CHECK(read(time_fd, &answer, sizeof answer) == sizeof answer);
	CHECK(answer.op == ACK);
}

static unsigned changes, calls; /* of the configuration, and for queues */

/* The handler of interrupts, as the kernel's: it reads who calls, and asks to run now. */
static void interrupted(int number)
{
	struct epoll_event events[4];
	uint32_t header[3], rest[2];

	CHECK(number == SIGIO);
	if (epoll_wait(epoll_fd, events, 4, 0) > 0)
		while (read(own_end, header, sizeof header) > 0) {
			CHECK(header[2] <= sizeof rest && (!header[2] || read(own_end, rest, header[2]) == header[2]));
			(header[0] == 2 ? changes++ : calls++);
		}
	report_time(REQUEST, now);
}

static void wait_to_run(uint64_t wake)
{
	struct time_message run, ack = { .op = ACK };

	report_time(REQUEST, wake);
	report_time(WAIT, 0);
	CHECK(read(time_fd, &run, sizeof run) == sizeof run && run.op == RUN);
	CHECK(write(time_fd, &ack, sizeof ack) == sizeof ack);
	now = run.time;
}

static void say(uint32_t request, const uint64_t *words, unsigned count, int fd)
{
	struct __attribute__((packed)) {
		uint32_t request, flags, size;
		uint64_t words[12];
	} message = { .request = request, .flags = 1, .size = count * 8 };
	struct iovec part = { &message, 12 + count * 8 };
	union {
		struct cmsghdr header;
		uint8_t bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr whole = { .msg_iov = &part, .msg_iovlen = 1 };

	memcpy(message.words, words, count * 8);
	if (fd >= 0) {
		control.header = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
		whole.msg_control = &control;
		whole.msg_controllen = sizeof control;
	}
	CHECK(sendmsg(device_fd, &whole, 0) == (ssize_t)part.iov_len);
}

static void connect_to(int fd, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strcpy(address.sun_path, path);
	CHECK(!connect(fd, (struct sockaddr *)&address, sizeof address));
}

static uint16_t *half(uint32_t place)
{
	return (uint16_t *)(memory + place);
}

/* A descriptor: address, length, flags, next. */
static void describe(unsigned queue, unsigned entry, uint64_t offset, uint32_t length, uint16_t flags, uint16_t next)
{
	uint8_t *at = memory + DESCRIPTORS(queue) + 16 * entry;
	uint64_t address = BASE + offset;

	memcpy(at, &address, 8);
	memcpy(at + 8, &length, 4);
	memcpy(at + 12, &flags, 2);
	memcpy(at + 14, &next, 2);
}

static void offer(unsigned queue, uint16_t head)
{
	uint16_t *available = half(AVAILABLE(queue));

	available[2 + available[1] % SIZE] = head;
	available[1]++;
}

static void boot(void)
{
	struct sigaction action = { .sa_handler = interrupted };
	struct epoll_event event = { .events = EPOLLIN };
	int ends[2];

	memory_fd = memfd_create("guest", 0);
	CHECK(!ftruncate(memory_fd, MEMORY));
	memory = map(memory_fd, MEMORY);
	time_fd = socket(AF_UNIX, SOCK_STREAM, 0);
	device_fd = socket(AF_UNIX, SOCK_STREAM, 0);
	connect_to(time_fd, "/netloom/time");
	connect_to(device_fd, "/netloom/device/0");
	CHECK(!sigaction(SIGIO, &action, NULL));
	epoll_fd = epoll_create1(0);
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	own_end = ends[0];
	device_end = ends[1];
	event.data.fd = own_end;
	CHECK(!epoll_ctl(epoll_fd, EPOLL_CTL_ADD, own_end, &event));
}

enum {
	SET_MEM_TABLE = 5, SET_VRING_NUM = 8, SET_VRING_ADDR = 9, SET_VRING_BASE = 10, SET_VRING_ENABLE = 18,
	SET_BACKEND_REQ_FD = 21, GET_CONFIG = 24, VRING_KICK = 35
};

static void set_up_device(void)
{
	uint64_t table[5] = { 1, BASE, MEMORY, 0, 0 };

	say(SET_BACKEND_REQ_FD, table, 0, device_end);
	say(SET_MEM_TABLE, table, 5, memory_fd);
	for (unsigned queue = 0; queue < 2; queue++) {
		uint64_t number = queue | (uint64_t)SIZE << 32, enabled = queue | 1ull << 32;
		uint64_t words[5] = { queue, BASE + DESCRIPTORS(queue), BASE + USED(queue), BASE + AVAILABLE(queue), 0 };

		say(SET_VRING_NUM, &number, 1, -1);
		say(SET_VRING_BASE, words, 1, -1);
		say(SET_VRING_ADDR, words, 5, -1);
		say(SET_VRING_ENABLE, &enabled, 1, -1);
	}
}

/* ---- What is tried ---- */

static void frames(void)
{
	uint16_t *used;
	uint64_t kick = 1;

	boot();
	set_up_device();
	for (uint16_t entry = 0; entry < SIZE; entry++) {
		describe(0, entry, BUFFERS(0) + BUFFER * entry, BUFFER, 2, 0);
		offer(0, entry);
	}
	/* Three frames, the second in three buffers. */
	planned = 3;
	start_scheduler();
	/* The kernel's device is told of each at its instant. */
	for (uint16_t want = 0; want < 5;) {
		wait_to_run(now + 10000000);
		want = half(USED(0))[1];
	}
	used = half(USED(0));
	CHECK(used[1] == 5);
	for (unsigned buffer = 0, frame = 0, done = 0; buffer < 5; buffer++) {
		const uint8_t *bytes = memory + BUFFERS(0) + BUFFER * buffer;
		uint32_t id, length, skip = done ? 0 : 12;

		memcpy(&id, (uint8_t *)used + 4 + 8 * buffer, 4);
		memcpy(&length, (uint8_t *)used + 8 + 8 * buffer, 4);
		CHECK(id == buffer);
		if (!done)
			CHECK(bytes[10] == (frame == 1 ? 3 : 1) && !bytes[11]);
		for (uint32_t i = skip; i < length; i++)
			CHECK(bytes[i] == pattern(done + i - skip));
		done += length - skip;
		if (done == sizes[frame]) {
			frame++;
			done = 0;
		}
	}
	/* And out: 200 frames of 60,000 bytes, more than a mailbox holds, each of two descriptors. */
	for (uint32_t i = 0; i < 60000; i++)
		memory[BUFFERS(1) + 12 + i] = pattern(i);
	describe(1, 0, BUFFERS(1), 7, 1, 1);
	describe(1, 1, BUFFERS(1) + 7, 5 + 60000, 0, 0);
	for (unsigned i = 0; i < 200; i++) {
		offer(1, 0);
		say(VRING_KICK, &kick, 1, -1);
	}
	CHECK(half(USED(1))[1] == 200);
	wait_to_run(now + 10000000);
	CHECK(taken_frames == 200 && taken_bytes == 200 * 60000 && !unlike);
}

#include "samples.h"
#include "carrier.h"

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % below;
}

/* A number that may matter: a small one, one near a limit, an address, or any. */
static uint64_t number(void)
{
	switch (draw(6)) {
	case 0: return draw(4) | draw(40) << 32;
	case 1: return BASE + draw(MEMORY + 64);
	case 2: return BASE + MEMORY - draw(64);
	case 3: return UINT64_MAX - draw(4);
	case 4: return draw(2) | (1ull << draw(20)) << 32;
	default: return draw(1ull << 31) << draw(33);
	}
}

static void noise(uint64_t seed)
{
	static const uint32_t requests[] = { SET_MEM_TABLE, SET_VRING_NUM, SET_VRING_ADDR, SET_VRING_BASE, SET_VRING_ENABLE,
					     VRING_KICK, SET_BACKEND_REQ_FD, GET_CONFIG, 1, 11, 15 };
	uint64_t words[12];

	random_state = seed;
	boot();
	if (draw(4))
		set_up_device();
	planned = (unsigned)draw(8);
	start_scheduler();
	for (unsigned steps = (unsigned)draw(60); steps; steps--)
		switch (draw(5)) {
		case 0: {
			unsigned count = (unsigned)draw(13);

			for (unsigned i = 0; i < count; i++)
				words[i] = number();
			say(draw(8) ? requests[draw(11)] : (uint32_t)draw(64), words, count, draw(3) ? -1 : memory_fd);
			break;
		}
		case 1: /* descriptors */
			describe((unsigned)draw(2), (unsigned)draw(SIZE), draw(8) ? draw(MEMORY) : draw(1ull << 40),
				 (uint32_t)(draw(8) ? draw(70000) : draw(1ull << 31)), (uint16_t)draw(4), (uint16_t)draw(SIZE + 2));
			break;
		case 2: /* rings */
			if (draw(4))
				offer((unsigned)draw(2), (uint16_t)draw(SIZE + 1));
			else
				half(AVAILABLE((unsigned)draw(2)))[1] = (uint16_t)draw(65536);
			break;
		case 3:
			words[0] = draw(3);
			say(VRING_KICK, words, 1, -1);
			break;
		default:
			planned = (unsigned)draw(8);
			wait_to_run(now + draw(3000000));
		}
}

static void many_noises(uint64_t seed, uint64_t count)
{
	uint64_t ended = 0;

	for (uint64_t n = 0; n < count; n++) {
		int status;
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child) {
			mailbox->whose = BACKENDS_TURN;
			alarm(20);
			noise(seed + n);
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child);
		/* 1 is what the device backend ends with when it says that the kernel is broken. */
		if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
			fprintf(stderr, "noise %llu: status %#x\n", (unsigned long long)(seed + n), status);
			_exit(3);
		}
		ended += !WEXITSTATUS(status);
	}
	/* Of so many, some do nothing wrong. */
	CHECK(count < 100 || (ended && ended < count));
	printf("%llu of %llu ended by themselves\n", (unsigned long long)ended, (unsigned long long)count);
}

#include "arithmetic.h"

int main(int count, char **arguments)
{
	CHECK(count >= 2);
	if (!getenv("NETLOOM_BACKEND") && strcmp(arguments[1], "arithmetic")) {
		int ends[2], mailbox_fd = memfd_create("mailbox", 0), doorbell_fd = memfd_create("doorbell", 0);
		char text[64];

		CHECK(!ftruncate(mailbox_fd, sizeof(struct mailbox)) && !ftruncate(doorbell_fd, 4096));
		mailbox = map(mailbox_fd, sizeof(struct mailbox));
		mailbox->version = MAILBOX_VERSION;
		CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
		snprintf(text, sizeof text, "%d,%d,%d", ends[0], mailbox_fd, doorbell_fd);
		setenv("NETLOOM_BACKEND", text, 1);
		execv("/proc/self/exe", arguments);
		CHECK(!"exec");
	}
	if (!strcmp(arguments[1], "arithmetic"))
		return arithmetic(), 0;
	prepare();
	if (!strcmp(arguments[1], "frames"))
		return frames(), 0;
	if (!strcmp(arguments[1], "samples"))
		return samples(), 0;
	if (!strcmp(arguments[1], "carrier"))
		return carrier(), 0;
	CHECK(count == 4);
	many_noises(strtoull(arguments[2], NULL, 10), strtoull(arguments[3], NULL, 10));
	return 0;
}

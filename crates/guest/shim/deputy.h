/*
 * The deputy of the scheduler inside a kernel's process, in virtual time.
 *
 * A kernel in `time-travel=ext` mode asks a controller for leave whenever its time is to advance, and its devices are
 * vhost-user back-ends. The deputy plays both, in the kernel's own process: what the kernel writes to those sockets never
 * leaves it. So advancing to the next timer, receiving a frame and sending one cost no system call and no switch to
 * another process; only the end of a window does.
 *
 * Deputy and scheduler share one segment of memory per kernel (`struct deck`), in which they take turns: the scheduler says
 * up to when the kernel may run and which frames reach it at which instants, the deputy answers when the kernel has done
 * all that, with the frames that it sent. Each sleeps on a word of shared memory meanwhile: the deputy on one of its deck,
 * the scheduler on one that all kernels share (`struct bell`). A socket tells the scheduler when the kernel has gone.
 */
#ifndef NETLOOM_DEPUTY_H
#define NETLOOM_DEPUTY_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

/* Of the layout below; the scheduler's side has the same number. */
#define DECK_VERSION 3

/* No next wake: the kernel waits for frames only. */
#define NEVER UINT64_MAX

/* Room for frames in either direction, in bytes. */
#define DECK_ROOM (4u << 20)

/* A frame in a deck: this header, then `length` bytes, padded to a multiple of eight. */
struct deck_frame {
	uint64_t at;        /* nanoseconds of virtual time */
	uint32_t length;    /* bytes of the frame, without virtio header */
	uint16_t device;
	uint16_t kind;      /* of a frame of SAMPLES_DEVICE: enum sample */
	uint8_t virtio[16]; /* the virtio-net header, 12 bytes of it */
};

/* What samples consist of comes as frames of this device. */
#define SAMPLES_DEVICE 0xffff
enum sample {
	SAMPLE_BEGINS = 0,     /* a sample is taken at this instant; empty */
	SAMPLE_CONNECTION = 1, /* a connection: inet_diag_msg and attributes (linux/inet_diag.h) */
	SAMPLE_OWNER = 2,      /* a socket's inode, and the session of a process that has it open: 32 bits each */
};

struct deck_lane {
	uint32_t used;      /* bytes of `frames` that hold frames */
	uint32_t reserved;
	uint8_t frames[DECK_ROOM];
};

/* What the scheduler says. */
enum turn_kind {
	TURN_RUN = 1,       /* run; `to_kernel` holds frames that all are due before `until` */
	TURN_ALONE = 2,     /* the same, but once the kernel has sent a frame, only that instant is finished */
	TURN_GO_ON = 3,     /* the frames that the deputy handed over are taken, or the missing ones are there */
};

struct turn {
	uint32_t kind;
	uint32_t more;      /* there are further frames due before `until`, which did not fit */
	uint64_t until;     /* all instants before this one may be played */
};

/* What the deputy says. */
enum answer_kind {
	ANSWER_DONE = 1,    /* everything before `until` is done; `next_wake` is when the kernel wants to run next */
	ANSWER_FULL = 2,    /* take the frames in `from_kernel`; the kernel is not done */
	ANSWER_EMPTY = 3,   /* all frames in `to_kernel` were taken; give those that did not fit */
	ANSWER_BROKEN = 4,  /* the kernel did what the deputy does not understand; `next_wake` says what */
};

struct answer {
	uint32_t kind;
	uint32_t reserved;
	uint64_t now;
	uint64_t next_wake;
};

/* Whose turn it is. */
enum whose { DEPUTYS = 0, SCHEDULERS = 1 };

struct deck {
	uint32_t version;
	uint32_t devices;
	uint64_t start;     /* virtual time at which the kernel begins, nanoseconds */
	uint64_t epoch;     /* time of day at virtual time 0, nanoseconds since 1970 */
	uint64_t unheard;   /* frames for devices that had no room, because their interface was down */
	uint32_t whose;     /* enum whose; the deputy sleeps on it */
	uint32_t reserved;
	struct turn turn;   /* what the scheduler said last */
	struct answer answer; /* what the deputy said last */
	uint64_t sample_at; /* when the next sample of TCP connections is due, nanoseconds of virtual time */
	uint64_t sample_step; /* how long after it the one after it is; 0: there are none */
	uint32_t sample_owners; /* whether SAMPLE_OWNER is wanted */
	uint32_t even_more_reserved;
	uint64_t more_reserved[3];
	struct deck_lane to_kernel;
	struct deck_lane from_kernel;
};

/* What all kernels of a lab share. */
struct bell {
	uint32_t rung;      /* how often a deputy has answered; the scheduler sleeps on it */
	uint32_t reserved[15];
	uint32_t asleep;    /* whether it does */
};

/* The scheduler's side counts bytes; a test compares its numbers with all of these. */
_Static_assert(sizeof(struct deck_frame) == 32, "header of a frame");
_Static_assert(offsetof(struct deck, turn) == 40 && offsetof(struct deck, answer) == 56, "turns");
_Static_assert(offsetof(struct deck, sample_at) == 80 && offsetof(struct deck, sample_owners) == 96, "samples");
_Static_assert(offsetof(struct deck, to_kernel) == 128, "header of a deck");
_Static_assert(offsetof(struct bell, asleep) == 64, "a cache line between the words of a bell");

/* Bytes that a frame takes in a deck. */
static inline uint32_t deck_frame_room(uint32_t length)
{
	return (uint32_t)sizeof(struct deck_frame) + ((length + 7) & ~7u);
}

/* System calls past the wrappers of this library; they return what the kernel returns, negative error numbers included. */
long raw_read(int fd, void *buffer, size_t length);
long raw_write(int fd, const void *buffer, size_t length);

/* Looks whether the kernel can read what the deputy plays for it: false when none of the descriptors is the deputy's. */
bool deputy_poll(struct pollfd *fds, nfds_t count, int *ready);

/* Room for a frame that the kernel sends now; waits for the scheduler when the deck is full. */
struct deck_frame *deputy_room(uint32_t length);

/* The frame in the room that was given last is complete; the kernel has sent it, now. */
void deputy_sent(struct deck_frame *frame);
/* The same of one that the kernel has not sent. */
void deputy_put(const struct deck_frame *frame);

/* Ends the run: the kernel did what is not understood. */
_Noreturn void deputy_broken(uint64_t what);

/* The devices, see device.c. */
#define MOST_DEVICES 1001
#define QUEUES 2

/* Whether this descriptor is a device's socket. */
int device_owns(int fd);
/* A socket becomes that of the device at this place. */
int device_connect(int fd, unsigned place);
/* The kernel sends a message. */
long device_message(int fd, const void *bytes, size_t length, const int *fds, unsigned count);
/* Whether an answer waits, and reading it. */
int device_has_answer(int fd);
long device_answer(int fd, void *bytes, size_t length);

/* What became of a frame for a device. */
enum delivery { DELIVERED, NO_ROOM, NO_DEVICE };
enum delivery device_deliver(unsigned place, const struct deck_frame *frame, const uint8_t *bytes);
/* Raises the interrupts that deliveries and sending have caused; returns how many. */
unsigned device_interrupt(void);

/* Samples of TCP connections, see samples.c. */

/* A descriptor becomes the one on which the kernel tells its function; whether this is it; the kernel tells it. */
void samples_connect(int fd);
bool samples_owns(int fd);
long samples_tell(const void *bytes, size_t length);
/* Takes the samples that are due until `next`; the kernel's clock shows `now`, and nothing happens in it in between. */
void samples_take(struct deck *deck, uint64_t now, uint64_t next);

/* Interrupts, see interrupt.c. */

/* The device at this place may speak to the kernel on this descriptor. */
void interrupt_open(unsigned place, int fd);
/* Whether the kernel listens to this device; if so, interrupt_raise is to tell it of this queue. */
bool interrupt_call(unsigned place, unsigned queue);
/* Calls the handler of interrupts; it has done its work when this returns, or remembers to do it. */
void interrupt_raise(void);
/* Whether this is the descriptor on which the kernel hears a device, and reading it. */
bool interrupt_owns(int fd);
long interrupt_read(int fd, void *bytes, size_t length);
/* What epoll is to say; false where the host's has to be asked. */
bool interrupt_poll(struct epoll_event *events, int most, int *ready);

#endif

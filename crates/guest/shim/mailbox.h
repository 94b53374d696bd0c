/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The mailbox: the segment of memory that a device backend and the scheduler share, one per kernel, in which they take turns. The scheduler
 * says up to when the kernel may run and which frames reach it at which instants; the device backend answers when the kernel has done all
 * that, with the frames that it sent. Each sleeps on a word of shared memory meanwhile: the device backend on one of its mailbox, the
 * scheduler on one that all kernels share (`struct doorbell`). A socket tells the scheduler when the kernel has gone.
 *
 * The mailbox knows frames and instants alone: how the kernel hears of them is the business of backend.c.
 */
#ifndef NETLOOM_MAILBOX_H
#define NETLOOM_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of the layout below; the scheduler's side has the same number. */
#define MAILBOX_VERSION 7

/* No next wake: the kernel waits for frames only. */
#define NEVER UINT64_MAX

/* Room for frames in either direction, in bytes. */
#define MAILBOX_ROOM (4u << 20)

/* A frame in a mailbox: this header, then `length` bytes, padded to a multiple of eight. */
struct mailbox_frame {
	uint64_t at;        /* nanoseconds of virtual time */
	uint32_t length;    /* bytes of the frame, without virtio header */
	uint16_t device;
	uint16_t kind;      /* of a frame for the kernel: enum frame; of one of SAMPLES_DEVICE: enum sample */
	uint8_t virtio[16]; /* the virtio-net header, 12 bytes of it */
};

/* What reaches a kernel's device. */
enum frame {
	FRAME_PACKET = 0,      /* a frame of the network */
	FRAME_CARRIER_OFF = 1, /* its link has no carrier from now on; empty */
	FRAME_CARRIER_ON = 2,  /* it has one again; empty */
};

/* What samples consist of comes as frames of this device. */
#define SAMPLES_DEVICE 0xffff
enum sample {
	SAMPLE_BEGINS = 0,     /* a sample is taken at this instant; empty */
	SAMPLE_CONNECTION = 1, /* a connection: inet_diag_msg and attributes (linux/inet_diag.h) */
	SAMPLE_OWNER = 2,      /* a socket's inode, and the session of a process that has it open: 32 bits each */
};

struct mailbox_lane {
	uint32_t used;      /* bytes of `frames` that hold frames */
	uint32_t reserved;
	uint8_t frames[MAILBOX_ROOM];
};

/* What the scheduler says. */
enum turn_kind {
	TURN_RUN = 1,       /* run; `to_kernel` holds frames that all are due before `until` */
	TURN_ALONE = 2,     /* the same, but once the kernel has sent a frame, only that instant is finished */
	TURN_HEED = 4,      /* as RUN, but once the kernel has sent a frame that may be answered at once, only that instant is finished */
	TURN_GO_ON = 3,     /* the frames that the device backend handed over are taken, or the missing ones are there */
};

struct turn {
	uint32_t kind;
	uint32_t more;      /* there are further frames due before `until`, which did not fit */
	uint64_t until;     /* all instants before this one may be played */
};

/* What the device backend says. */
enum answer_kind {
	ANSWER_DONE = 1,    /* everything before `until` is done; `next_wake` is when the kernel wants to run next */
	ANSWER_FULL = 2,    /* take the frames in `from_kernel`; the kernel is not done */
	ANSWER_EMPTY = 3,   /* all frames in `to_kernel` were taken; give those that did not fit */
	ANSWER_BROKEN = 4,  /* the kernel did what the device backend does not understand; `next_wake` says what */
};

struct answer {
	uint32_t kind;
	uint32_t stopped;   /* of DONE: the turn was HEED, and nothing after `now` was done */
	uint64_t now;
	uint64_t next_wake;
};

/* Whose turn it is. */
enum whose { BACKENDS_TURN = 0, SCHEDULERS_TURN = 1 };

/* What the router at the other end of a device's link passes on: IP packets, or segments, of at most `mtu` bytes, to addresses of stretches that are `passed`. */
#define MAILBOX_STRETCHES 1024
struct mailbox_passage {
	uint32_t mtu;
	uint16_t count;     /* of stretches; 0: there is no such router, and nothing is heeded */
	uint8_t time_to_live; /* the least that gets through */
	uint8_t reserved;
	uint8_t mac[6];     /* for which hardware address frames have to be */
	uint8_t more_reserved[2];
	uint64_t starts[MAILBOX_STRETCHES][2]; /* the upper and lower half of the first address, in order; those of IPv4 are ::ffff:0:0/96 */
	uint8_t passed[MAILBOX_STRETCHES];
};
/* The devices, from 0 on, that can have one. */
#define MAILBOX_PASSAGES 16

struct mailbox {
	uint32_t version;
	uint32_t devices;
	uint64_t start;     /* virtual time at which the kernel begins, nanoseconds */
	uint64_t epoch;     /* time of day at virtual time 0, nanoseconds since 1970 */
	uint64_t unheard;   /* frames for devices that had no room, because their interface was down */
	uint32_t whose;     /* enum whose; the device backend sleeps on it */
	uint32_t processor; /* which of the doorbell's counters is this kernel's, from 1; 0: none */
	struct turn turn;   /* what the scheduler said last */
	struct answer answer; /* what the device backend said last */
	uint64_t sample_at; /* when the next sample of TCP connections is due, nanoseconds of virtual time */
	uint64_t sample_step; /* how long after it the one after it is; 0: there are none */
	uint32_t sample_owners; /* whether SAMPLE_OWNER is wanted */
	uint32_t even_more_reserved;
	uint64_t more_reserved[3];
	struct mailbox_lane to_kernel;
	struct mailbox_lane from_kernel;
	struct mailbox_passage passages[MAILBOX_PASSAGES];
};

/* Processors that are counted. */
#define DOORBELL_PROCESSORS 256

/* What all kernels of a lab share. */
struct doorbell {
	uint32_t rung;      /* how often a device backend has answered; the scheduler sleeps on it */
	uint32_t reserved[15];
	uint32_t asleep;    /* whether it does */
	uint32_t processors; /* how many processors kernels run on */
	uint32_t more_reserved[14];
	int32_t running[DOORBELL_PROCESSORS]; /* by processor: how many kernels have been let run there and are not done */
};

/* The scheduler's side counts bytes; a test compares its numbers with all of these. */
_Static_assert(sizeof(struct mailbox_frame) == 32, "header of a frame");
_Static_assert(offsetof(struct mailbox, turn) == 40 && offsetof(struct mailbox, answer) == 56, "turns");
_Static_assert(offsetof(struct mailbox, sample_at) == 80 && offsetof(struct mailbox, sample_owners) == 96, "samples");
_Static_assert(offsetof(struct mailbox, to_kernel) == 128, "header of a mailbox");
_Static_assert(offsetof(struct mailbox_passage, starts) == 16 && sizeof(struct mailbox_passage) == 17424, "passages");
_Static_assert(offsetof(struct mailbox, passages) == 128 + 2 * (8 + MAILBOX_ROOM), "what follows the lanes");
_Static_assert(offsetof(struct doorbell, asleep) == 64, "a cache line between the words of a doorbell");
_Static_assert(offsetof(struct doorbell, running) == 128, "counters of a doorbell");

/* Bytes that a frame takes in a mailbox. */
static inline uint32_t mailbox_frame_room(uint32_t length)
{
	return (uint32_t)sizeof(struct mailbox_frame) + ((length + 7) & ~7u);
}

/* The device backend's side of the mailbox and of the doorbell, and how far the kernel has come. See mailbox.c. */
struct mailbox_state {
	struct mailbox *mailbox;
	struct doorbell *doorbell;
	uint64_t now;
	uint64_t until;             /* instants before this one may be played */
	uint64_t next_wake;         /* when the kernel wants to run next */
	bool more;                  /* the scheduler holds further frames back */
	bool alone;                 /* the first frame that is sent ends the window */
	bool heeding;               /* the first frame that may be answered at once does */
	bool stopped;               /* it did */
	uint32_t taken;             /* bytes of `to_kernel` that have reached the kernel */
	bool counts;                /* the scheduler has counted this turn in the doorbell */
};
extern struct mailbox_state mailbox_state;

/* Maps the memory behind both descriptors and begins; ends the process if it is not what this file describes. */
void mailbox_open(int memory, int doorbell);

/* The next frame for the kernel; null when all have been taken. It counts as taken after mailbox_taken. */
struct mailbox_frame *mailbox_next(void);
void mailbox_taken(const struct mailbox_frame *frame);

/* The instant of the lab: a kernel that boots in the place of another one is alone before the instant at which it joins. */
uint64_t mailbox_lab_now(void);

/* Everything before `until` is done: waits for the scheduler's next window. */
void mailbox_end_window(void);

/* Room for a frame that the kernel sends now; waits for the scheduler when the mailbox is full. */
struct mailbox_frame *mailbox_room(uint32_t length);

/* The frame in the room that was given last is complete; the kernel has sent it, now. */
void mailbox_sent(struct mailbox_frame *frame);
/* The same of one that the kernel has not sent. */
void mailbox_put(const struct mailbox_frame *frame);

/* Ends the run: the kernel did what is not understood. */
_Noreturn void mailbox_broken(uint64_t what);

#endif

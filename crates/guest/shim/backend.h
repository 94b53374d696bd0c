/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The device backend of the scheduler inside a kernel's process, in virtual time.
 *
 * A kernel in `time-travel=ext` mode asks a controller for leave whenever its time is to advance, and its devices are
 * vhost-user back-ends. The device backend plays both, in the kernel's own process: what the kernel writes to those sockets never
 * leaves it. So advancing to the next timer, receiving a frame and sending one cost no system call and no switch to
 * another process; only the end of a window does.
 *
 * Device backend and scheduler share memory, in which they take turns: see mailbox.h.
 */
#ifndef NETLOOM_BACKEND_H
#define NETLOOM_BACKEND_H

#include "mailbox.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

/* Looks whether the kernel can read what the device backend plays for it: false when none of the descriptors is the device backend's. */
bool backend_poll(struct pollfd *fds, nfds_t count, int *ready);

/* The checkpoint, see checkpoint.c. */

/* Descriptors that a kernel has at its checkpoint are far below. */
#define MOST_DESCRIPTORS 128

/* Longest texts of an order. */
#define MOST_TEXT (128u << 10)
/* The mailbox and doorbell of a copy; `control` tells the scheduler of its end. */
struct checkpoint_ends {
	int control, mailbox, doorbell;
};
/*
 * The kernel has come to its checkpoint, and says what `bytes` has. Orders come from this socket, or from the environment if it is -1.
 * Returns whether this process is a copy, whose ends are in `ends`.
 */
bool checkpoint_reached(const void *bytes, size_t length, int orders, struct checkpoint_ends *ends);
/* Where the kernel has this part of its memory; null if it has not said so. */
uint8_t *checkpoint_memory(uint64_t physical, uint64_t size);

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
enum delivery device_deliver(unsigned place, const struct mailbox_frame *frame, const uint8_t *bytes);
/*
 * The link of the device at this place has a carrier from now on, or none; raises an interrupt for that, and says whether it did. No other
 * interrupt may be raised before the kernel has run: its driver sees one cause at a time, and its queues first (`vu_req_interrupt` of
 * arch/um/drivers/virtio_uml.c).
 */
bool device_set_carrier(unsigned place, bool on);
/* Raises the interrupts that deliveries and sending have caused; returns how many. */
unsigned device_interrupt(void);

/* The configuration of devices, see config.c. */
#define CONFIG_SIZE 64u
#define CONFIG_ANSWER (24 + CONFIG_SIZE)
/* Answers a message that reads it, of which at least the header and three words are there; returns how long the answer is. */
unsigned config_answer(uint8_t answer[CONFIG_ANSWER], const void *message, bool unplugged);

/* Samples of TCP connections, see samples.c. */

/* A descriptor becomes the one on which the kernel tells its function; whether this is it; the kernel tells it. */
void samples_connect(int fd);
bool samples_owns(int fd);
long samples_tell(const void *bytes, size_t length);
/* Takes the samples that are due until `next`; the kernel's clock shows `now`, and nothing happens in it in between. */
void samples_take(struct mailbox *mailbox, uint64_t now, uint64_t next);

/* Interrupts, see interrupt.c. */

/* The device at this place may speak to the kernel on this descriptor. */
void interrupt_open(unsigned place, int fd);
/* Whether the kernel listens to this device; if so, interrupt_raise is to tell it of this queue. */
bool interrupt_call(unsigned place, unsigned queue);
/* The same of its configuration, which has changed. */
bool interrupt_config(unsigned place);
/* Calls the handler of interrupts; it has done its work when this returns, or remembers to do it. */
void interrupt_raise(void);
/* Whether this is the descriptor on which the kernel hears a device, and reading it. */
bool interrupt_owns(int fd);
long interrupt_read(int fd, void *bytes, size_t length);
/* This process is a copy: it needs what a process does not inherit. */
bool interrupt_copied(void);
/* What epoll is to say; false where the host's has to be asked. */
bool interrupt_poll(struct epoll_event *events, int most, int *ready);

#endif

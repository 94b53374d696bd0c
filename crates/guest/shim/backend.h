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
/* Raises the interrupts that deliveries and sending have caused; returns how many. */
unsigned device_interrupt(void);

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
/* Calls the handler of interrupts; it has done its work when this returns, or remembers to do it. */
void interrupt_raise(void);
/* Whether this is the descriptor on which the kernel hears a device, and reading it. */
bool interrupt_owns(int fd);
long interrupt_read(int fd, void *bytes, size_t length);
/* What epoll is to say; false where the host's has to be asked. */
bool interrupt_poll(struct epoll_event *events, int most, int *ready);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Samples of TCP connections in virtual time, without a process of the node that takes them: the kernel tells a function that hands
 * over the state of all connections while no time passes (crates/guest/kernel/edits/samples). It is called between two instants at which
 * something happens, for each instant since the first, and for the second, at which a sample is due: nothing has changed there yet.
 * What it hands over goes to the scheduler among the frames, as frames of no device.
 */
#include "shim.h"
#include "backend.h"

#include <string.h>

typedef void put_sample(unsigned int kind, const void *bytes, unsigned int length);

static int samples_fd = -1; /* the descriptor on which the kernel tells its function */
static void (*connections)(unsigned long long ahead, int owners, put_sample *put);
static uint64_t sampled; /* the instant of the sample that is being taken */

void samples_connect(int fd)
{
	samples_fd = fd;
}

bool samples_owns(int fd)
{
	return fd >= 0 && fd == samples_fd;
}

long samples_tell(const void *bytes, size_t length)
{
	if (length != sizeof(connections))
		mailbox_broken(length);
	memcpy(&connections, bytes, sizeof(connections));
	return (long)length;
}

static void put(unsigned int kind, const void *bytes, unsigned int length)
{
	struct mailbox_frame *frame = mailbox_room(length);

	*frame = (struct mailbox_frame){ .at = sampled, .length = length, .device = SAMPLES_DEVICE, .kind = (uint16_t)kind };
	if (length)
		memcpy(frame + 1, bytes, length);
	mailbox_put(frame);
}

void samples_take(struct mailbox *mailbox, uint64_t now, uint64_t next)
{
	while (mailbox->sample_step && mailbox->sample_at <= next) {
		sampled = mailbox->sample_at > now ? mailbox->sample_at : now;
		put(SAMPLE_BEGINS, NULL, 0);
		if (connections)
			connections(sampled - now, mailbox->sample_owners != 0, put);
		if (__builtin_add_overflow(mailbox->sample_at, mailbox->sample_step, &mailbox->sample_at))
			mailbox->sample_at = NEVER;
	}
}

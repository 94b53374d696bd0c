/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The device backend's side of the mailbox: frames go in and out, and turns are taken. See mailbox.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "mailbox.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct mailbox_state mailbox_state = { .next_wake = NEVER };

/* The scheduler has gone, and the kernel goes with it. */
static _Noreturn void gone(void)
{
	syscall(SYS_exit_group, 1);
	__builtin_unreachable();
}

void mailbox_open(int memory, int doorbell)
{
	struct mailbox *mailbox = mmap(NULL, sizeof(struct mailbox), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);

	mailbox_state.doorbell = mmap(NULL, sizeof(struct doorbell), PROT_READ | PROT_WRITE, MAP_SHARED, doorbell, 0);
	if (mailbox == MAP_FAILED || mailbox_state.doorbell == MAP_FAILED || mailbox->version != MAILBOX_VERSION)
		gone();
	mailbox_state.mailbox = mailbox;
}

/*
 * Whether the scheduler has to be woken for an answer. It need not while every processor has a kernel to run and another one
 * behind it: the next one that is done wakes it, and it then finds all answers.
 */
static bool is_urgent(uint32_t kind)
{
	struct doorbell *doorbell = mailbox_state.doorbell;
	uint32_t own = mailbox_state.mailbox->processor, count = doorbell->processors;

	if (kind != ANSWER_DONE || !mailbox_state.counts || !own || own > count || count > DOORBELL_PROCESSORS)
		return true;
	__atomic_fetch_sub(&doorbell->running[own - 1], 1, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < count; i++)
		if (__atomic_load_n(&doorbell->running[i], __ATOMIC_SEQ_CST) < 2)
			return true;
	return false;
}

static void say(uint32_t kind, uint64_t next_wake)
{
	bool urgent;

	struct mailbox *mailbox = mailbox_state.mailbox;

	mailbox->answer = (struct answer){
		.kind = kind, .stopped = mailbox_state.stopped, .now = mailbox_lab_now(), .next_wake = next_wake,
	};
	__atomic_store_n(&mailbox->whose, SCHEDULERS_TURN, __ATOMIC_RELEASE);
	urgent = is_urgent(kind);
	__atomic_fetch_add(&mailbox_state.doorbell->rung, 1, __ATOMIC_SEQ_CST);
	if (urgent && __atomic_load_n(&mailbox_state.doorbell->asleep, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &mailbox_state.doorbell->rung, FUTEX_WAKE, 1);
}

static struct turn await_turn(void)
{
	struct mailbox *mailbox = mailbox_state.mailbox;

	/* If the lab process goes, the machine's kernel ends this one. */
	while (__atomic_load_n(&mailbox->whose, __ATOMIC_ACQUIRE) == SCHEDULERS_TURN)
		syscall(SYS_futex, &mailbox->whose, FUTEX_WAIT, SCHEDULERS_TURN, NULL);
	return mailbox->turn;
}

_Noreturn void mailbox_broken(uint64_t what)
{
	/* A template has none. */
	if (mailbox_state.mailbox)
		say(ANSWER_BROKEN, what);
	gone();
}

struct mailbox_frame *mailbox_room(uint32_t length)
{
	struct mailbox_lane *lane = &mailbox_state.mailbox->from_kernel;
	uint32_t room = mailbox_frame_room(length);

	if (room > MAILBOX_ROOM)
		mailbox_broken(length);
	if (lane->used + room > MAILBOX_ROOM) {
		say(ANSWER_FULL, mailbox_state.next_wake);
		await_turn();
		lane->used = 0;
	}
	return (struct mailbox_frame *)(lane->frames + lane->used);
}

static uint64_t big_endian(const uint8_t *bytes, unsigned count)
{
	uint64_t value = 0;

	while (count--)
		value = value << 8 | *bytes++;
	return value;
}

/* Bytes of the longest IP packet that becomes of a frame: of its first segment, if it is cut (VIRTIO 1.2, section 5.1.6). */
static uint32_t packet_length(const struct mailbox_frame *frame, const uint8_t *bytes)
{
	uint32_t whole = frame->length - 14, transport = 8;
	uint8_t kind = frame->virtio[1] & 0x7f;
	uint16_t size, start;

	memcpy(&size, frame->virtio + 4, sizeof(size));
	memcpy(&start, frame->virtio + 6, sizeof(start));
	if (!kind)
		return whole;
	if (start < 14 || (uint32_t)start + 20 > frame->length)
		return whole;
	if (kind == 1 || kind == 4) /* TCP over IPv4 and IPv6 */
		transport = (bytes[start + 12] >> 4) * 4u;
	start = (uint16_t)(start - 14);
	return whole < start + transport + size ? whole : start + transport + size;
}

/* Whether the router at the other end of the link passes a frame on for certain; `passes` of crates/fabric/src/forwarding_rule.rs. */
static bool is_passed(const struct mailbox_passage *passage, const struct mailbox_frame *frame)
{
	const uint8_t *bytes = (const uint8_t *)(frame + 1), *ip = bytes + 14;
	uint64_t high = 0, low;
	unsigned from = 0, to = passage->count;

	if (frame->length < 14 + 20 || memcmp(bytes, passage->mac, 6) || packet_length(frame, bytes) > passage->mtu)
		return false;
	if (bytes[12] == 0x08 && bytes[13] == 0x00 && ip[0] >> 4 == 4 && (ip[0] & 15) >= 5) {
		if (ip[8] < passage->time_to_live)
			return false;
		low = 0xffffull << 32 | big_endian(ip + 16, 4);
	} else if (bytes[12] == 0x86 && bytes[13] == 0xdd && ip[0] >> 4 == 6 && frame->length >= 14 + 40) {
		/* What bears an address of its link does not leave it. */
		if (ip[7] < passage->time_to_live || (ip[8] == 0xfe && (ip[9] & 0xc0) == 0x80))
			return false;
		high = big_endian(ip + 24, 8);
		low = big_endian(ip + 32, 8);
	} else {
		return false;
	}
	while (to - from > 1) {
		unsigned middle = (from + to) / 2;
		const uint64_t *start = passage->starts[middle];

		if (start[0] < high || (start[0] == high && start[1] <= low))
			from = middle;
		else
			to = middle;
	}
	return passage->passed[from];
}

/* Whether a frame that is sent ends the window. */
static bool ends_window(const struct mailbox_frame *frame)
{
	const struct mailbox_passage *passage;

	if (mailbox_state.alone)
		return true;
	if (!mailbox_state.heeding || frame->device >= MAILBOX_PASSAGES)
		return false;
	passage = &mailbox_state.mailbox->passages[frame->device];
	return passage->count && !is_passed(passage, frame);
}

uint64_t mailbox_lab_now(void)
{
	uint64_t start = mailbox_state.mailbox->start;

	return mailbox_state.now < start ? start : mailbox_state.now;
}

void mailbox_sent(struct mailbox_frame *frame)
{
	frame->at = mailbox_lab_now();
	if (ends_window(frame)) {
		if (mailbox_state.until > frame->at + 1)
			mailbox_state.until = frame->at + 1;
		mailbox_state.stopped = mailbox_state.heeding;
	}
	mailbox_put(frame);
}

void mailbox_put(const struct mailbox_frame *frame)
{
	mailbox_state.mailbox->from_kernel.used += mailbox_frame_room(frame->length);
}

struct mailbox_frame *mailbox_next(void)
{
	struct mailbox_lane *lane = &mailbox_state.mailbox->to_kernel;

	if (mailbox_state.taken == lane->used && mailbox_state.more) {
		struct turn turn;

		say(ANSWER_EMPTY, mailbox_state.next_wake);
		turn = await_turn();
		mailbox_state.more = turn.more != 0;
		mailbox_state.taken = 0;
	}
	if (mailbox_state.taken == lane->used)
		return NULL;
	return (struct mailbox_frame *)(lane->frames + mailbox_state.taken);
}

void mailbox_taken(const struct mailbox_frame *frame)
{
	mailbox_state.taken += mailbox_frame_room(frame->length);
}

void mailbox_end_window(void)
{
	struct turn turn;

	say(ANSWER_DONE, mailbox_state.next_wake);
	turn = await_turn();
	mailbox_state.until = turn.until;
	mailbox_state.alone = turn.kind == TURN_ALONE;
	mailbox_state.counts = true;
	mailbox_state.heeding = turn.kind == TURN_HEED;
	mailbox_state.stopped = false;
	mailbox_state.more = turn.more != 0;
	mailbox_state.taken = 0;
	mailbox_state.mailbox->from_kernel.used = 0;
}

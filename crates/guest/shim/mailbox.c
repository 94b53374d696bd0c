/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The device backend's side of the mailbox: frames go in and out, and turns are taken. See mailbox.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "mailbox.h"

#include <linux/futex.h>
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
	mailbox_state.now = mailbox->start;
}

static void say(uint32_t kind, uint64_t next_wake)
{
	struct mailbox *mailbox = mailbox_state.mailbox;

	mailbox->answer = (struct answer){ .kind = kind, .now = mailbox_state.now, .next_wake = next_wake };
	__atomic_store_n(&mailbox->whose, SCHEDULERS_TURN, __ATOMIC_RELEASE);
	__atomic_fetch_add(&mailbox_state.doorbell->rung, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&mailbox_state.doorbell->asleep, __ATOMIC_SEQ_CST))
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

void mailbox_sent(struct mailbox_frame *frame)
{
	frame->at = mailbox_state.now;
	if (mailbox_state.alone && mailbox_state.until > mailbox_state.now + 1)
		mailbox_state.until = mailbox_state.now + 1;
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
	mailbox_state.more = turn.more != 0;
	mailbox_state.taken = 0;
	mailbox_state.mailbox->from_kernel.used = 0;
}

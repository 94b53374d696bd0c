/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The device backend's side of the deck: frames go in and out, and turns are taken. See deck.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "deck.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct deck_state deck_state = { .next_wake = NEVER };

/* The scheduler has gone, and the kernel goes with it. */
static _Noreturn void gone(void)
{
	syscall(SYS_exit_group, 1);
	__builtin_unreachable();
}

void deck_open(int memory, int bell)
{
	struct deck *deck = mmap(NULL, sizeof(struct deck), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);

	deck_state.bell = mmap(NULL, sizeof(struct bell), PROT_READ | PROT_WRITE, MAP_SHARED, bell, 0);
	if (deck == MAP_FAILED || deck_state.bell == MAP_FAILED || deck->version != DECK_VERSION)
		gone();
	deck_state.deck = deck;
	deck_state.now = deck->start;
}

static void say(uint32_t kind, uint64_t next_wake)
{
	struct deck *deck = deck_state.deck;

	deck->answer = (struct answer){ .kind = kind, .now = deck_state.now, .next_wake = next_wake };
	__atomic_store_n(&deck->whose, SCHEDULERS_TURN, __ATOMIC_RELEASE);
	__atomic_fetch_add(&deck_state.bell->rung, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&deck_state.bell->asleep, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &deck_state.bell->rung, FUTEX_WAKE, 1);
}

static struct turn await_turn(void)
{
	struct deck *deck = deck_state.deck;

	/* If the lab process goes, the machine's kernel ends this one. */
	while (__atomic_load_n(&deck->whose, __ATOMIC_ACQUIRE) == SCHEDULERS_TURN)
		syscall(SYS_futex, &deck->whose, FUTEX_WAIT, SCHEDULERS_TURN, NULL);
	return deck->turn;
}

_Noreturn void deck_broken(uint64_t what)
{
	say(ANSWER_BROKEN, what);
	gone();
}

struct deck_frame *deck_room(uint32_t length)
{
	struct deck_lane *lane = &deck_state.deck->from_kernel;
	uint32_t room = deck_frame_room(length);

	if (room > DECK_ROOM)
		deck_broken(length);
	if (lane->used + room > DECK_ROOM) {
		say(ANSWER_FULL, deck_state.next_wake);
		await_turn();
		lane->used = 0;
	}
	return (struct deck_frame *)(lane->frames + lane->used);
}

void deck_sent(struct deck_frame *frame)
{
	frame->at = deck_state.now;
	if (deck_state.alone && deck_state.until > deck_state.now + 1)
		deck_state.until = deck_state.now + 1;
	deck_put(frame);
}

void deck_put(const struct deck_frame *frame)
{
	deck_state.deck->from_kernel.used += deck_frame_room(frame->length);
}

struct deck_frame *deck_next(void)
{
	struct deck_lane *lane = &deck_state.deck->to_kernel;

	if (deck_state.taken == lane->used && deck_state.more) {
		struct turn turn;

		say(ANSWER_EMPTY, deck_state.next_wake);
		turn = await_turn();
		deck_state.more = turn.more != 0;
		deck_state.taken = 0;
	}
	if (deck_state.taken == lane->used)
		return NULL;
	return (struct deck_frame *)(lane->frames + deck_state.taken);
}

void deck_taken(const struct deck_frame *frame)
{
	deck_state.taken += deck_frame_room(frame->length);
}

void deck_end_window(void)
{
	struct turn turn;

	say(ANSWER_DONE, deck_state.next_wake);
	turn = await_turn();
	deck_state.until = turn.until;
	deck_state.alone = turn.kind == TURN_ALONE;
	deck_state.more = turn.more != 0;
	deck_state.taken = 0;
	deck_state.deck->from_kernel.used = 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#define NETLOOM_MOST_PROCESSORS 1024
#define NETLOOM_WORD (8 * sizeof(unsigned long))

/* The processors that programs may have: NETLOOM_POLL has their numbers, with commas between, where kernels poll. */
static unsigned long netloom_allowed[NETLOOM_MOST_PROCESSORS / NETLOOM_WORD];

static bool netloom_may_poll(void)
{
	static int may = -1;
	unsigned int number = 0, count = 0;
	const char *text;

	if (may >= 0)
		return may;
	for (text = getenv("NETLOOM_POLL"); text && *text; text++) {
		if (*text == ',') {
			number = 0;
			continue;
		}
		number = 10 * number + (*text - '0');
		if ((text[1] && text[1] != ',') || number >= NETLOOM_MOST_PROCESSORS)
			continue;
		netloom_allowed[number / NETLOOM_WORD] |= 1ul << number % NETLOOM_WORD;
		count++;
	}
	may = count > 1;
	return may;
}

/* Lets the process of a program stay on the kernel's processor, or on the others. Returns false if it may not. */
static bool netloom_place(struct mm_id *mm_idp, bool beside)
{
	unsigned long where[NETLOOM_MOST_PROCESSORS / NETLOOM_WORD];
	unsigned int own = 0;

	if (mm_idp->netloom_beside == beside)
		return true;
	syscall(__NR_getcpu, &own, NULL, NULL);
	if (own >= NETLOOM_MOST_PROCESSORS)
		return false;
	memset(where, 0, sizeof(where));
	where[own / NETLOOM_WORD] = 1ul << own % NETLOOM_WORD;
	for (own = 0; beside && own < NETLOOM_MOST_PROCESSORS / NETLOOM_WORD; own++)
		where[own] = netloom_allowed[own] & ~where[own];
	if (syscall(__NR_sched_setaffinity, mm_idp->pid, sizeof(where), where))
		return false;
	mm_idp->netloom_beside = beside;
	return true;
}

/* Decides, before a process goes on, whether it and the kernel poll until its next report. */
static void netloom_rule(struct mm_id *mm_idp)
{
	struct stub_data *data = (void *)mm_idp->stack;
	bool polls = netloom_may_poll() && data->netloom_may_poll && !mm_idp->netloom_rest;

	if (mm_idp->netloom_rest) {
		mm_idp->netloom_rest--;
		netloom_place(mm_idp, false);
	}
	if (polls == mm_idp->netloom_polls || !netloom_place(mm_idp, polls))
		return;
	mm_idp->netloom_polls = polls;
	__WRITE_ONCE(data->netloom_polls, polls);
	__WRITE_ONCE(data->netloom_selector, polls);
}

/* Somebody has polled in vain. */
static void netloom_missed(struct mm_id *mm_idp)
{
	if (++mm_idp->netloom_misses)
		return;
	mm_idp->netloom_rest = (1 << mm_idp->netloom_pause) - 1;
	if (mm_idp->netloom_pause < 14)
		mm_idp->netloom_pause++;
	mm_idp->netloom_hits = 0;
}

/* Polls for a process's report. */
static bool netloom_poll(struct mm_id *mm_idp)
{
	struct stub_data *data = (void *)mm_idp->stack;
	int left;

	if (!mm_idp->netloom_polls)
		return false;
	for (left = NETLOOM_POLLS; left; left--) {
		if (__atomic_load_n(&data->futex, __ATOMIC_ACQUIRE) == FUTEX_IN_KERN) {
			mm_idp->netloom_polled = 1;
			mm_idp->netloom_call.nr = -1;
			if (!++mm_idp->netloom_hits) {
				mm_idp->netloom_misses = 0;
				mm_idp->netloom_pause = 6;
			}
			return true;
		}
		__builtin_ia32_pause();
	}
	netloom_missed(mm_idp);
	/* It shall ask from now on, and not poll. */
	mm_idp->netloom_polls = 0;
	__WRITE_ONCE(data->netloom_selector, 0);
	__WRITE_ONCE(data->netloom_polls, 0);
	return false;
}

/* Lets a process go on that was polled. */
static void netloom_release(struct mm_id *mm_idp)
{
	struct stub_data *data = (void *)mm_idp->stack;
	int polls;

	mm_idp->netloom_polled = 0;
	netloom_rule(mm_idp);
	if (__atomic_exchange_n(&data->futex, FUTEX_IN_CHILD, __ATOMIC_ACQ_REL) != NETLOOM_ASLEEP)
		return;
	polls = mm_idp->netloom_polls;
	mm_idp->netloom_polls = 0;
	if (netloom_hear(mm_idp))
		return;
	mm_idp->netloom_polls = polls;
	netloom_missed(mm_idp);
	netloom_answer(mm_idp, 0);
}

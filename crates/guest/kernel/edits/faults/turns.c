/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* A task that does so many calls in a row while others wait, and never blocks, waits for them: it may spin. */
#define NETLOOM_STREAK 5000
/* So often tasks wait for others without a call of anybody; then one goes on, whoever it waits for. */
#define NETLOOM_YIELDS 100000
/* The rank of a task that is known to take no turns; 0 is one of which nothing is known. */
#define NETLOOM_NO_RANK 1

static unsigned long netloom_yields;

/* Until when a task gets no processor; 0: it may run. */
static u64 netloom_starves(struct netloom_fault *fault, char *line)
{
	struct netloom_order *order = &fault->order;
	u64 now = ktime_get_ns();

	if (netloom_is_over(fault) || !netloom_means(order, current, line))
		return 0;
	if (!order->longest_ns)
		return fault->until ?: now + NSEC_PER_SEC;
	/* Spans of 1, 2, 4 ... times the least; each draws who gets nothing. */
	while (now >= fault->window_end) {
		u64 steps = ilog2(div64_u64(order->longest_ns, order->least_ns)) + 1;
		u64 draw = netloom_mix(order->seed, fault->window++);

		fault->window_end += order->least_ns << (draw % steps);
	}
	if ((netloom_mix(order->seed ^ fault->window, task_pid_nr(current)) >> 32) >= order->share)
		return 0;
	return fault->until ? min(fault->until, fault->window_end) : fault->window_end;
}

/* Gives a task its rank when it comes for the first time. */
static void netloom_rank(struct netloom_fault *fault, char *line)
{
	u64 draw;

	if (current->thread.netloom.rank > NETLOOM_NO_RANK)
		return;
	current->thread.netloom.rank = NETLOOM_NO_RANK;
	if (!netloom_means(&fault->order, current, line))
		return;
	draw = netloom_mix(fault->order.seed, fault->outcome.done++);
	current->thread.netloom.rank = (1ul << 62) | (draw >> 3 & ~0xffful) | (fault->outcome.done & 0xfff);
	current->thread.netloom.streak = 0;
}

/* Whether somebody else that can run has a higher rank, or any rank. One of which nothing is known yet comes here first. */
static bool netloom_waits(bool any)
{
	struct task_struct *process, *task;
	unsigned long own = current->thread.netloom.rank;
	bool found = false;

	rcu_read_lock();
	for_each_process_thread(process, task) {
		unsigned long rank = task->thread.netloom.rank;

		if (task == current || !task_is_running(task) || rank == NETLOOM_NO_RANK || is_global_init(task) ||
		    (task->flags & (PF_KTHREAD | PF_EXITING)))
			continue;
		if (!rank || any || rank > own) {
			found = true;
			goto out;
		}
	}
out:
	rcu_read_unlock();
	return found;
}

static void netloom_drop(void)
{
	current->thread.netloom.rank = --netloom_lowest;
	current->thread.netloom.streak = 0;
}

/* A call of a task that has a rank is an event; at some of them the task drops to the lowest rank. */
static void netloom_count_turn(int nr)
{
	struct netloom_fault *fault;
	unsigned long blocked = current->nvcsw;
	u32 at;

	if (current->thread.netloom.rank <= NETLOOM_NO_RANK)
		return;
	netloom_yields = 0;
	if (current->thread.netloom.wait != blocked)
		current->thread.netloom.streak = 0;
	current->thread.netloom.wait = blocked;
	mutex_lock(&netloom_lock);
	list_for_each_entry(fault, &netloom_faults, list) {
		if (fault->order.type != NETLOOM_TURNS || netloom_is_over(fault))
			continue;
		fault->outcome.seen++;
		for (at = 0; at < fault->order.changes; at++)
			if (netloom_mix(~fault->order.seed, at) % fault->order.within + 1 == fault->outcome.seen)
				netloom_drop();
	}
	mutex_unlock(&netloom_lock);
	if (nr == __NR_sched_yield || (++current->thread.netloom.streak > NETLOOM_STREAK && netloom_waits(true)))
		netloom_drop();
}

/* Keeps a task from running whose turn it is not. Returns whether it waited. */
bool netloom_held(void)
{
	struct netloom_fault *fault;
	bool is_ranked = false;
	ktime_t end;
	u64 until = 0;
	char *line;

	if (likely(!netloom_holds) || !current->mm || is_global_init(current) || fatal_signal_pending(current) ||
	    (current->flags & (PF_KTHREAD | PF_EXITING)))
		return false;
	line = kmalloc(NETLOOM_LINE, GFP_KERNEL);
	if (!line)
		return false;
	mutex_lock(&netloom_lock);
	list_for_each_entry(fault, &netloom_faults, list) {
		if (fault->order.type == NETLOOM_STARVE && !until) {
			until = netloom_starves(fault, line);
			fault->outcome.done += !!until;
		} else if (fault->order.type == NETLOOM_TURNS && !netloom_is_over(fault)) {
			netloom_rank(fault, line);
			is_ranked = true;
		}
	}
	if (!is_ranked)
		current->thread.netloom.rank = 0;
	mutex_unlock(&netloom_lock);
	kfree(line);
	if (until) {
		DEFINE_WAIT(wait);

		end = ns_to_ktime(until);
		prepare_to_wait(&netloom_starved, &wait, TASK_KILLABLE);
		schedule_hrtimeout_range(&end, 0, HRTIMER_MODE_ABS);
		finish_wait(&netloom_starved, &wait);
		return true;
	}
	if (current->thread.netloom.rank <= NETLOOM_NO_RANK || rt_or_dl_task(current) || !netloom_waits(false) ||
	    ++netloom_yields > NETLOOM_YIELDS)
		return false;
	/* The scheduler's own clock goes on, so that it lets others run; the clock of programs does not. */
	tt_extra_sched_jiffies += 1;
	yield();
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The kernel does nothing for this time, not even for interrupts: they come late, at its end. */
static u64 netloom_stall_ns;

static enum hrtimer_restart netloom_stall(struct hrtimer *timer)
{
	time_travel_ndelay(netloom_stall_ns);
	return HRTIMER_NORESTART;
}

static long netloom_begin_stall(u64 span_ns, u64 lead_ns)
{
	static struct hrtimer timer;

	netloom_stall_ns = span_ns;
	hrtimer_setup(&timer, netloom_stall, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hrtimer_start(&timer, ns_to_ktime(lead_ns), HRTIMER_MODE_REL_HARD);
	return 0;
}

/* Runs the kernel's own OOM killer, which chooses the largest process that is meant. Returns its number; 0: there is none. */
static long netloom_oom(struct netloom_order *order)
{
	struct oom_control oc = {
		.zonelist = node_zonelist(first_memory_node, GFP_KERNEL),
		.gfp_mask = GFP_KERNEL,
		.order = -1,
	};
	struct task_struct *task, *chosen = NULL;
	char *line = kmalloc(NETLOOM_LINE, GFP_KERNEL);
	unsigned long size, most = 0;
	struct pid *pid;
	long number = 0;
	short before;
	int nr = 1;

	/* Command lines are read from memory of the processes, which may have to wait. */
	while (line && (pid = find_ge_pid(nr, &init_pid_ns))) {
		nr = pid_nr(pid) + 1;
		task = get_pid_task(pid, PIDTYPE_TGID);
		if (!task)
			continue;
		size = task->mm ? get_mm_rss(task->mm) : 0;
		if (size > most && netloom_means(order, task, line)) {
			if (chosen)
				put_task_struct(chosen);
			chosen = get_task_struct(task);
			most = size;
		}
		put_task_struct(task);
	}
	kfree(line);
	if (!chosen)
		return 0;
	before = chosen->signal->oom_score_adj;
	chosen->signal->oom_score_adj = OOM_SCORE_ADJ_MAX;
	number = task_tgid_nr(chosen);
	mutex_lock(&oom_lock);
	if (!out_of_memory(&oc))
		number = 0;
	mutex_unlock(&oom_lock);
	chosen->signal->oom_score_adj = before;
	put_task_struct(chosen);
	return number;
}

/* Counts anew what the faults do. */
static void netloom_recount(void)
{
	struct netloom_fault *fault;

	netloom_answers = 0;
	netloom_holds = 0;
	list_for_each_entry(fault, &netloom_faults, list) {
		netloom_answers += fault->order.type == NETLOOM_FAIL;
		netloom_holds += fault->order.type != NETLOOM_FAIL;
	}
}

static long netloom_add(struct netloom_order *order)
{
	struct netloom_fault *fault = kzalloc(sizeof(*fault), GFP_KERNEL);
	struct task_struct *process, *task;
	static int last;

	if (!fault)
		return -ENOMEM;
	fault->order = *order;
	fault->id = ++last;
	fault->window_end = ktime_get_ns();
	fault->until = order->span_ns ? fault->window_end + order->span_ns : 0;
	mutex_lock(&netloom_lock);
	if (!netloom_lowest || list_empty(&netloom_faults))
		netloom_lowest = 1ul << 61;
	list_add_tail(&fault->list, &netloom_faults);
	netloom_recount();
	if (order->type == NETLOOM_TURNS) {
		/* Who had a rank draws a new one. */
		rcu_read_lock();
		for_each_process_thread(process, task)
			task->thread.netloom.rank = 0;
		rcu_read_unlock();
	}
	mutex_unlock(&netloom_lock);
	return fault->id;
}

/* Removes a fault, or all of system calls if the number is 0, and says what became of them. */
static long netloom_remove(int id, struct netloom_outcome __user *user)
{
	struct netloom_outcome sum = {};
	struct netloom_fault *fault, *next;
	bool is_found = !id;

	mutex_lock(&netloom_lock);
	list_for_each_entry_safe(fault, next, &netloom_faults, list) {
		if (id ? fault->id != id : fault->order.type != NETLOOM_FAIL)
			continue;
		is_found = true;
		sum.seen += fault->outcome.seen;
		sum.done += fault->outcome.done;
		list_del(&fault->list);
		kfree(fault);
	}
	netloom_recount();
	mutex_unlock(&netloom_lock);
	wake_up_all(&netloom_starved);
	if (!is_found)
		return -ENOENT;
	return copy_to_user(user, &sum, sizeof(sum)) ? -EFAULT : 0;
}

/* What the agent orders by prctl(2). */
long netloom_order(unsigned long what, unsigned long first, unsigned long second);
long netloom_order(unsigned long what, unsigned long first, unsigned long second)
{
	struct netloom_order *order;
	long ret;

	if (what == 2)
		return netloom_remove(first, (void __user *)second);
	if (what == 4)
		return netloom_begin_stall(first, second);
	if ((what != 1 && what != 3) || second != sizeof(*order))
		return -EINVAL;
	order = memdup_user((void __user *)first, sizeof(*order));
	if (IS_ERR(order))
		return PTR_ERR(order);
	order->process[sizeof(order->process) - 1] = 0;
	order->thread[sizeof(order->thread) - 1] = 0;
	order->path[sizeof(order->path) - 1] = 0;
	ret = -EINVAL;
	if (order->kinds <= ARRAY_SIZE(order->kind) && order->within && order->least_ns)
		ret = what == 1 ? netloom_add(order) : netloom_oom(order);
	kfree(order);
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#define NETLOOM_LINE 512

enum { NETLOOM_FAIL = 1, NETLOOM_STARVE, NETLOOM_TURNS };

/* A system call, and which of its arguments are a descriptor, a path, and a number of bytes; -1: none. */
struct netloom_kind {
	u16 nr;
	s8 fd, path, length, spare[3];
};

/* A fault as the agent describes it: see `CallFault` in crates/host. */
struct netloom_order {
	u32 type;
	s32 error;         /* 0: none */
	u64 span_ns;       /* 0: until it is removed */
	u64 nth, times;    /* from the n-th call on; 0 times: any number */
	u64 share;         /* of 2^32 */
	u64 seed;
	u64 most;          /* bytes of a call; 0: any number */
	u64 delay_ns;
	u64 least_ns, longest_ns; /* the spans of starvation */
	u32 changes, within;      /* changes of priority, within so many calls */
	u32 kinds, spare;
	struct netloom_kind kind[72];
	char process[128], thread[16], path[64]; /* patterns; empty: all */
};

/* What became of it. */
struct netloom_outcome {
	u64 seen, done;
};

struct netloom_fault {
	struct list_head list;
	int id;
	u64 until;
	struct netloom_outcome outcome;
	/* The window in which some are starved, and its end. */
	u64 window, window_end;
	struct netloom_order order;
};

static LIST_HEAD(netloom_faults);
static DEFINE_MUTEX(netloom_lock);
static DECLARE_WAIT_QUEUE_HEAD(netloom_starved);
/* How many faults answer calls, and how many decide who runs. */
static int netloom_answers;
extern int netloom_holds;
int netloom_holds;
/* Whoever drops to the lowest rank gets this. */
static unsigned long netloom_lowest;

/* SplitMix64 (Steele, Lea and Flood, 2014). */
static u64 netloom_mix(u64 seed, u64 number)
{
	u64 z = seed + (number + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Whether a text is like a pattern, in which `*` stands for any letters. */
static bool netloom_like(const char *text, const char *pattern)
{
	const char *star = NULL, *rest = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			rest = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++rest;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* Whether a task is meant, by its command line as `ps` shows it. The agent and what is about to become a program are not. */
static bool netloom_means(struct netloom_order *order, struct task_struct *task, char *line)
{
	int length, at;

	if (is_global_init(task) || (task->flags & (PF_KTHREAD | PF_EXITING)))
		return false;
	if ((task->flags & PF_FORKNOEXEC) && is_global_init(task->real_parent) && task->mm &&
	    rcu_access_pointer(task->mm->exe_file) == rcu_access_pointer(task->real_parent->mm->exe_file))
		return false;
	if (order->thread[0] && !netloom_like(task->comm, order->thread))
		return false;
	if (!order->process[0])
		return true;
	length = get_cmdline(task, line, NETLOOM_LINE - 1);
	for (at = 0; at < length; at++)
		if (!line[at])
			line[at] = ' ';
	while (length > 0 && line[length - 1] == ' ')
		length--;
	line[max(length, 0)] = 0;
	return length > 0 && netloom_like(line, order->process);
}

/* Whether the path of a descriptor is like the pattern. */
static bool netloom_file_like(struct file *file, const char *pattern, char *buffer)
{
	char *path = d_path(&file->f_path, buffer, PATH_MAX);

	return !IS_ERR(path) && netloom_like(path, pattern);
}

/* The same of a path that a program gives, seen from a folder. */
static bool netloom_named_like(unsigned long user, int folder, const char *pattern, char *buffer)
{
	char *name = strndup_user((const char __user *)user, PATH_MAX), *place = buffer;
	bool is_like = false;
	struct path from;

	if (IS_ERR(name))
		return false;
	buffer[0] = 0;
	if (name[0] != '/') {
		if (folder == AT_FDCWD) {
			get_fs_pwd(current->fs, &from);
			place = d_path(&from, buffer, PATH_MAX);
			path_put(&from);
		} else {
			struct file *file = fget_raw(folder);

			place = file ? d_path(&file->f_path, buffer, PATH_MAX) : ERR_PTR(-EBADF);
			if (file)
				fput(file);
		}
	}
	if (!IS_ERR(place)) {
		const char *rest = strncmp(name, "./", 2) ? name : name + 2;
		char *whole = kasprintf(GFP_KERNEL, name[0] == '/' || !strcmp(place, "/") ? "%s%s" : "%s/%s",
					strcmp(place, "/") ? place : (name[0] == '/' ? "" : "/"), rest);

		is_like = whole && netloom_like(whole, pattern);
		kfree(whole);
	}
	kfree(name);
	return is_like;
}

static bool netloom_path_like(struct netloom_order *order, struct netloom_kind *kind, unsigned long *args)
{
	char *buffer;
	bool is_like = false;

	if (!order->path[0])
		return true;
	buffer = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!buffer)
		return false;
	if (kind->path >= 0) {
		is_like = netloom_named_like(args[kind->path], kind->fd >= 0 ? (int)args[kind->fd] : AT_FDCWD,
					     order->path, buffer);
	} else if (kind->fd >= 0) {
		struct file *file = fget_raw(args[kind->fd]);

		is_like = file && netloom_file_like(file, order->path, buffer);
		if (file)
			fput(file);
	}
	kfree(buffer);
	return is_like;
}

static bool netloom_is_over(struct netloom_fault *fault)
{
	return fault->until && ktime_get_ns() >= fault->until;
}

/* Whether this call is one of those that fail. All that match count. */
static bool netloom_hits(struct netloom_fault *fault, struct netloom_kind *kind, unsigned long *args, char *line)
{
	struct netloom_order *order = &fault->order;
	struct netloom_outcome *outcome = &fault->outcome;

	if (!netloom_means(order, current, line) || !netloom_path_like(order, kind, args))
		return false;
	outcome->seen++;
	if (outcome->seen < order->nth || (order->times && outcome->done >= order->times))
		return false;
	if ((netloom_mix(order->seed, outcome->seen) >> 32) >= order->share)
		return false;
	outcome->done++;
	return true;
}

/* The fault that this call gets; false: none. */
static bool netloom_find(int nr, unsigned long *args, struct netloom_order *found, struct netloom_kind *which)
{
	struct netloom_fault *fault;
	bool is_found = false;
	char *line = kmalloc(NETLOOM_LINE, GFP_KERNEL);
	int at;

	if (!line)
		return false;
	mutex_lock(&netloom_lock);
	list_for_each_entry(fault, &netloom_faults, list) {
		if (fault->order.type != NETLOOM_FAIL || is_found || netloom_is_over(fault))
			continue;
		for (at = 0; at < fault->order.kinds; at++)
			if (fault->order.kind[at].nr == nr)
				break;
		if (at == fault->order.kinds || !netloom_hits(fault, &fault->order.kind[at], args, line))
			continue;
		*found = fault->order;
		*which = fault->order.kind[at];
		is_found = true;
	}
	mutex_unlock(&netloom_lock);
	kfree(line);
	return is_found;
}

static void netloom_pause(u64 ns)
{
	ktime_t end = ktime_add_ns(ktime_get(), ns);

	while (!fatal_signal_pending(current) && ktime_before(ktime_get(), end)) {
		set_current_state(TASK_KILLABLE);
		schedule_hrtimeout_range(&end, 0, HRTIMER_MODE_ABS);
	}
}

bool netloom_held(void);
static void netloom_count_turn(int nr);

static unsigned long netloom_execute(int nr, struct uml_pt_regs *r)
{
	unsigned long args[6] = { UPT_SYSCALL_ARG1(r), UPT_SYSCALL_ARG2(r), UPT_SYSCALL_ARG3(r),
				  UPT_SYSCALL_ARG4(r), UPT_SYSCALL_ARG5(r), UPT_SYSCALL_ARG6(r) };
	struct netloom_order *found;
	struct netloom_kind which;
	unsigned long ret;
	s32 error = 0;

	if (netloom_holds) {
		netloom_count_turn(nr);
		while (netloom_held())
			cond_resched();
	}
	found = netloom_answers ? kmalloc(sizeof(*found), GFP_KERNEL) : NULL;
	if (found && netloom_find(nr, args, found, &which)) {
		error = found->error;
		if (found->delay_ns)
			netloom_pause(found->delay_ns);
		if (found->most && which.length >= 0)
			args[which.length] = min_t(unsigned long, args[which.length], found->most);
		else
			current->thread.netloom.most = found->most;
	}
	kfree(found);
	if (error && nr == __NR_brk)
		/* It says by where the heap ends that it did not move it. */
		ret = current->mm->brk;
	else if (error)
		ret = -error;
	else
		ret = (*sys_call_table[nr])(args[0], args[1], args[2], args[3], args[4], args[5]);
	current->thread.netloom.most = 0;
	return ret;
}

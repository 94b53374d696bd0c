/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Reads the shim's orders from the environment, and finds the library's own functions. */
#include "shim.h"
#include "places.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The exit code of a process whose orders make no sense: EX_CONFIG of sysexits.h. */
#define BAD_ORDERS 78

/* Of either number of a dilation. An instant has 62 bits, so products and sums stay far within 128. */
#define MOST UINT64_C(1000000000000)

static struct shim_library library;
static struct shim_orders orders;
static bool started;

/* A kernel without the time that it was meant to have must not run. */
void shim_refuse(const char *name, const char *what)
{
	const char *parts[] = {"netloom shim: ", name, what, "\n"};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
			break;
	_exit(BAD_ORDERS);
}

static void *find(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);
	if (!found)
		shim_refuse(name, ": the C library has no such function");
	return found;
}

static void find_library(void)
{
/* POSIX promises that a data pointer can hold a function's address; ISO C does not, hence the copy. */
#define FIND(name)                                                                                                     \
	do {                                                                                                           \
		void *found = find(#name);                                                                             \
		memcpy(&library.name, &found, sizeof found);                                                           \
	} while (0)
	FIND(clock_gettime);
	FIND(timer_create);
	FIND(timer_delete);
	FIND(timer_settime);
	FIND(timer_gettime);
	FIND(setitimer);
	FIND(getitimer);
	FIND(nanosleep);
	FIND(clock_nanosleep);
	FIND(poll);
	FIND(ppoll);
	FIND(select);
	FIND(pselect);
	FIND(epoll_wait);
	FIND(epoll_pwait);
	FIND(sigaction);
	FIND(getrandom);
	FIND(getentropy);
	FIND(rand);
	FIND(srand);
	FIND(random);
	FIND(srandom);
	FIND(ptrace);
	FIND(fopen64);
	FIND(uname);
	FIND(pthread_cond_timedwait);
	FIND(pthread_cond_clockwait);
	FIND(sem_timedwait);
	FIND(sem_clockwait);
#undef FIND
}

/* Reads a decimal number up to `most`; what follows it is left in *rest. Returns whether there is one. */
static bool number(const char *text, uint64_t most, uint64_t *value, const char **rest)
{
	uint64_t sum = 0;
	const char *at = text;
	for (; *at >= '0' && *at <= '9'; at++) {
		uint64_t digit = (uint64_t)(*at - '0');
		if (sum > (most - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	*value = sum;
	*rest = at;
	return at != text;
}

static uint64_t whole_number(const char *name, const char *text, uint64_t most)
{
	uint64_t value;
	const char *rest;
	if (!number(text, most, &value, &rest) || *rest)
		shim_refuse(name, " is not a whole number in decimal digits, or too large");
	return value;
}

static void read_dilation(const char *text)
{
	uint64_t numerator, denominator;
	const char *rest;
	bool fine = number(text, MOST, &numerator, &rest) && *rest == '/' &&
		    number(rest + 1, MOST, &denominator, &rest) && !*rest && numerator && denominator;
	if (!fine)
		shim_refuse("NETLOOM_DILATION", " is not of the form 10/1, with numbers from 1 to 1000000000000");
	orders.lapse.numerator = (int64_t)numerator;
	orders.lapse.denominator = (int64_t)denominator;
}

static void read_orders(void)
{
	const char *dilation = getenv("NETLOOM_DILATION");
	if (dilation) {
		const char *epoch = getenv("NETLOOM_EPOCH");
		const char *wall = getenv("NETLOOM_WALL");
		/* Without a common epoch the clocks of two nodes would differ unnoticed. */
		if (!epoch || !wall)
			shim_refuse("NETLOOM_DILATION", " needs NETLOOM_EPOCH and NETLOOM_WALL beside it");
		read_dilation(dilation);
		/* A quarter of the range: no sum of instants and spans can then overflow. */
		orders.lapse.epoch = (int64_t)whole_number("NETLOOM_EPOCH", epoch, INT64_MAX / 4);
		orders.lapse.wall = (int64_t)whole_number("NETLOOM_WALL", wall, INT64_MAX / 4);
		orders.lapse.scaled = !getenv("NETLOOM_BACKEND");
	}
	orders.machine = getenv("NETLOOM_MACHINE") != NULL;
	const char *seed = getenv("NETLOOM_SEED");
	if (seed) {
		orders.seed = whole_number("NETLOOM_SEED", seed, UINT64_MAX);
		orders.own_seed = orders.seed;
		orders.seeded = true;
	}
	const char *found = getenv("NETLOOM_PLACES");
	if (found && !places_read(found, getenv("TMPDIR")))
		shim_refuse("NETLOOM_PLACES", " is not pairs of lines beside a TMPDIR, or too long");
	const char *root = getenv("NETLOOM_ROOT");
	if (root && !places_root(root))
		shim_refuse("NETLOOM_ROOT", " is not a folder and pairs of lines, or too long");
	const char *record = getenv("NETLOOM_READ");
	if (record)
		places_record((int)whole_number("NETLOOM_READ", record, INT32_MAX));
	/* Up to its checkpoint, a kernel is like any other. */
	if (getenv("NETLOOM_REST") || getenv("NETLOOM_TEMPLATE")) {
		orders.seed = 0;
		orders.seeded = true;
	}
}

/* sched_setattr(2); the C library knows neither the call nor the structure everywhere. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};
#define RESET_ON_FORK 1

/*
 * A kernel hears of frames and timers while one of its programs computes on the same processor. A real machine would interrupt the
 * program. So the kernel asks for the shortest slices, and programs do not inherit them: who has a shorter one comes first when it
 * wakes up (Linux 6.12; older ones ignore it).
 */
static void ask_for_short_slices(void)
{
	struct attributes own = { 0 };

	if (syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) || own.policy != SCHED_OTHER)
		return;
	own.size = sizeof own;
	own.flags |= RESET_ON_FORK;
	own.runtime = 100000;
	syscall(SYS_sched_setattr, 0, &own, 0);
}

static void start(void)
{
	if (started)
		return;
	/* First of all: what follows may call a wrapper. */
	started = true;
	find_library();
	read_orders();
	/*
	 * The host may delay every wait by 50 us to save power: in dilated time that would be seen as 50/N us, in real
	 * time in full. Threads and forks inherit the setting.
	 */
	if (orders.lapse.scaled)
		prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	if (orders.lapse.scaled && !orders.machine)
		ask_for_short_slices();
}

static int clock_by_system_call(clockid_t clock, struct timespec *now)
{
	return (int)syscall(SYS_clock_gettime, clock, now);
}

/*
 * Programs of a kernel that answers `rdtsc` itself (kernel/edits/tsc.c) may not read the processor's counter. To allow and forbid that
 * at each switch between the kernel's process and a program's takes 5 us on some virtual machines, more than the switch. So it is
 * forbidden to both. The C library's clocks read the counter, therefore the kernel asks the machine's kernel for the time.
 */
static __attribute__((constructor)) void forbid_counter(int count, char **arguments)
{
	start();
	for (int i = 0; i < count; i++)
		if (!strcmp(arguments[i], "netloom.tsc=1")) {
			library.clock_gettime = clock_by_system_call;
			prctl(PR_SET_TSC, (unsigned long)PR_TSC_SIGSEGV, 0UL, 0UL, 0UL);
		}
}

/*
 * A kernel that one of its programs reboots starts its own program anew. A node cannot come back: its devices and its agent
 * are connected once. So it ends, with a code that says why (REBOOTED in node/handle.rs).
 */
EXPORT int execvp(const char *file, char *const argv[])
{
	(void)file;
	(void)argv;
	_exit(79);
}

const struct shim_library *shim_library(void)
{
	if (__builtin_expect(!started, 0))
		start();
	return &library;
}

const struct shim_orders *shim_orders(void)
{
	if (__builtin_expect(!started, 0))
		start();
	return &orders;
}

/* Spins without a system call until something happens that takes lab time, and says how often it has looked, and how long. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static volatile int done;
extern const char looks[];

static void alarmed(int signal)
{
	(void)signal;
	done = 1;
}

static void *other(void *unused)
{
	struct timespec span = { .tv_nsec = 5000000 };

	nanosleep(&span, NULL);
	done = 1;
	return unused;
}

static long long now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

int main(int count, char **arguments)
{
	const struct itimerval soon = { .it_value.tv_usec = 5000 };
	const char *how = count > 1 ? arguments[1] : "";
	unsigned long turns = 0;
	pthread_t thread;
	long long begin = now();

	if (!strcmp(how, "where"))
		return printf("%p\n", (const void *)looks) < 0;
	if (!strcmp(how, "thread")) {
		pthread_create(&thread, NULL, other, NULL);
	} else {
		signal(SIGALRM, alarmed);
		setitimer(ITIMER_REAL, &soon, NULL);
	}
	__asm__ volatile("1: inc %0\n\tcmpl $0, %1\nlooks: je 1b" : "+r"(turns) : "m"(done) : "cc", "memory");
	printf("%lu turns in %lld ns\n", turns, now() - begin);
	return 0;
}

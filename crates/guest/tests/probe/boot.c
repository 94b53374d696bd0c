/*
 * Does what a kernel does while it boots: reads the wall clock, makes a timer, has it tick, and begins to count after a
 * while. A program of its own, since the test harness has read clocks long before any test runs.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long nanoseconds(struct timespec time)
{
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long long seen(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return nanoseconds(now);
}

static void host_left(timer_t timer, const char *name)
{
	struct itimerspec left;
	syscall(SYS_timer_gettime, (int)(long)timer, &left);
	printf("%s %lld %lld\n", name, nanoseconds(left.it_value), nanoseconds(left.it_interval));
}

int main(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_NONE};
	struct itimerspec ticks = {.it_value = {.tv_sec = 1}, .it_interval = {.tv_sec = 1000}};
	struct timespec pause = {.tv_nsec = 5000000};
	timer_t timer;

	printf("wall %lld\n", seen(CLOCK_REALTIME));
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &ticks, NULL);
	host_left(timer, "held");
	syscall(SYS_nanosleep, &pause, NULL);
	seen(CLOCK_REALTIME);
	printf("first %lld\n", seen(CLOCK_MONOTONIC));
	host_left(timer, "released");
	printf("second %lld\n", seen(CLOCK_MONOTONIC));
	printf("wall %lld\n", seen(CLOCK_REALTIME));
	return 0;
}

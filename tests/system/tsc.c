/* Prints how far the processor's time stamp counter and the monotonic clock have moved while it slept, both in nanoseconds.
   Then waits by reading the counter alone. */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static long long now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec * 1000000000ll + at.tv_nsec;
}

int main(void)
{
	struct timespec span = { .tv_nsec = 100000000 };
	unsigned int processor = 1;
	unsigned long long first = __rdtsc(), last;
	long long begin = now(), end;

	nanosleep(&span, NULL);
	end = now();
	last = __rdtscp(&processor);
	while (__rdtsc() - last < 100000)
		;
	printf("%llu %lld %u %llu\n", last - first, end - begin, processor, first);
	return 0;
}

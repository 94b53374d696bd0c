/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What is to take the place of what in a file, each once.
 * What a kernel without them is like.
 * In virtual time, reading the clock takes 256 ns, so that a program that waits by looking at the clock again and again
 * gets there. Many do so for a round trip or two (iperf3 before a test), which took tens of thousands of system calls:
 * half of the time that a short transfer took. So the longer a kernel has been busy without hearing of a frame, the more
 * a look costs: 1/64 of that time, up to 5 us. A kernel's own computing takes no time; what passes is such looks alone.
 */

/* netloom: file arch/um/kernel/time.c */
/* netloom: instead of */
static void time_travel_update_time(unsigned long long next, bool idle)
{
	struct
/* netloom: put */
static unsigned long long netloom_busy_since;

static unsigned long long netloom_look(void)
{
	unsigned long long cost = (time_travel_time - netloom_busy_since) >> 6;

	return clamp_t(unsigned long long, cost, TIMER_MULTIPLIER, 20 * TIMER_MULTIPLIER);
}

static void time_travel_update_time(unsigned long long next, bool idle)
{
	struct
/* netloom: end */
/* netloom: instead of */
	time_travel_update_time(next, true);
/* netloom: put */
	time_travel_update_time(next, true);
	netloom_busy_since = time_travel_time;
/* netloom: end */
/* netloom: instead of */
	time_travel_add_event(e, time_travel_time);
}
EXPORT_SYMBOL_GPL(time_travel_add_irq_event);
/* netloom: put */
	netloom_busy_since = time_travel_time;
	time_travel_add_event(e, time_travel_time);
}
EXPORT_SYMBOL_GPL(time_travel_add_irq_event);
/* netloom: end */
/* netloom: instead of */
	time_travel_update_time_rel(TIMER_MULTIPLIER);
/* netloom: put */
	time_travel_update_time_rel(netloom_look());
/* netloom: end */

/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* How much is computed in a row at most, and how long a frame may wait while time passes for it: whole ticks. */
#define NETLOOM_SPAN 999936
#define NETLOOM_PIECE 10240ull
#define NETLOOM_TICK_PS (TIMER_MULTIPLIER * 1000ull)

static unsigned long netloom_branch_cost;
module_param_named(branch, netloom_branch_cost, ulong, 0);
static unsigned long netloom_event;
module_param_named(event, netloom_event, ulong, 0);
static unsigned int netloom_event_type = 4; /* PERF_TYPE_RAW */
module_param_named(event_type, netloom_event_type, uint, 0);
static unsigned long netloom_margin;
module_param_named(margin, netloom_margin, ulong, 0);

/* What branches have cost and has not been paid, in picoseconds; and how many the program may do that runs. */
static unsigned long long netloom_computed;
static unsigned long netloom_most;
static bool netloom_traced;

bool netloom_counts(unsigned int *event_type, unsigned long *event);
bool netloom_counts(unsigned int *event_type, unsigned long *event)
{
	*event_type = netloom_event_type;
	*event = netloom_event;
	return netloom_branch_cost && time_travel_mode == TT_MODE_EXTERNAL;
}

void netloom_count(struct netloom_count *count, int traced);
void netloom_count(struct netloom_count *count, int traced)
{
	struct time_travel_event *next = time_travel_first_event();
	unsigned long long span = NETLOOM_SPAN;

	netloom_most = 0;
	/* The agent is not a program of the node. */
	if (netloom_branch_cost && time_travel_mode == TT_MODE_EXTERNAL && !is_global_init(current)) {
		if (next && next->time < time_travel_time + span)
			span = round_up(next->time - min(next->time, time_travel_time), TIMER_MULTIPLIER);
		span *= 1000;
		netloom_most = span > netloom_computed ?
			(span - netloom_computed - 1) / netloom_branch_cost + 1 : 1;
	}
	netloom_traced = traced;
	count->done = 0;
	count->margin = netloom_margin;
	count->traced = traced;
	count->most = netloom_most;
}

/* Returns whether the program was interrupted by somebody who only asks for its name. */
bool netloom_counted(struct netloom_count *count, bool called, bool interrupted);
bool netloom_counted(struct netloom_count *count, bool called, bool interrupted)
{
	unsigned long done = READ_ONCE(count->done);

	if (!netloom_most)
		return false;
	if (netloom_event && !netloom_traced && done >= netloom_most + interrupted)
		panic("netloom: the processor's counter interrupted a program too late: %lu branches for %lu\n",
		      done, netloom_most);
	done = min(done, netloom_most);
	netloom_computed += (unsigned long long)done * netloom_branch_cost;
	if (!called && done < netloom_most)
		return interrupted;
	while (netloom_computed >= NETLOOM_TICK_PS) {
		unsigned long long paid = min(netloom_computed / 1000, NETLOOM_PIECE);

		paid -= paid % TIMER_MULTIPLIER;
		netloom_computed -= paid * 1000;
		time_travel_update_time_rel(paid);
	}
	return false;
}


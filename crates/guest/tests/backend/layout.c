/* Prints where the fields of a mailbox are, for the scheduler's side to compare. */
#include "../../shim/mailbox.h"

#include <stdio.h>

int main(void)
{
#define FIELD(name) printf("%s %zu\n", #name, offsetof(struct mailbox, name))
	FIELD(version);
	FIELD(devices);
	FIELD(start);
	FIELD(epoch);
	FIELD(unheard);
	FIELD(whose);
	FIELD(processor);
	FIELD(turn);
	FIELD(answer);
	FIELD(sample_at);
	FIELD(sample_step);
	FIELD(sample_owners);
	FIELD(to_kernel);
	FIELD(from_kernel);
	FIELD(passages);
	printf("passage %zu\npassage_starts %zu\npassage_passed %zu\npassages_at_most %u\nstretches_at_most %u\n",
	       sizeof(struct mailbox_passage), offsetof(struct mailbox_passage, starts),
	       offsetof(struct mailbox_passage, passed), MAILBOX_PASSAGES, MAILBOX_STRETCHES);
	printf("size %zu\nlane_header %zu\nframe_header %zu\nroom %u\nrung %zu\nasleep %zu\n"
	       "processors %zu\nrunning %zu\nmost_processors %u\nversion_number %u\n",
	       sizeof(struct mailbox), offsetof(struct mailbox_lane, frames), sizeof(struct mailbox_frame), MAILBOX_ROOM,
	       offsetof(struct doorbell, rung), offsetof(struct doorbell, asleep),
	       offsetof(struct doorbell, processors), offsetof(struct doorbell, running), DOORBELL_PROCESSORS, MAILBOX_VERSION);
	printf("carrier_off %u\ncarrier_on %u\n", FRAME_CARRIER_OFF, FRAME_CARRIER_ON);
	return 0;
}

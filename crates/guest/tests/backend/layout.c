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
	FIELD(turn);
	FIELD(answer);
	FIELD(sample_at);
	FIELD(sample_step);
	FIELD(sample_owners);
	FIELD(to_kernel);
	FIELD(from_kernel);
	printf("size %zu\nlane_header %zu\nframe_header %zu\nroom %u\nrung %zu\nasleep %zu\nversion_number %u\n",
	       sizeof(struct mailbox), offsetof(struct mailbox_lane, frames), sizeof(struct mailbox_frame), MAILBOX_ROOM,
	       offsetof(struct doorbell, rung), offsetof(struct doorbell, asleep), MAILBOX_VERSION);
	return 0;
}

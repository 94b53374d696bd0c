/* Prints where the fields of a deck are, for the scheduler's side to compare. */
#include "../../shim/deck.h"

#include <stdio.h>

int main(void)
{
#define FIELD(name) printf("%s %zu\n", #name, offsetof(struct deck, name))
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
	       sizeof(struct deck), offsetof(struct deck_lane, frames), sizeof(struct deck_frame), DECK_ROOM,
	       offsetof(struct bell, rung), offsetof(struct bell, asleep), DECK_VERSION);
	return 0;
}

/* Says of each frame in a file whether the router of a passage passes it on: `heed FILE`, with the passage first, then the frames. */
#include "../../shim/mailbox.c"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments)
{
	static struct mailbox_passage passage;
	static struct {
		struct mailbox_frame frame;
		uint8_t bytes[1 << 16];
	} sent;
	FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;

	if (!file || fread(&passage, sizeof(passage), 1, file) != 1)
		return 2;
	while (fread(&sent.frame, sizeof(sent.frame), 1, file) == 1) {
		if (sent.frame.length > sizeof(sent.bytes) || fread(sent.bytes, 1, sent.frame.length, file) != sent.frame.length)
			return 3;
		putchar(is_passed(&passage, &sent.frame) ? '1' : '0');
	}
	putchar('\n');
	return fclose(file);
}

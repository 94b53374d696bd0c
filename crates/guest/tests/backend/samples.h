/* A part of harness.c: a kernel whose connections are sampled. */
static unsigned sampled;

static void connections(unsigned long long ahead, int owners, void (*put)(unsigned, const void *, unsigned))
{
	uint64_t words[2] = { now + ahead, (uint64_t)owners };

	put(SAMPLE_CONNECTION, words, sizeof words);
	sampled++;
}

/* Samples every 3 us from 10 us on, while the kernel wakes at 15 and 25 us. */
static void samples(void)
{
	void (*function)(unsigned long long, int, void (*)(unsigned, const void *, unsigned)) = connections;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	const struct mailbox_lane *lane = &mailbox->from_kernel;
	uint64_t due = 10000;
	uint32_t at = 0;

	boot();
	connect_to(fd, "/netloom/samples");
	CHECK(write(fd, &function, sizeof function) == sizeof function);
	mailbox->sample_at = due;
	mailbox->sample_step = 3000;
	mailbox->sample_owners = 1;
	start_scheduler();
	wait_to_run(15000);
	CHECK(now == 15000 && sampled == 2);
	wait_to_run(25000);
	/* The one that is due at that instant shows nothing of what happens at it. */
	CHECK(now == 25000 && sampled == 6);
	for (; at < lane->used; due += 3000) {
		const struct mailbox_frame *begin = (const struct mailbox_frame *)(lane->frames + at), *frame = begin + 1;
		uint64_t words[2];

		CHECK(begin->at == due && begin->device == SAMPLES_DEVICE && begin->kind == SAMPLE_BEGINS && !begin->length);
		CHECK(frame->at == due && frame->device == SAMPLES_DEVICE && frame->kind == SAMPLE_CONNECTION);
		CHECK(frame->length == sizeof words);
		memcpy(words, frame + 1, sizeof words);
		CHECK(words[0] == due && words[1] == 1);
		at += (uint32_t)sizeof *begin + mailbox_frame_room(frame->length);
	}
	CHECK(due == 28000);
}

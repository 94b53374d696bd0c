/* Part of harness.c: carriers. */

/* What the device's configuration says of its link. */
static uint16_t status(void)
{
	const uint64_t words[3] = { 12ull << 32 /* of offset 0, 12 bytes */ };
	uint8_t answer[64];
	uint16_t value;

	say(GET_CONFIG, words, 3, -1);
	CHECK(read(device_fd, answer, sizeof answer) == 12 + 24);
	memcpy(&value, answer + 24 + 6, sizeof value);
	return value;
}

/* Runs at the next instant at which there is something to do, and says whether that was in the queues or in the configuration. */
static void hear(uint64_t at, unsigned of_queues, unsigned of_configuration)
{
	calls = changes = 0;
	wait_to_run(at + 500000);
	CHECK(now == at && calls == of_queues && changes == of_configuration);
}

static void carrier(void)
{
	boot();
	set_up_device();
	for (uint16_t entry = 0; entry < SIZE; entry++) {
		describe(0, entry, BUFFERS(0) + BUFFER * entry, BUFFER, 2, 0);
		offer(0, entry);
	}
	CHECK(status() == 1);
	planned = 2;
	carriers[0] = FRAME_CARRIER_OFF;
	until = 1000000;
	start_scheduler();
	/* Between both frames, which are of instants that follow each other, and by itself: a driver that hears of both sees the queue alone. */
	hear(1000000, 1, 0);
	CHECK(status() == 1);
	hear(1000000, 0, 1);
	CHECK(!status() && half(USED(0))[1] == 1);
	hear(1000001, 1, 0);
	CHECK(!status() && half(USED(0))[1] == 4);
	planned = 2;
	carriers[0] = FRAME_CARRIER_ON;
	/* The rest of the window passes, and the next begins. */
	wait_to_run(1900000);
	calls = changes = 0;
	hear(2000000, 1, 0);
	CHECK(!status());
	hear(2000000, 0, 1);
	CHECK(status() == 1);
	/* What is so already is no change. */
	hear(2000001, 1, 0);
	planned = 2;
	carriers[0] = FRAME_CARRIER_ON;
	wait_to_run(2900000);
	hear(3000000, 1, 0);
	hear(3000001, 1, 0);
	CHECK(status() == 1 && !mailbox->unheard);
}

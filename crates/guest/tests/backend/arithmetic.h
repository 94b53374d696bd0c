/* Part of harness.c: conversions of time at the ends of their ranges. */
static void arithmetic(void)
{
	static const int64_t values[] = { INT64_MIN, -1, 0, 1, 999999999, INT64_MAX / 4, INT64_MAX - 1, INT64_MAX };
	const struct timespec spans[] = { { 0, 0 }, { 0, 999999999 }, { INT64_MAX, 999999999 }, { INT64_MIN, 0 }, { -1, 5 },
					  { 0, -1 }, { 1, 1000000000 } };

	for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
		shim_lab_instant(values[i]);
		shim_host_instant(SHIM_LAB, values[i]);
		shim_host_instant(SHIM_WALL, values[i]);
		shim_host_span(values[i]);
		shim_host_period(values[i]);
		shim_lab_remainder(values[i]);
		shim_timespec(values[i]);
	}
	for (unsigned i = 0; i < sizeof spans / sizeof *spans; i++) {
		shim_is_span(&spans[i]);
		shim_nanoseconds(&spans[i]);
	}
}

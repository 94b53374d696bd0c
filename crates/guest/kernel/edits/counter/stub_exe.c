/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
	/* The counter of branches is descriptor 1, which was closed; its signal is SIGALRM. */
	if (init_data.event) {
		/* struct perf_event_attr; a breakpoint (type 5, for tests) has an address in the place of a number. */
		unsigned long attr[9] = { init_data.event_type | (unsigned long)sizeof(attr) << 32 };
		struct { int type, pid; } own = { 0 /* F_OWNER_TID */ };

		attr[2] = 1ul << 60;
		attr[5] = 1 | 1 << 2 | 1 << 5 | 1 << 6; /* disabled, pinned, without this machine's kernel and hypervisor */
		attr[init_data.event_type == 5 ? 7 : 1] = init_data.event;
		if (init_data.event_type == 5) {
			attr[6] = 4ul << 32;
			attr[8] = sizeof(long);
		}
		own.pid = stub_syscall0(__NR_gettid);
		if (stub_syscall5(__NR_perf_event_open, (unsigned long)attr, 0, -1, -1, 0) != 1 ||
		    stub_syscall3(__NR_fcntl, 1, 15 /* F_SETOWN_EX */, (unsigned long)&own) ||
		    stub_syscall3(__NR_fcntl, 1, 10 /* F_SETSIG */, SIGALRM) ||
		    stub_syscall3(__NR_fcntl, 1, F_SETFL, O_ASYNC))
			stub_syscall1(__NR_exit, 22);
	}


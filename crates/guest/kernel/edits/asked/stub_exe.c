/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
		/*
		 * Calls that are reported by a signal: those that need or change registers, or all of a program's memory, or after
		 * which mostly another thread of it runs. All others are notified.
		 */
		static const unsigned short by_signal[] = {
			__NR_mmap, __NR_munmap, __NR_mprotect, __NR_brk, __NR_madvise, __NR_mremap, __NR_exit, __NR_exit_group,
			__NR_rt_sigreturn, __NR_rt_sigsuspend, __NR_sigaltstack, __NR_clone, __NR_clone3, __NR_fork, __NR_vfork,
			__NR_execve, __NR_execveat, __NR_arch_prctl, __NR_set_thread_area, __NR_modify_ldt, __NR_iopl, __NR_ioperm,
			__NR_ptrace, __NR_shmat, __NR_shmdt, __NR_remap_file_pages, __NR_pkey_mprotect, __NR_pause,
			/* The checkpoint (copy.c), from which a process is made anew with its registers. */
			__NR_reboot,
		};
		enum { CALLS_BY_SIGNAL = sizeof(by_signal) / sizeof(by_signal[0]) };
		struct sock_filter asking[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, init_data.stub_start >> 32, 0, 17),
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
			BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xfffff000),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, init_data.stub_start & 0xfffff000, 0, 14),

			/* The code that is the kernel's in the process. */
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UM_SECCOMP_ARCH_NATIVE, 0, 11),
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getppid, 8, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_rt_sigreturn, 6, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_futex, 5, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_recvmsg, 4, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_close, 3, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, STUB_MMAP_NR, 2, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_munmap, 1, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_arch_prctl, 0, 2),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),

			/* The program: a notification, unless a jump leads to the last line. */
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UM_SECCOMP_ARCH_NATIVE, 0, CALLS_BY_SIGNAL + 6),
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			[22 ... 22 + CALLS_BY_SIGNAL - 1] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 0),
			/* Who waits by a futex lets another thread run, who wakes mostly goes on. */
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_futex, 0, 3),
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
			BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x7f /* FUTEX_CMD_MASK */),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1 /* FUTEX_WAKE */, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		};
		struct sock_fprog asking_prog = {
			.len = sizeof(asking) / sizeof(asking[0]),
			.filter = asking,
		};

		for (int i = 0; i < CALLS_BY_SIGNAL; i++) {
			asking[22 + i].k = by_signal[i];
			asking[22 + i].jt = CALLS_BY_SIGNAL - 1 - i + 5;
		}

		/* The notifications are descriptor 1, which was closed. */
		if (init_data.netloom_asks &&
		    stub_syscall3(__NR_seccomp, SECCOMP_SET_MODE_FILTER,
				  8 /* NEW_LISTENER */ | 32 /* WAIT_KILLABLE_RECV */ |
				  4 /* SPEC_ALLOW */,
				  (unsigned long)&asking_prog) == 1)
			stub_syscall1(__NR_exit, 30);


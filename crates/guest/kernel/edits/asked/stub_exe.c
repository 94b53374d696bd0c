/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
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

			/* The program. */
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UM_SECCOMP_ARCH_NATIVE, 0, 44),
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_read, 43, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_pselect6, 42, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_write, 41, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_recvfrom, 40, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sendto, 39, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_epoll_wait, 38, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_poll, 37, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_recvmsg, 36, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sendmsg, 35, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ppoll, 34, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_epoll_pwait, 33, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_select, 32, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_recvmmsg, 31, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sendmmsg, 30, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_readv, 29, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_writev, 28, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_pread64, 27, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_pwrite64, 26, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_lseek, 25, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clock_gettime, 24, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_gettimeofday, 23, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_nanosleep, 22, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clock_nanosleep, 21, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_accept, 20, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_accept4, 19, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_connect, 18, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 17, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_bind, 16, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_setsockopt, 15, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getsockopt, 14, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_epoll_ctl, 13, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fcntl, 12, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl, 11, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_close, 10, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 9, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_open, 8, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fstat, 7, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_newfstatat, 6, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_stat, 5, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_access, 4, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getdents64, 3, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sched_yield, 2, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getpid, 1, 0),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		};
		struct sock_fprog asking_prog = {
			.len = sizeof(asking) / sizeof(asking[0]),
			.filter = asking,
		};

		/* The selector is off until the kernel polls. */
		if (init_data.netloom_asks) {
			struct stub_data *own = (void *)init_data.stub_start + UM_KERN_PAGE_SIZE;

			own->netloom_may_poll = !stub_syscall5(__NR_prctl, 59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1,
							       init_data.stub_start, UM_KERN_PAGE_SIZE,
							       (unsigned long)&own->netloom_selector);
		}

		/* The notifications are descriptor 1, which was closed. */
		if (init_data.netloom_asks &&
		    stub_syscall3(__NR_seccomp, SECCOMP_SET_MODE_FILTER,
				  8 /* NEW_LISTENER */ | 32 /* WAIT_KILLABLE_RECV */ |
				  4 /* SPEC_ALLOW */,
				  (unsigned long)&asking_prog) == 1)
			stub_syscall1(__NR_exit, 30);


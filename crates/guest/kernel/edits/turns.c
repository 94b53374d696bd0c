/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * A kernel and a process of its programs take turns, and each sleeps when it has woken the other. On one processor the
 * one that was woken mostly runs at once, and has even answered when the other comes to sleep: so that looks first, and
 * spares a call to the machine's kernel. These are the process's end, and the kernel's.
 */

/* netloom: file arch/um/kernel/skas/stub.c */
/* netloom: instead of */
	do {
		res = stub_syscall4(__NR_futex, (unsigned long)&d->futex,
				    FUTEX_WAIT, FUTEX_IN_KERN, 0);
	} while (res == -EINTR || d->futex == FUTEX_IN_KERN);
/* netloom: put */
	res = 0;
	while (*(volatile __typeof__(d->futex) *)&d->futex == FUTEX_IN_KERN) {
		res = stub_syscall4(__NR_futex, (unsigned long)&d->futex,
				    FUTEX_WAIT, FUTEX_IN_KERN, 0);
		if (res == -EINTR)
			res = 0;
	}
/* netloom: end */

/* netloom: file arch/um/os-Linux/skas/process.c */
/* netloom: instead of */
			ret = syscall(__NR_futex, &data->futex,
				      FUTEX_WAIT, FUTEX_IN_CHILD,
/* netloom: put */
			if (__READ_ONCE(data->futex) != FUTEX_IN_CHILD)
				break;
			ret = syscall(__NR_futex, &data->futex,
				      FUTEX_WAIT, FUTEX_IN_CHILD,
/* netloom: end */

/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
		if (*(volatile char *)&d->netloom_polls) {
			int left = NETLOOM_POLLS;

			__atomic_store_n(&d->futex, FUTEX_IN_KERN, __ATOMIC_RELEASE);
			while (*(volatile char *)&d->netloom_polls && left--) {
				if (__atomic_load_n(&d->futex, __ATOMIC_ACQUIRE) == FUTEX_IN_CHILD) {
					res = 0;
					goto netloom_answered;
				}
				__builtin_ia32_pause();
			}
			if (__sync_val_compare_and_swap(&d->futex, FUTEX_IN_KERN, NETLOOM_ASLEEP) != FUTEX_IN_KERN) {
				res = 0;
				goto netloom_answered;
			}
		}

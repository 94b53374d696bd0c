/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What the parts of the shim share. The shim is preloaded into the process of a kernel (User-Mode Linux) or of a virtual machine
 * (QEMU) and stands between it and the C library, which is where both get their time, and such a kernel its randomness.
 *
 * Every wrapper may be called before any constructor has run, from a signal handler, and on a kernel stack of 16 KB.
 * So: no memory is allocated, nothing is looked up late, nothing large is put on the stack, nothing is locked.
 */
#ifndef NETLOOM_SHIM_H
#define NETLOOM_SHIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <time.h>

/* Everything else is hidden (-fvisibility=hidden): only wrappers may take the place of the library's functions. */
#define EXPORT __attribute__((visibility("default")))

/* The library's own functions, found by the constructor. */
struct shim_library {
	int (*clock_gettime)(clockid_t, struct timespec *);
	int (*timer_create)(clockid_t, struct sigevent *, timer_t *);
	int (*timer_delete)(timer_t);
	int (*timer_settime)(timer_t, int, const struct itimerspec *, struct itimerspec *);
	int (*timer_gettime)(timer_t, struct itimerspec *);
	int (*setitimer)(int, const struct itimerval *, struct itimerval *);
	int (*getitimer)(int, struct itimerval *);
	int (*nanosleep)(const struct timespec *, struct timespec *);
	int (*clock_nanosleep)(clockid_t, int, const struct timespec *, struct timespec *);
	int (*poll)(struct pollfd *, nfds_t, int);
	int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
	int (*select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
	int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
	int (*epoll_wait)(int, struct epoll_event *, int, int);
	int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
	int (*sigaction)(int, const struct sigaction *, struct sigaction *);
	ssize_t (*getrandom)(void *, size_t, unsigned int);
	int (*getentropy)(void *, size_t);
	int (*rand)(void);
	void (*srand)(unsigned int);
	long (*random)(void);
	void (*srandom)(unsigned int);
	long (*ptrace)(int, pid_t, void *, void *);
	FILE *(*fopen64)(const char *, const char *);
	int (*uname)(struct utsname *);
	int (*pthread_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	int (*pthread_cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
	int (*sem_timedwait)(sem_t *, const struct timespec *);
	int (*sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
};

/* How lab time follows from the host's CLOCK_MONOTONIC: lab = (host - epoch) * denominator / numerator. */
struct shim_lapse {
	/* False: all time is the host's, as without the shim. So it is in virtual time, where the kernel asks the device backend. */
	bool scaled;
	/* CLOCK_MONOTONIC of the host at lab time 0, in nanoseconds. */
	int64_t epoch;
	/* The wall clock at lab time 0, in nanoseconds since 1970. */
	int64_t wall;
	/* The dilation is numerator / denominator; each is from 1 to 10^12, so that products fit 128 bits. */
	int64_t numerator;
	int64_t denominator;
};

/* What the environment asked for. */
struct shim_orders {
	struct shim_lapse lapse;
	/* The process is a virtual machine, which counts by its clocks from their first reading on. */
	bool machine;
	bool seeded;
	uint64_t seed;
	/* In virtual time, the seed from the checkpoint on. */
	uint64_t own_seed;
};

/* Both are ready when these return; the first call makes them so if it comes before the constructor. */
const struct shim_library *shim_library(void);
const struct shim_orders *shim_orders(void);

/* From now on chance follows from this seed. */
void shim_reseed(uint64_t seed);

/* What a clock shows: lab time since the epoch, the lab's wall clock, or something that the shim leaves alone. */
enum shim_clock { SHIM_AS_IS, SHIM_LAB, SHIM_WALL };
enum shim_clock shim_clock(clockid_t clock);

/* Nanoseconds of a timespec, and back; the seconds are rounded down, so that nanoseconds are never negative. */
int64_t shim_nanoseconds(const struct timespec *from);
struct timespec shim_timespec(int64_t nanoseconds);
/* Whether the C library would accept it as a span of time. */
bool shim_is_span(const struct timespec *span);

/* Ends the process, which was started with orders that make no sense: the name of one, and what is wrong with it. */
__attribute__((noreturn)) void shim_refuse(const char *name, const char *what);

/* Lab time at an instant of the host, rounded down: a clock never shows an instant that is yet to come. */
int64_t shim_lab_instant(int64_t host);
/* The host's instant at which lab time (or the lab's wall clock) gets there, rounded up: nothing is ever early. */
int64_t shim_host_instant(enum shim_clock clock, int64_t instant);
/* What a span of lab time lasts on the host, rounded up. At most 146 years; 0 stays 0, and is the only one to. */
int64_t shim_host_span(int64_t lab);
/* The same for a period, rounded to the nearest: what a period is too long adds up. 0 stays 0, and is the only one to. */
int64_t shim_host_period(int64_t lab);
/* What a remainder of the host's time is in lab time. 0 stays 0 and nothing else becomes 0: "0" means "has ended". */
int64_t shim_lab_remainder(int64_t host);

/* How a kernel counts while it boots, see boot.c. */

/* The instant of the host by which a clock counts, whose reading this is: a little before, while a kernel boots. */
int64_t shim_counted_from(enum shim_clock shown, int64_t host);
/* A timer on lab time was made: the kernel is about to start counting. */
void shim_timer_made(void);
/* Whether it has made its timer but not begun to count. */
bool shim_holds_ticks(void);
/* Keeps the ticks that a timer was ordered until the kernel counts, and changes the order to one for the longest hold. */
void shim_hold_ticks(timer_t id, struct itimerspec *host);
/* Another order takes the place of the one that is kept. */
void shim_forget_ticks(void);

#endif

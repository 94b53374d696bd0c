/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Randomness from a seed. A kernel that runs as a process takes all its randomness from the C library; with a seed the
 * same sequence of questions gets the same answers, in every run.
 *
 * The generator is SplitMix64 (Steele, Lea and Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014,
 * section 4 with the constants of variant 13 by Stafford): its state is a counter, so that one atomic addition makes it
 * safe in threads and signal handlers. It only feeds the kernel's own generator; nobody may take it for a secret.
 */
#include "shim.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* 2^64 divided by the golden ratio, made odd. */
static const uint64_t GAMMA = 0x9e3779b97f4a7c15;

/* Two streams, so that how many bytes were asked for does not change what rand() says, nor the other way round. */
static _Atomic uint64_t bytes_drawn;
static _Atomic uint64_t numbers_drawn;
static const uint64_t BYTES = 1;
static const uint64_t NUMBERS = 2;

/* The seed that took the place of that of the orders. */
static uint64_t late_seed;
static bool is_late;

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static uint64_t draw(_Atomic uint64_t *drawn, uint64_t stream)
{
	uint64_t seed = is_late ? late_seed : shim_orders()->seed;
	uint64_t start = mix(mix(seed + GAMMA) + stream * GAMMA);
	return mix(start + (atomic_fetch_add(drawn, 1) + 1) * GAMMA);
}

void shim_reseed(uint64_t seed)
{
	late_seed = seed;
	is_late = true;
	atomic_store(&bytes_drawn, 0);
	atomic_store(&numbers_drawn, 0);
}

static void fill(unsigned char *buffer, size_t length)
{
	while (length) {
		uint64_t word = draw(&bytes_drawn, BYTES);
		size_t part = length < sizeof word ? length : sizeof word;
		memcpy(buffer, &word, part);
		buffer += part;
		length -= part;
	}
}

EXPORT ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	if (!shim_orders()->seeded)
		return shim_library()->getrandom(buffer, length, flags);
	fill(buffer, length);
	return (ssize_t)length;
}

EXPORT int getentropy(void *buffer, size_t length)
{
	/* More than 256 bytes are an error (getentropy(3)), which the library may state itself. */
	if (!shim_orders()->seeded || length > 256)
		return shim_library()->getentropy(buffer, length);
	fill(buffer, length);
	return 0;
}

EXPORT long random(void)
{
	/* From 0 to 2^31 - 1, as random(3) and rand(3) say. */
	return shim_orders()->seeded ? (long)(draw(&numbers_drawn, NUMBERS) >> 33) : shim_library()->random();
}

EXPORT int rand(void)
{
	return shim_orders()->seeded ? (int)random() : shim_library()->rand();
}

/* With a seed of ours the caller's counts for nothing: it comes from the clock or the process number as a rule. */
EXPORT void srand(unsigned int seed)
{
	if (!shim_orders()->seeded)
		shim_library()->srand(seed);
}

EXPORT void srandom(unsigned int seed)
{
	if (!shim_orders()->seeded)
		shim_library()->srandom(seed);
}

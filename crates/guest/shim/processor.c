/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Shows a kernel a machine of a named level instead of its own (src/processor.rs): what its programs then find in /proc/cpuinfo, and in
 * AT_HWCAP of their auxiliary vectors. A kernel takes the flags from the machine's /proc/cpuinfo, the line "host" from uname(2), and
 * AT_HWCAP from its own auxiliary vector.
 */
#include "shim.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define ARGUMENT "netloom.cpu="

/* The flags of a level, as the kernel's names have them, after those of the levels before. AT_HWCAP is EDX of CPUID's leaf 1. */
#define V1 "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 syscall nx lm"
#define V1_HWCAP 0x078bfbffUL
#define V2 V1 " pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm"
#define V3 V2 " fma movbe xsave avx f16c abm bmi1 avx2 bmi2"
#define V4 V3 " avx512f avx512dq avx512cd avx512bw avx512vl"
#define CPUINFO(flags) "flags\t\t: " flags "\ncache_alignment\t: 64\n"

/* Not constant, since fmemopen(3) takes any memory; it is opened for reading alone. */
static char cpuinfo_v1[] = CPUINFO(V1), cpuinfo_v2[] = CPUINFO(V2), cpuinfo_v3[] = CPUINFO(V3), cpuinfo_v4[] = CPUINFO(V4);

static const struct {
	const char *name;
	char *cpuinfo;
} levels[] = {
	{"x86-64", cpuinfo_v1},
	{"x86-64-v2", cpuinfo_v2},
	{"x86-64-v3", cpuinfo_v3},
	{"x86-64-v4", cpuinfo_v4},
};

/* What the kernel is to find; none: what the machine has. */
static char *cpuinfo;

/* Reads the level that the arguments name, if they name one. Returns whether it is known. */
static bool read_level(int count, char **arguments)
{
	for (int i = 0; i < count; i++) {
		if (strncmp(arguments[i], ARGUMENT, strlen(ARGUMENT)))
			continue;
		const char *name = arguments[i] + strlen(ARGUMENT);
		cpuinfo = NULL;
		for (size_t level = 0; level < sizeof levels / sizeof *levels; level++)
			if (!strcmp(name, levels[level].name))
				cpuinfo = levels[level].cpuinfo;
		if (!cpuinfo)
			return false;
	}
	return true;
}

/* The auxiliary vector follows the environment (System V ABI, AMD64, section 3.4.1). */
static void hide_features(char **environment)
{
	while (*environment)
		environment++;
	for (ElfW(auxv_t) *entry = (void *)(environment + 1); entry->a_type != AT_NULL; entry++)
		if (entry->a_type == AT_HWCAP)
			entry->a_un.a_val = V1_HWCAP;
}

static __attribute__((constructor)) void show_level(int count, char **arguments, char **environment)
{
	if (!read_level(count, arguments))
		shim_refuse("netloom.cpu", " is no level of processors that is known here");
	if (cpuinfo)
		hide_features(environment);
}

/* Kernels are compiled for large files, whose functions have names of their own. */
EXPORT FILE *fopen64(const char *path, const char *mode)
{
	if (cpuinfo && !strcmp(path, "/proc/cpuinfo"))
		return fmemopen(cpuinfo, strlen(cpuinfo), "r");
	return shim_library()->fopen64(path, mode);
}

EXPORT int uname(struct utsname *name)
{
	int failed = shim_library()->uname(name);
	if (failed || !cpuinfo)
		return failed;
	strcpy(name->nodename, "machine");
	strcpy(name->release, "-");
	strcpy(name->version, "-");
	return 0;
}

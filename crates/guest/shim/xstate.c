/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Lets kernels before 6.13 or so run on processors with large extended state (AMX).
 *
 * Such a kernel keeps its programs' vector registers in an area of fixed size: 2696 bytes in Debian's 6.1, enough for
 * AVX-512. It sets them by ptrace(PTRACE_SETREGSET, NT_X86_XSTATE), and the host refuses with EFAULT anything shorter
 * than all of its processor's state (11008 bytes with AMX), so that the first program dies. Reading a part is allowed.
 *
 * Nothing is done unless the host has refused. Then the kernel's area is completed from the state that its program has,
 * and the components which lie beyond are marked as unused; programs inside cannot use those anyway.
 */
#include "shim.h"

#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#ifdef __x86_64__
#include <cpuid.h>

/* The header's first word says which components are in use (Intel SDM volume 1, section 13.4.2). */
#define STATE_COMPONENTS 512
#define STATE_HEADER_END 576

/* Components that lie within the first `length` bytes. x87 and SSE, 0 and 1, lie before the header. */
static uint64_t components_within(size_t length)
{
	uint64_t within = 3;
	for (unsigned int component = 2; component < 63; component++) {
		unsigned int size, offset, flags, reserved;
		__cpuid_count(0xd, component, size, offset, flags, reserved);
		/* Absent ones have size 0; supervisor's have no offset, and ptrace does not show them. */
		if (size && offset && (size_t)offset + size <= length)
			within |= UINT64_C(1) << component;
	}
	return within;
}

static long set_whole_state(pid_t pid, const struct iovec *part)
{
	/*
	 * Not on the stack, which has 16 KB. A kernel that needs this has one processor, and one thread of it that
	 * traces programs.
	 */
	static unsigned char area[32768];
	struct iovec whole = {.iov_base = area, .iov_len = sizeof area};
	void *kind = (void *)NT_X86_XSTATE;
	long failed = shim_library()->ptrace(PTRACE_GETREGSET, pid, kind, &whole);
	if (failed)
		return failed;
	bool repairable = part->iov_len >= STATE_HEADER_END && part->iov_len < whole.iov_len;
	if (!repairable) {
		errno = EFAULT;
		return -1;
	}
	uint64_t used;
	memcpy(area, part->iov_base, part->iov_len);
	memcpy(&used, area + STATE_COMPONENTS, sizeof used);
	used &= components_within(part->iov_len);
	memcpy(area + STATE_COMPONENTS, &used, sizeof used);
	return shim_library()->ptrace(PTRACE_SETREGSET, pid, kind, &whole);
}
#endif

EXPORT long ptrace(enum __ptrace_request request, ...)
{
	/* As the library does: all four are there for every caller, used or not. */
	va_list rest;
	va_start(rest, request);
	pid_t pid = va_arg(rest, pid_t);
	void *address = va_arg(rest, void *);
	void *data = va_arg(rest, void *);
	va_end(rest);
	long result = shim_library()->ptrace((int)request, pid, address, data);
#ifdef __x86_64__
	bool refused = result == -1 && errno == EFAULT;
	if (refused && request == PTRACE_SETREGSET && address == (void *)NT_X86_XSTATE)
		result = set_whole_state(pid, data);
#endif
	return result;
}

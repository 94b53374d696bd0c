/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The checkpoint of a kernel in virtual time, where its first process comes to what belongs to one node (crates/guest/kernel/edits/copy.c).
 *
 * Up to there a kernel boots by a clock of its own, with chance that is the same in all kernels, and without anything that belongs to one
 * node: so all kernels of a kind come to the same state. There it gets what makes it a node: its mailbox, its seed, and the rest of its
 * command line, which has its devices. A kernel that boots for one node has all that from the start, and goes on. Another is a template: it
 * waits there for orders of the lab process, and makes for each of them a copy of its process, which goes on as that node.
 *
 * # Memory
 * A kernel's memory is a file that it maps, as its programs do: parts of it, by the file. The pages that the template has touched are the same
 * file in all copies, mapped privately: what a copy writes is its own. All other pages are a file of the copy's own, mapped as before.
 * Before a page of the first kind is mapped a second time, by a program or by the kernel, it moves to that file, so that both see the same
 * (`own_page`); but for pages of the machine's files that are as the template had them. It moves with its whole block: what is larger than a page is mapped at once, and is aligned to its size. No block holds
 * both such memory and the stack on which this runs, since stacks have the size of a block.
 */
#include "shim.h"
#include "backend.h"
#include "places.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ul
#define ALL (PROT_READ | PROT_WRITE | PROT_EXEC)
/* The size of a kernel's stack, and at least that of what is mapped at once. */
#define BLOCK (4 * PAGE)

/* What the kernel tells: struct netloom_checkpoint of its edits. */
static struct told {
	uint8_t *memory;            /* physical address 0 */
	uint64_t begin, end;        /* which physical addresses the file has; before them is the kernel's program */
	int64_t file;
	int (**page)(unsigned long physical, int steady); /* called for each page that is mapped */
	char *rest;                 /* takes the rest of the command line */
	uint64_t room;              /* bytes of it */
	int *is_copy;
	int64_t programs;           /* how many processes there are that are programs: one can be made anew */
} told;

/* What one order of the lab process says. Behind it stand three texts with their ends: folder, first program, rest of the command line. */
struct order {
	uint64_t seed;
	uint64_t texts;             /* bytes of the texts */
};

/* Descriptors that come with it. */
enum { CONSOLE, CONTROL, MAILBOX, DOORBELL, LEAVE, ORDER_FDS };

/* How a copy ended up: its process, and why it could not be made, or 0. */
struct outcome {
	int32_t pid, error;
};

/* Where the first program of a node is bound; crates/host/src/sealed.rs has the same names. */
#define OWN_PLACE "/sys"
#define INIT OWN_PLACE "/init"

/* A part of the kernel's memory that it has mapped a second time. */
static struct alias {
	uint8_t *start;
	uint64_t length, physical;
	int access;
} aliases[4096];
static unsigned alias_count;

static int own = -1;                /* the file of a copy's own pages */
static int template_file = -1;      /* the file of all others, which can only be read by this descriptor */
static int pages = -1;              /* tells which pages were written to */
static uint8_t *is_own;             /* by block */
static uint64_t blocks;

uint8_t *checkpoint_memory(uint64_t physical, uint64_t size)
{
	if (!told.memory || physical < told.begin || physical > told.end || size > told.end - physical)
		return NULL;
	return told.memory + physical;
}

static bool map(void *start, uint64_t length, int access, int kind, int file, uint64_t offset)
{
	return mmap(start, length, access, kind | MAP_FIXED | MAP_NORESERVE, file, (off_t)offset) != MAP_FAILED;
}

static bool is_zero(const uint8_t *from, uint64_t length)
{
	uint64_t first;

	memcpy(&first, from, sizeof(first));
	return !first && !memcmp(from, from + sizeof(first), length - sizeof(first));
}

/* Moves the block of a page to the copy's own file, which is zero where nothing was written. */
static bool own_block(uint64_t block)
{
	uint64_t from = block * BLOCK, end = from + BLOCK;

	if (is_own[block])
		return true;
	if (end > told.end)
		end = told.end;
	/* The kernel's program stays where it is, and has gaps. */
	for (; from < end && from < told.begin; from += PAGE)
		(void)!pwrite(own, told.memory + from, PAGE, (off_t)from);
	if (from < end && !is_zero(told.memory + from, end - from) &&
	    pwrite(own, told.memory + from, end - from, (off_t)from) != (ssize_t)(end - from))
		return false;
	if (from < end && !map(told.memory + from, end - from, ALL, MAP_SHARED, own, from))
		return false;
	is_own[block] = 1;
	return true;
}

/* Whether the kernel has not written to a page since it was copied: proc_pid_pagemap(5). */
static bool is_clean(unsigned long physical)
{
	uint64_t entry;
	off_t place = (off_t)(((uintptr_t)told.memory + physical) / PAGE * sizeof(entry));
	bool is_present, is_swapped, is_of_file;

	if (pread(pages, &entry, sizeof(entry), place) != sizeof(entry))
		return false;
	is_present = entry >> 63 & 1;
	is_swapped = entry >> 62 & 1;
	is_of_file = entry >> 61 & 1;
	return is_present ? is_of_file : !is_swapped;
}

/* The file in which a page can be mapped, at its physical address. `steady`: nobody will write to it as long as it is. */
static int own_page(unsigned long physical, int steady)
{
	uint64_t block = physical / BLOCK;

	if (!is_own[block]) {
		sigset_t all, before;
		bool done;

		if (steady && is_clean(physical))
			return (int)told.file;
		/* What a handler wrote in between would be lost. */
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, &before);
		done = own_block(block);
		sigprocmask(SIG_SETMASK, &before, NULL);
		if (!done)
			mailbox_broken(physical);
	}
	return own;
}

/* A number in hexadecimal digits; *text is then behind what ends it. */
static uint64_t hexadecimal(const char **text)
{
	uint64_t value = 0;

	for (;; ++*text) {
		char digit = **text;

		if (digit >= '0' && digit <= '9')
			value = value << 4 | (uint64_t)(digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			value = value << 4 | (uint64_t)(digit - 'a' + 10);
		else
			break;
	}
	if (**text)
		++*text;
	return value;
}

/* A line of proc_pid_maps(5): "FROM-TO rwxs OFFSET MAJOR:MINOR INODE ...". False if there is no more room. */
static bool find_alias(const char *line, uint64_t inode)
{
	uint64_t from = hexadecimal(&line), to = hexadecimal(&line), offset, other;
	const char *access = line;

	line += strlen("rwxs ");
	offset = hexadecimal(&line);
	hexadecimal(&line);
	hexadecimal(&line);
	other = strtoull(line, NULL, 10);
	if (other != inode || access[3] != 's' || from == (uintptr_t)told.memory + offset)
		return true;
	if (alias_count == sizeof(aliases) / sizeof(*aliases))
		return false;
	aliases[alias_count++] = (struct alias){
		.start = (uint8_t *)from, .length = to - from, .physical = offset,
		.access = (access[0] == 'r' ? PROT_READ : 0) | (access[1] == 'w' ? PROT_WRITE : 0) |
			  (access[2] == 'x' ? PROT_EXEC : 0),
	};
	return true;
}

/* Finds where else the template has mapped its memory. */
static bool find_aliases(void)
{
	static char text[1 << 20];
	size_t length = 0;
	ssize_t got;
	struct stat file;
	int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char *line, *end;

	if (maps < 0 || fstat((int)told.file, &file))
		return false;
	while ((got = syscall(SYS_read, maps, text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)got;
	close(maps);
	for (line = text; (end = strchr(line, '\n')); line = end + 1)
		if (!find_alias(line, file.st_ino))
			return false;
	return !got && length < sizeof(text) - 1;
}

/* In decimal digits, three at most. */
static void write_number(char *to, unsigned number)
{
	if (number >= 100)
		*to++ = (char)('0' + number / 100);
	if (number >= 10)
		*to++ = (char)('0' + number / 10 % 10);
	*to = (char)('0' + number % 10);
}

/* From here on the template's memory stays as it is: what it writes now is its own, and what its copies write, theirs. */
static bool freeze(void)
{
	int64_t at = 0, end = (int64_t)told.end;
	char link[] = "/proc/self/fd/\0\0\0\0";

	if (told.file > 999)
		return false;
	write_number(link + strlen(link), (unsigned)told.file);
	template_file = open(link, O_RDONLY | O_CLOEXEC);
	if (template_file < 0)
		return false;
	blocks = (told.end + BLOCK - 1) / BLOCK;
	is_own = mmap(NULL, blocks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (is_own == MAP_FAILED || !find_aliases())
		return false;
	/* What has not been touched becomes a copy's own at once. */
	memset(is_own, 1, blocks);
	memset(is_own, 0, (told.begin + BLOCK - 1) / BLOCK);
	while ((at = lseek((int)told.file, at, SEEK_DATA)) >= 0 && at < end) {
		int64_t hole = lseek((int)told.file, at, SEEK_HOLE);
		uint64_t first = (uint64_t)at / BLOCK;

		if (hole < 0 || hole > end)
			hole = end;
		memset(is_own + first, 0, ((uint64_t)hole + BLOCK - 1) / BLOCK - first);
		at = hole;
	}
	return map(told.memory + told.begin, told.end - told.begin, ALL, MAP_PRIVATE,
		   (int)told.file, told.begin);
}

/* A copy's memory: a file for its own pages. */
static bool divide_memory(void)
{
	uint64_t block, first;
	unsigned i;

	own = (int)syscall(SYS_memfd_create, "netloom-memory", 1 /* MFD_CLOEXEC */);
	pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	/* A program that got hold of it could not write to what other nodes have. */
	if (own < 0 || pages < 0 || ftruncate(own, (off_t)told.end) || dup3(template_file, (int)told.file, O_CLOEXEC) < 0)
		return false;
	close(template_file);
	for (block = 0; block < blocks; block++) {
		first = block;
		while (block < blocks && is_own[block])
			block++;
		if (block > first) {
			uint64_t end = block == blocks ? told.end : block * BLOCK;

			if (!map(told.memory + first * BLOCK, end - first * BLOCK, ALL,
				 MAP_SHARED, own, first * BLOCK))
				return false;
		}
	}
	for (i = 0; i < alias_count; i++) {
		const struct alias *alias = &aliases[i];

		for (block = alias->physical / BLOCK; block * BLOCK < alias->physical + alias->length; block++)
			if (!own_block(block))
				return false;
		if (!map(alias->start, alias->length, alias->access, MAP_SHARED, own, alias->physical))
			return false;
	}
	*told.page = own_page;
	*told.is_copy = 1;
	return true;
}

/* Confines a copy as crates/host/src/sealed.rs does all kernels: what the template is confined by holds for it, too. */
static bool confine(const char *folder, const char *init, pid_t lab)
{
	int place;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != lab || setsid() < 0)
		return false;
	/* Where the machine refuses namespaces, what the template cannot change its copies cannot either. */
	if (places_active()) {
		places_move(folder);
		return !chdir(folder);
	}
	if (unshare(CLONE_NEWNS) || mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=700") ||
	    mount("tmpfs", OWN_PLACE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=700"))
		return false;
	place = open(INIT, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
	if (place < 0)
		return false;
	close(place);
	return !mount(init, INIT, NULL, MS_BIND, NULL) && !chdir(folder);
}

/* All descriptors of the template's console become those of a copy's: a kernel makes more of them when it opens its consoles. */
static bool take_console(int console)
{
	struct stat before, other;

	if (fstat(1, &before))
		return false;
	for (int fd = 1; fd < MOST_DESCRIPTORS; fd++)
		if (!fstat(fd, &other) && other.st_dev == before.st_dev && other.st_ino == before.st_ino &&
		    dup3(console, fd, fd > 2 ? O_CLOEXEC : 0) < 0)
			return false;
	return true;
}

/* Goes on as the node of an order. */
static bool become(const struct order *order, char *folder, const int *fds, pid_t lab)
{
	char *init = folder + strlen(folder) + 1, *rest = init + strlen(init) + 1;

	if (strlen(rest) >= told.room || !take_console(fds[CONSOLE]) || !confine(folder, init, lab) || !divide_memory() ||
	    !interrupt_copied())
		return false;
	strcpy(told.rest, rest);
	shim_reseed(order->seed);
	close(fds[CONSOLE]);
	return true;
}

/* The lab process gives leave when the copy is where it belongs (processors, cgroup), since what the copy starts inherits that. */
static void await_leave(int leave)
{
	uint64_t count;

	while (syscall(SYS_read, leave, &count, sizeof(count)) < 0 && errno == EINTR)
		;
	close(leave);
}

static struct {
	struct order order;
	char texts[MOST_TEXT];
} received;

/* Whether an order has come whole, with all of its descriptors. */
static bool receive(int orders, int fds[ORDER_FDS])
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * ORDER_FDS)];
		struct cmsghdr aligned;
	} control;
	struct iovec part = { .iov_base = &received, .iov_len = sizeof(received) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *header;
	ssize_t got;

	do {
		message.msg_controllen = sizeof(control);
		got = syscall(SYS_recvmsg, orders, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	header = CMSG_FIRSTHDR(&message);
	if (got < (ssize_t)sizeof(struct order) || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || !header ||
	    header->cmsg_len != CMSG_LEN(sizeof(int) * ORDER_FDS) || received.order.texts != (uint64_t)got - sizeof(struct order) ||
	    received.texts[received.order.texts - 1])
		return false;
	memcpy(fds, CMSG_DATA(header), sizeof(int) * ORDER_FDS);
	return true;
}

static void report(int orders, int32_t error)
{
	struct outcome outcome = { .pid = (int32_t)syscall(SYS_getpid), .error = error };

	(void)!syscall(SYS_sendto, orders, &outcome, sizeof(outcome), MSG_NOSIGNAL, NULL, 0);
}

/* Makes copies until the lab process wants no more. Returns in copies alone. */
static void serve(int orders, struct checkpoint_ends *ends)
{
	pid_t lab = getppid();
	int fds[ORDER_FDS] = { 0 };
	bool frozen = told.programs == 1 && freeze();

	report(orders, frozen ? 0 : told.programs == 1 ? ENOMEM : EBUSY);
	while (frozen && receive(orders, fds)) {
		/* The copy is a child of the lab process, as the template is. */
		long pid = syscall(SYS_clone, CLONE_PARENT, NULL, NULL, NULL, NULL);

		if (!pid) {
			errno = 0;
			if (!become(&received.order, received.texts, fds, lab)) {
				report(orders, errno ? errno : EINVAL);
				break;
			}
			report(orders, 0);
			close(orders);
			await_leave(fds[LEAVE]);
			*ends = (struct checkpoint_ends){ fds[CONTROL], fds[MAILBOX], fds[DOORBELL] };
			return;
		}
		if (pid < 0) {
			struct outcome outcome = { .pid = 0, .error = errno };

			(void)!syscall(SYS_sendto, orders, &outcome, sizeof(outcome), MSG_NOSIGNAL, NULL, 0);
		}
		for (unsigned i = 0; i < ORDER_FDS; i++)
			close(fds[i]);
	}
	_exit(0);
}

bool checkpoint_reached(const void *bytes, size_t length, int orders, struct checkpoint_ends *ends)
{
	const char *rest;

	if (length != sizeof(told))
		mailbox_broken(length);
	memcpy(&told, bytes, sizeof(told));
	if (orders >= 0) {
		serve(orders, ends);
		return true;
	}
	rest = getenv("NETLOOM_REST");
	if (strlen(rest) >= told.room)
		mailbox_broken(told.room);
	strcpy(told.rest, rest);
	shim_reseed(shim_orders()->own_seed);
	return false;
}

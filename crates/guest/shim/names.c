/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Where the names of files that a kernel gives to the C library lead, and which there were: places.c.
 */
#include "places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_PLACES 64
#define OWN_PLACE "/sys"
/* Names that were written down lately. */
#define KNOWN 4096
/* Bytes of a record beyond which nothing is written (ROOM of ../src/read_files.rs). */
#define MOST_RECORDED (32 << 20)

static struct place {
	const char *from, *to;
	size_t length;
} places[MOST_PLACES];
static unsigned place_count;
static bool active;
/* The kernel's own folder, which is also its working folder. */
static char own[PLACES_LONGEST];
static size_t own_length;
/* In which the machine's files are found; empty: where they are. */
static const char *root = "";
/* Takes names that led to something. */
static int record = -1;

void places_move(const char *folder)
{
	size_t length = strlen(folder);

	if (!active || length >= sizeof(own))
		return;
	memcpy(own, folder, length + 1);
	own_length = length;
}

bool places_active(void)
{
	return active;
}

/* Takes pairs of names, each on a line, from a text that stays. */
static bool add_places(char *text)
{
	while (*text) {
		char *to = strchr(text, '\n'), *end = to ? strchr(to + 1, '\n') : NULL;

		if (!end || place_count == MOST_PLACES)
			return false;
		*to++ = *end = 0;
		places[place_count++] = (struct place){ text, to, strlen(text) };
		text = end + 1;
	}
	return true;
}

bool places_read(const char *pairs, const char *folder)
{
	/* The environment stays as it is: a kernel may start itself anew with it. */
	static char copy[4 * PLACES_LONGEST];

	if (!folder || strlen(pairs) >= sizeof(copy))
		return false;
	strcpy(copy, pairs);
	if (!add_places(copy))
		return false;
	active = true;
	places_move(folder);
	return true;
}

bool places_root(const char *text)
{
	static char copy[8 * PLACES_LONGEST];
	char *end;

	if (strlen(text) >= sizeof(copy))
		return false;
	strcpy(copy, text);
	end = strchr(copy, '\n');
	if (!end || *copy != '/')
		return false;
	*end = 0;
	root = copy;
	return add_places(end + 1);
}

void places_record(int fd)
{
	record = fd;
}

void places_note(char how, const char *name)
{
	static uint64_t known[KNOWN];
	/* FNV-1a, with its offset and prime of 64 bits. */
	uint64_t hash = (UINT64_C(14695981039346656037) ^ (unsigned char)how) * UINT64_C(1099511628211);
	static char line[PLACES_LONGEST + 2];
	struct stat about;
	size_t length;
	int before = errno;

	if (record < 0 || !name || *name != '/')
		return;
	length = strlen(name);
	if (length >= PLACES_LONGEST)
		return;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
	if (known[hash % KNOWN] == hash)
		return;
	known[hash % KNOWN] = hash;
	line[0] = how;
	memcpy(line + 1, name, length + 1);
	/* The record is open to append, so that kernels that write at the same time do so one behind the other. */
	if (!fstat(record, &about) && about.st_size <= MOST_RECORDED)
		(void)!syscall(SYS_write, record, line, length + 2);
	errno = before;
}

/* Whether a name is that of a folder, or of what is in it. */
static bool is_below(const char *path, const char *folder, size_t length)
{
	return length && !strncmp(path, folder, length) && (!path[length] || path[length] == '/');
}

static const char *joined(char *buffer, const char *first, const char *rest)
{
	size_t length = strlen(first), more = strlen(rest);

	if (length + more >= PLACES_LONGEST)
		return NULL;
	memcpy(buffer, first, length);
	memcpy(buffer + length, rest, more + 1);
	return buffer;
}

/* Whether the kernel's process needs it as it is on the machine. */
static bool is_of_machine(const char *path)
{
	return is_below(path, "/proc", 5) || is_below(path, "/sys", 4) || is_below(path, "/dev", 4);
}

/* Whether a place is below it, so that names of that lead through it. */
static bool is_above_place(const char *path)
{
	size_t length = strlen(path);

	for (unsigned i = 0; i < place_count; i++)
		if (places[i].length > length && is_below(places[i].from, path, length))
			return true;
	return false;
}

/* Where a file of the machine is, with another root; nowhere, if its name gets too long. */
static const char *in_root(const char *path, char *buffer)
{
	const char *to;

	if (!*root || is_of_machine(path))
		return path;
	to = joined(buffer, root, path);
	if (!to)
		return "";
	return is_above_place(path) && syscall(SYS_faccessat, AT_FDCWD, to, F_OK) ? path : to;
}

const char *places_found(const char *path, char *buffer)
{
	const char *to;

	if ((!active && !*root) || !path || *path != '/')
		return path;
	while (path[1] == '/')
		path++;
	for (unsigned i = 0; i < place_count; i++)
		if (is_below(path, places[i].from, places[i].length)) {
			to = joined(buffer, places[i].to, path + places[i].length);
			return to ? to : path;
		}
	if (!active || !is_below(path, OWN_PLACE, strlen(OWN_PLACE)))
		return in_root(path, buffer);
	/* From the own folder: names of sockets have to be short. */
	to = joined(buffer, "." OWN_PLACE, path + strlen(OWN_PLACE));
	return to ? to : path;
}

bool places_own(const char *path)
{
	return !active || (path && (*path != '/' || is_below(path, own, own_length)));
}

/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The names of files that a kernel gives to the C library: where they lead, and which there were.
 *
 * Without a mount namespace, since the machine refuses namespaces: elsewhere the lab makes mounts for a kernel, so that all file systems are
 * read-only but for one folder, and a few names lead to other files (crates/host/src/sealed.rs). Here the same follows from names: NETLOOM_PLACES has
 * pairs of them, each on a line, of what is to be found and where it is; everything in `/sys` is in the folder `sys` of the kernel's own folder, in
 * which the process starts. What lies elsewhere can be read, and changes of it fail as on a read-only file system. The kernel's memory is a file without
 * a name, since the own folder may be on a disk.
 *
 * With another root, whether there are namespaces or not: NETLOOM_ROOT has a folder, in which the kernel finds the machine's files, and behind it
 * such pairs, of what is found elsewhere.
 *
 * With a record: NETLOOM_READ is the descriptor of a file that takes each name that led to something, behind `r`, or `d` if a folder was listed, and
 * before a zero. Writing it down takes no time of the lab.
 *
 * A kernel calls these functions one at a time: its programs' calls are its own, and its helpers open no files.
 */
#include "shim.h"
#include "places.h"

#include <dirent.h>
#include <linux/magic.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static bool may_change(const char *path)
{
	if (places_own(path))
		return true;
	errno = EROFS;
	return false;
}

/* Whether a file is of a kind that a read-only file system protects: devices, pipes and sockets can be written to. */
static bool is_protected(const char *path)
{
	struct stat about;

	return syscall(SYS_newfstatat, AT_FDCWD, path, &about, 0) || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode);
}

/*
 * A kernel starts itself anew if addresses are random, once it has asked for others. Who started it has asked already. A machine that forbids that, or
 * forgets it when root's rights change on the way (capabilities(7)), would have it do so for ever; it runs as well with random addresses.
 */
EXPORT int personality(unsigned long wanted)
{
	return places_active() ? (int)wanted : (int)syscall(SYS_personality, wanted);
}

static char one[PLACES_LONGEST], other[PLACES_LONGEST];

static int open_found(const char *name, int flags, mode_t mode)
{
	const char *path = places_found(name, one);
	int fd;

	if ((flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC))) {
		fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
		if (fd >= 0)
			places_note('r', name);
		return fd;
	}
	if (!places_own(path) && is_protected(path)) {
		errno = EROFS;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static mode_t mode_of(int flags, va_list rest)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

EXPORT int open64(const char *name, int flags, ...)
{
	va_list rest;
	int fd;

	va_start(rest, flags);
	fd = open_found(name, flags | O_LARGEFILE, mode_of(flags, rest));
	va_end(rest);
	return fd;
}

EXPORT int open(const char *name, int flags, ...)
{
	va_list rest;
	int fd;

	va_start(rest, flags);
	fd = open_found(name, flags, mode_of(flags, rest));
	va_end(rest);
	return fd;
}

EXPORT int access(const char *name, int mode)
{
	const char *path = places_found(name, one);
	int result = (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);

	if (!result && mode & W_OK && !places_own(path) && is_protected(path)) {
		errno = EROFS;
		return -1;
	}
	if (!result)
		places_note('r', name);
	return result;
}

EXPORT DIR *opendir(const char *name)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, places_found(name, one), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return NULL;
	places_note('d', name);
	return fdopendir(fd);
}

EXPORT ssize_t readlink(const char *name, char *buffer, size_t size)
{
	ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, places_found(name, one), buffer, size);

	if (length >= 0)
		places_note('r', name);
	return length;
}

static int look(const char *name, void *about, int flags)
{
	int result = (int)syscall(SYS_newfstatat, AT_FDCWD, places_found(name, one), about, flags);

	if (!result)
		places_note('r', name);
	return result;
}

EXPORT int stat64(const char *name, struct stat64 *about)
{
	return look(name, about, 0);
}

EXPORT int lstat64(const char *name, struct stat64 *about)
{
	return look(name, about, AT_SYMLINK_NOFOLLOW);
}

/* The names of both in kernels that were built with a C library before 2.33. */
EXPORT int __xstat64(int version, const char *name, struct stat64 *about)
{
	(void)version;
	return look(name, about, 0);
}

EXPORT int __lxstat64(int version, const char *name, struct stat64 *about)
{
	(void)version;
	return look(name, about, AT_SYMLINK_NOFOLLOW);
}

EXPORT int statx(int folder, const char *restrict name, int flags, unsigned int mask, struct statx *restrict about)
{
	const char *path = places_found(name, one);

	/* Kernels give whole names, and no folder to count from. */
	int result = (int)syscall(SYS_statx, path == one ? AT_FDCWD : folder, path, flags, mask, about);

	if (!result)
		places_note('r', name);
	return result;
}

EXPORT int statfs64(const char *name, struct statfs64 *about)
{
	const char *path = places_found(name, one);
	int result = (int)syscall(SYS_statfs, path, about);

	/* A kernel warns if its memory would be on a disk. */
	if (!result && places_active() && places_own(path))
		about->f_type = TMPFS_MAGIC;
	return result;
}

EXPORT int mkdir(const char *name, mode_t mode)
{
	const char *path = places_found(name, one);

	return may_change(path) ? (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode) : -1;
}

EXPORT int mknod(const char *name, mode_t mode, dev_t device)
{
	const char *path = places_found(name, one);

	return may_change(path) ? (int)syscall(SYS_mknodat, AT_FDCWD, path, mode, device) : -1;
}

EXPORT int __xmknod(int version, const char *name, mode_t mode, dev_t *device)
{
	(void)version;
	return mknod(name, mode, *device);
}

EXPORT int rmdir(const char *name)
{
	const char *path = places_found(name, one);

	return may_change(path) ? (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR) : -1;
}

/*
 * Linux before 6.3 does not know MFD_EXEC, and lets every file in memory be executed. A kernel would put its helper into its folder instead, from
 * where not every machine lets programs be started (`noexec`).
 */
EXPORT int memfd_create(const char *name, unsigned int flags)
{
	int fd = (int)syscall(SYS_memfd_create, name, flags);

	return fd < 0 && errno == EINVAL && flags & 0x10 /* MFD_EXEC */ ? (int)syscall(SYS_memfd_create, name, flags & ~0x10u) : fd;
}

/* The end of the name of the file for a kernel's memory (arch/um/os-Linux/mem.c), of which mkstemp(3) makes a name. */
#define TEMPORARY "/vm_file-XXXXXX"

static bool is_memory(const char *path)
{
	size_t length = strlen(path), end = strlen(TEMPORARY);

	return places_active() && length > end && !strcmp(path + length - end, TEMPORARY);
}

EXPORT int mkstemp64(char *template)
{
	return is_memory(template) ? (int)syscall(SYS_memfd_create, "netloom-memory", 1 /* MFD_CLOEXEC */) :
				     mkostemp64(template, 0);
}

EXPORT int unlink(const char *name)
{
	const char *path = places_found(name, one);

	/* The file that the function above has made instead has no name. */
	if (is_memory(path))
		return 0;
	return may_change(path) ? (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0) : -1;
}

/* Kernels that rename by a system call of their own are refused that by a filter (crates/host/src/sealed/bare.rs). */
EXPORT int rename(const char *from, const char *to)
{
	const char *old = places_found(from, one), *new = places_found(to, other);

	return may_change(old) && may_change(new) ? (int)syscall(SYS_renameat, AT_FDCWD, old, AT_FDCWD, new) : -1;
}

EXPORT int link(const char *from, const char *to)
{
	const char *old = places_found(from, one), *new = places_found(to, other);

	return may_change(old) && may_change(new) ? (int)syscall(SYS_linkat, AT_FDCWD, old, AT_FDCWD, new, 0) : -1;
}

EXPORT int symlink(const char *text, const char *name)
{
	const char *path = places_found(name, one);

	return may_change(path) ? (int)syscall(SYS_symlinkat, text, AT_FDCWD, path) : -1;
}

EXPORT int chmod(const char *name, mode_t mode)
{
	const char *path = places_found(name, one);

	return may_change(path) ? (int)syscall(SYS_fchmodat, AT_FDCWD, path, mode) : -1;
}

static int own_to(const char *name, uid_t user, gid_t group, int flags)
{
	const char *path = places_found(name, one);

	return may_change(path) ? (int)syscall(SYS_fchownat, AT_FDCWD, path, user, group, flags) : -1;
}

EXPORT int chown(const char *name, uid_t user, gid_t group)
{
	return own_to(name, user, group, 0);
}

EXPORT int lchown(const char *name, uid_t user, gid_t group)
{
	return own_to(name, user, group, AT_SYMLINK_NOFOLLOW);
}

/* Two instants as other calls take them; none for now. */
static const struct timespec *precise(const struct timeval *times, struct timespec *both)
{
	for (int i = 0; times && i < 2; i++)
		both[i] = (struct timespec){ times[i].tv_sec, times[i].tv_usec * 1000 };
	return times ? both : NULL;
}

/*
 * A change by a descriptor asks for no right to write. Files in memory are the kernel's own; of others it has nothing to change.
 */
static bool may_change_open(int fd)
{
	if (!places_active() || fcntl(fd, F_GET_SEALS) >= 0)
		return true;
	errno = EROFS;
	return false;
}

EXPORT int fchmod(int fd, mode_t mode)
{
	return may_change_open(fd) ? (int)syscall(SYS_fchmod, fd, mode) : -1;
}

EXPORT int fchown(int fd, uid_t user, gid_t group)
{
	return may_change_open(fd) ? (int)syscall(SYS_fchown, fd, user, group) : -1;
}

EXPORT int futimes(int fd, const struct timeval times[2])
{
	struct timespec both[2];

	return may_change_open(fd) ? futimens(fd, precise(times, both)) : -1;
}

EXPORT int truncate64(const char *name, off64_t length)
{
	const char *path = places_found(name, one);

	return may_change(path) ? (int)syscall(SYS_truncate, path, length) : -1;
}

EXPORT int utimes(const char *name, const struct timeval times[2])
{
	const char *path = places_found(name, one);
	struct timespec both[2];

	return may_change(path) ? utimensat(AT_FDCWD, path, precise(times, both), 0) : -1;
}

EXPORT int bind(int fd, const struct sockaddr *address, socklen_t length)
{
	const struct sockaddr_un *given = (const struct sockaddr_un *)address;
	struct sockaddr_un new = { .sun_family = AF_UNIX };
	size_t text = length - offsetof(struct sockaddr_un, sun_path);
	const char *path;

	if (!places_active() || address->sa_family != AF_UNIX || length <= offsetof(struct sockaddr_un, sun_path) ||
	    text > sizeof(given->sun_path) || !memchr(given->sun_path, 0, text) || !*given->sun_path)
		return (int)syscall(SYS_bind, fd, address, length);
	path = places_found(given->sun_path, one);
	if (!may_change(path))
		return -1;
	if (strlen(path) >= sizeof(new.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(new.sun_path, path);
	return (int)syscall(SYS_bind, fd, &new, sizeof(new));
}

/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The names of files that a kernel gives to the C library: places.c. */
#ifndef NETLOOM_PLACES_H
#define NETLOOM_PLACES_H

#include <stdbool.h>

/* Bytes of a name (PATH_MAX of Linux). */
#define PLACES_LONGEST 4096

/* Takes the names and their places from the environment, and the kernel's own folder. Returns whether they make sense. */
bool places_read(const char *pairs, const char *folder);
/* Takes the folder in which the machine's files are, and what is elsewhere. Returns whether that makes sense. */
bool places_root(const char *text);
/* From now on names that lead to something are written to this descriptor. */
void places_record(int fd);
/* From now on this is the kernel's own folder. */
void places_move(const char *folder);
/* Whether the process has no mount namespace. */
bool places_active(void);
/* Where a file is; in a buffer of that length, if it is not where its name says. */
const char *places_found(const char *path, char *buffer);
/* Whether a file that was found may be changed. */
bool places_own(const char *path);
/* Writes a name down that led to something, unless that was done a short time ago. */
void places_note(char how, const char *name);

#endif

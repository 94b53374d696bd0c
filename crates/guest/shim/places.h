/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Files of a kernel whose process has no mount namespace: places.c. */
#ifndef NETLOOM_PLACES_H
#define NETLOOM_PLACES_H

#include <stdbool.h>

/* Takes the names and their places from the environment, and the kernel's own folder. Returns whether they make sense. */
bool places_read(const char *pairs, const char *folder);
/* From now on this is the kernel's own folder. */
void places_move(const char *folder);
/* Whether the process has no mount namespace. */
bool places_active(void);

#endif

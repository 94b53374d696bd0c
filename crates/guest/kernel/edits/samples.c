/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * An agent that takes samples is a program: it wakes its kernel, sets timers and takes a little lab time. So the kernel tells its device backend
 * (`shim/samples.c`) a function that hands over the state of all connections while no time passes.
 */

/* netloom: file net/ipv4/tcp_diag.c */
/* netloom: instead of */
static int __init tcp_diag_init(void)
/* netloom: put */
#include "samples/tcp_diag.c"
static int __init tcp_diag_init(void)
/* netloom: end */

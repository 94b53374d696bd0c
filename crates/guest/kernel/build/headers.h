/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Headers that most files of a kernel read, for cc.sh, in the order in which the kernel's own build has the first two. */
#include <linux/kconfig.h>
#include <linux/compiler_types.h>
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/mm.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/skbuff.h>
#include <linux/netdevice.h>
#include <net/sock.h>
#include <net/net_namespace.h>

/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * A block device whose medium is a file of the machine, for a node's disk. `netloom.disk=MEDIUM,LOG,JOURNAL,SECTORS,LATENCY,RATE,FLUSH`,
 * on the command line or at the checkpoint, makes /dev/disk0, and once more /dev/disk1: three descriptors that the process has (-1: no
 * journal), the size in sectors of 512 bytes, nanoseconds, bits per second (0: no limit) and nanoseconds.
 *
 * The kernel's own clock says when a request is done. Data passes one request after the other, at the rate, and is there or on its way to the
 * medium LATENCY later. A flush begins when all requests before it are done, and takes FLUSH; what comes behind it waits. A write with FUA
 * takes what a write and a flush take. So all requests end in the order in which they came, and in virtual time at the same instants in
 * each run.
 *
 * The device has a volatile write cache. Data is in the medium's file when a write begins, so that all reads find it there. What it has
 * replaced is in the log's file, until a flush has ended that began after the write: whoever finds both files after the end of the kernel
 * can undo each write that was in the cache then. The log is a sequence of records, of which some have bytes behind them:
 *
 *  - BEGIN, the first: its `number` is that of the log, which all other records of it have. What follows of another log is none of it.
 *  - WRITE: the bytes that the write of this number has replaced. It is there before the medium changes.
 *  - FLUSHED: a flush has ended. The writes whose records are in front of the place `sector` of the log are durable.
 *  - DURABLE: the write of this number, one with FUA, has ended.
 *
 * A flush behind which there is no write begins a new log, in the place of the old one. crates/guest/src/disk/log.rs reads it.
 *
 * The journal has an entry of 32 bytes for each request that has ended. crates/guest/src/disk/journal.rs reads it.
 *
 * A fault is about some requests: those of one call or more, within ranges of sectors if it has any, but for the first few, and as many
 * as it says. They fail, come late, or do something else than they say; the kernel above the device does not know. A request with several
 * faults suffers from all of them. crates/host/src/node/disk.rs writes the faults.
 */

/* netloom: file drivers/block/loop.c */
/* netloom: instead of */
module_init(loop_init);
/* netloom: put */
#include "disk/device.c"
#include "disk/faults.c"
#include "disk/driver.c"
module_init(loop_init);
/* netloom: end */

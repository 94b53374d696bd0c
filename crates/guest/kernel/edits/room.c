/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Each device takes one interrupt. To the 64 as many are added as the command line has devices, or says in `netloom.room` for those that
 * it will have; more would only take memory.
 */

/* netloom: file arch/um/include/asm/irq.h */
/* netloom: instead of */
#define UM_LAST_SIGNAL_IRQ	64
/* netloom: put */
#define UM_LAST_SIGNAL_IRQ	1040
/* netloom: end */

/* netloom: file arch/um/kernel/irq.c */
/* netloom: instead of */
#include <linux/cpumask.h>
/* netloom: put */
#include <linux/cpumask.h>
#include <linux/init.h>
#include <asm/setup.h>
/* netloom: end */
/* netloom: instead of */
int __init arch_probe_nr_irqs(void)
{
	return NR_IRQS;
}
/* netloom: put */
int __init arch_probe_nr_irqs(void)
{
	const char *device = boot_command_line, *room = strstr(device, "netloom.room=");
	int count = 64 + (room ? simple_strtoul(room + strlen("netloom.room="), NULL, 10) : 0);

	while ((device = strstr(device, "virtio_uml.device="))) {
		device++;
		count++;
	}
	return min(count, NR_IRQS);
}
/* netloom: end */

/* netloom: file arch/um/include/asm/setup.h */
/* netloom: instead of */
#define COMMAND_LINE_SIZE 4096
/* netloom: put */
#define COMMAND_LINE_SIZE 65536
/* netloom: end */

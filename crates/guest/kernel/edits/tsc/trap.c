/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "netloom."
static bool netloom_tsc;
module_param_named(tsc, netloom_tsc, bool, 0);

bool netloom_own_tsc(void);
bool netloom_own_tsc(void)
{
	return netloom_tsc;
}

/* Does what rdtsc (0f 31) or rdtscp (0f 01 f9) does, with the kernel's own clock. */
static bool netloom_rdtsc(struct uml_pt_regs *regs)
{
	unsigned char __user *ip = (void __user *)UPT_IP(regs);
	static unsigned int reads;
	unsigned char code[3];
	unsigned long long now;
	unsigned long flags;
	bool pays;

	if (!netloom_tsc || UPT_FAULTINFO(regs)->trap_no != 13 || copy_from_user(code, ip, 2) || code[0] != 0x0f)
		return false;
	if (code[1] == 0x31) {
		ip += 2;
	} else if (code[1] == 0x01 && !copy_from_user(code + 2, ip + 2, 1) && code[2] == 0xf9) {
		ip += 3;
		regs->gp[HOST_CX] = 0;
	} else {
		return false;
	}
	/* In virtual time a look at the clock takes time, but not with interrupts off: most of these take none. */
	pays = ++reads % 64 == 0;
	if (!pays)
		local_irq_save(flags);
	now = ktime_get_ns();
	if (!pays)
		local_irq_restore(flags);
	regs->gp[HOST_AX] = now & 0xffffffff;
	regs->gp[HOST_DX] = now >> 32;
	UPT_IP(regs) = (unsigned long)ip;
	return true;
}


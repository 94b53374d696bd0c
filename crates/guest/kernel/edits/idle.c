/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * An idle kernel should have nothing to do. Some parts look after themselves once in one to five seconds, whether they are used or not:
 * IPVS after attacks, Open vSwitch after its masks, a device after its queue. In virtual time each look costs what a packet costs, of
 * every node. They may wait until the kernel is awake for another reason, as Linux lets many others wait (TIMER_DEFERRABLE): without
 * a packet there is nothing to look after.
 *
 * A processor's scheduler has a deadline server for ordinary tasks, so that tasks of real-time classes do not starve them. Its timer runs
 * out a second after an ordinary task has woken up. Without a real-time task there is nobody to be served against; with the first one
 * the server starts.
 */

/* netloom: file net/netfilter/ipvs/ip_vs_ctl.c */
/* netloom: instead of */
	INIT_DELAYED_WORK(&ipvs->defense_work, defense_work_handler);
/* netloom: put */
	INIT_DEFERRABLE_WORK(&ipvs->defense_work, defense_work_handler);
/* netloom: end */

/* netloom: file net/openvswitch/datapath.c */
/* netloom: instead of */
	INIT_DELAYED_WORK(&ovs_net->masks_rebalance, ovs_dp_masks_rebalance);
/* netloom: put */
	INIT_DEFERRABLE_WORK(&ovs_net->masks_rebalance, ovs_dp_masks_rebalance);
/* netloom: end */

/* netloom: file net/sched/sch_generic.c */
/* netloom: instead of */
	timer_setup(&dev->watchdog_timer, dev_watchdog, 0);
/* netloom: put */
	timer_setup(&dev->watchdog_timer, dev_watchdog, TIMER_DEFERRABLE);
/* netloom: end */

/* netloom: file kernel/sched/deadline.c */
/* netloom: instead of */
	if (!dl_server(dl_se) || dl_se->dl_server_active || !dl_se->dl_runtime ||
	    !dl_se->dl_bw_attached)
		return;
/* netloom: put */
	if (!dl_server(dl_se) || dl_se->dl_server_active || !dl_se->dl_runtime ||
	    !dl_se->dl_bw_attached || !rq->rt.rt_nr_running)
		return;
/* netloom: end */

/* netloom: file kernel/sched/rt.c */
/* netloom: instead of */
	enqueue_rt_entity(rt_se, flags);

	if (task_is_blocked(p))
/* netloom: put */
	enqueue_rt_entity(rt_se, flags);
	if (rq->cfs.h_nr_queued)
		dl_server_start(&rq->fair_server);

	if (task_is_blocked(p))
/* netloom: end */

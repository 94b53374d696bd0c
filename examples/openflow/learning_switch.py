"""A learning switch: the controller notes behind which port each address is, and tells the switch of it once it knows both ends.

For os-ken, the maintained successor of Ryu: osken-manager learning_switch.py
"""

from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import ethernet, packet
from os_ken.ofproto import ofproto_v1_3


class LearningSwitch(app_manager.OSKenApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        # By switch and address.
        self.ports = {}

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def switch_joined(self, event):
        """What no other flow matches goes to the controller."""
        switch = event.msg.datapath
        print(f"switch {switch.id} joined", flush=True)
        protocol, parser = switch.ofproto, switch.ofproto_parser
        ask = parser.OFPActionOutput(protocol.OFPP_CONTROLLER, protocol.OFPCML_NO_BUFFER)
        self.add_flow(switch, 0, parser.OFPMatch(), [ask])

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def packet_in(self, event):
        message = event.msg
        switch, port = message.datapath, message.match["in_port"]
        protocol, parser = switch.ofproto, switch.ofproto_parser
        frame = packet.Packet(message.data).get_protocol(ethernet.ethernet)
        if self.ports.get((switch.id, frame.src)) != port:
            self.ports[switch.id, frame.src] = port
            print(f"switch {switch.id}: {frame.src} is behind port {port}", flush=True)
        out = self.ports.get((switch.id, frame.dst), protocol.OFPP_FLOOD)
        actions = [parser.OFPActionOutput(out)]
        if out != protocol.OFPP_FLOOD:
            match = parser.OFPMatch(in_port=port, eth_src=frame.src, eth_dst=frame.dst)
            self.add_flow(switch, 1, match, actions)
        switch.send_msg(
            parser.OFPPacketOut(switch, protocol.OFP_NO_BUFFER, port, actions, message.data)
        )

    @staticmethod
    def add_flow(switch, priority, match, actions):
        parser = switch.ofproto_parser
        apply = parser.OFPInstructionActions(switch.ofproto.OFPIT_APPLY_ACTIONS, actions)
        switch.send_msg(parser.OFPFlowMod(switch, priority=priority, match=match, instructions=[apply]))

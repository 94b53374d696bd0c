graph [
  node [ id 5 host_bandwidth_down "1 Gbit" host_bandwidth_up "1 Gbit" ]
  node [ id 6 host_bandwidth_down "20 Mbit" host_bandwidth_up "1 Mbit" ]
  edge [ source 5 target 6 latency "90 ms" packet_loss 0.0 ]
]

# Sources: started several times, changed while they send, with an end, of every way to make them.
set ns [new Simulator]
Agent/TCP set window_ 30
set a [$ns node]
set b [$ns node]
set c [$ns node]
$ns duplex-link $a $b 10Mb 20ms DropTail
$ns duplex-link $b $c 1.5Mb 20ms DropTail
set u [new Agent/UDP]
$ns attach-agent $a $u
set nul [new Agent/Null]
$ns attach-agent $b $nul
$ns connect $u $nul
set cbr [new Application/Traffic/CBR]
$cbr set packetSize_ 500
$cbr set rate_ 800kb
$cbr attach-agent $u
$ns at 1.0 "$cbr start"
$ns at 2.5 "$cbr set rate_ 4Mb"
$ns at 4.5 "$cbr stop"
set tcp0 [new Agent/TCP/Newreno]
$tcp0 set fid_ 1
$ns attach-agent $a $tcp0
set ftp0 [new Application/FTP]
$ftp0 attach-agent $tcp0
set sink5 [new Agent/TCPSink/DelAck]
$ns attach-agent $b $sink5
$ns connect $tcp0 $sink5
set file1 [open file1.tr w]
$tcp0 attach $file1
$tcp0 trace cwnd_
$ns at 0.1 "$ftp0 start"
$ns at 5 "$ftp0 stop"
$ns at 7 "$ftp0 start"
$ns at 14 "$ftp0 stop"
# A connection of one line, with sources of the older kind.
set tcp [$ns create-connection TCP/Reno $a TCPSink $c 0]
$tcp set window_ 15
set ftp [$tcp attach-source FTP]
$ftp set maxpkts_ 40
$ns at 0.0 "$ftp start"
set u2 [$ns create-connection UDP $a Null $c 0]
set c2 [$u2 attach-app Traffic/CBR]
$c2 set packetSize_ 1000
$c2 set interval_ 0.01
$c2 set maxpkts_ 3
$ns at 0.3 "$c2 start"
set tcp3 [$ns create-connection TCP $b TCPSink $c 0]
set ftp3 [$tcp3 attach-app FTP]
$ns at 0.5 "$ftp3 produce 10"
$ns at 0.6 "$ftp3 producemore 5"
$ns at 0.7 "$ftp3 send 2500"
# Pings, and a burst that is none.
set p1 [new Agent/Ping]
$ns attach-agent $a $p1
set p5 [new Agent/Ping]
$ns attach-agent $c $p5
$ns connect $p1 $p5
$ns at 0.1 "$p1 send"
$ns at 0.2 "$p1 send"
$ns at 0.5 "$p1 send"
set poisson [$u2 attach-app Traffic/Exponential]
$poisson set burst_time_ 0
$poisson set idle_time_ 10ms
$poisson set rate_ 100Mb
$poisson set packetSize_ 1000
$ns at 1 "$poisson start"
$ns at 2 "$ns detach-agent $a $u2"
$ns color 1 Blue
$ns monitor-queue $a $b stdout
set link [$ns link $a $b]
$link frobnicate
$ns frobnicate
set em [new ErrorModel]
$em set rate_ 0.01
$ns lossmodel $em $b $c
$ns at 6 "$em set rate_ 0.02"
$ns at 16 "exit 0"
$ns run

# TCP through a drop-tail buffer on ns-2: ns tcp_grid.tcl SECONDS VARIANT WINDOW BUFFER DELAYED [VARIANT ...], which prints a line
# of JSON for each case. VARIANT is tahoe, reno, newreno or sack; WINDOW and BUFFER count segments; DELAYED is 1 or 0.
#
# The network of tcp_grid.py, once for each case, side by side in one simulation: 100 Mbit/s and 1 ms, then 10 Mbit/s and 20 ms
# with BUFFER segments before it. A segment has the octets on the line that 1460 octets of payload have as an AAL5 PDU (32
# cells of 53), an ACK those of one cell. The timer is that of cellrate's presets: ticks of 10 ms, at least 1 s. NewReno is
# the impatient variant.

set seconds [lindex $argv 0]
remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
array set senders {tahoe Agent/TCP reno Agent/TCP/Reno newreno Agent/TCP/Newreno sack Agent/TCP/Sack1}
array set receivers {tahoe Agent/TCPSink reno Agent/TCPSink newreno Agent/TCPSink sack Agent/TCPSink/Sack1}
set all {}
foreach {variant window buffer delayed} [lrange $argv 1 end] {
    set a [$ns node]
    set sw [$ns node]
    set b [$ns node]
    $ns duplex-link $a $sw 100Mb 1ms DropTail
    $ns duplex-link $sw $b 10Mb 20ms DropTail
    $ns queue-limit $a $sw 1000000
    $ns queue-limit $b $sw 1000000
    $ns queue-limit $sw $b $buffer
    set tcp [new $senders($variant)]
    $tcp set packetSize_ 1656
    $tcp set tcpip_base_hdr_size_ 40
    $tcp set window_ $window
    $tcp set windowInit_ 2
    $tcp set tcpTick_ 0.01
    $tcp set minrto_ 1
    $tcp set rtxcur_init_ 1.0
    $tcp set singledup_ 0
    if {$variant eq "newreno"} { $tcp set newreno_changes1_ 1 }
    if {$delayed} {
        # ns-2 calls them so: Agent/TCPSink/DelAck, Agent/TCPSink/Sack1/DelAck.
        set receiver [new $receivers($variant)/DelAck]
        $receiver set interval_ 200ms
    } else {
        set receiver [new $receivers($variant)]
    }
    $receiver set packetSize_ 53
    $ns attach-agent $a $tcp
    $ns attach-agent $b $receiver
    $ns connect $tcp $receiver
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at 0 "$ftp start"
    lappend all $tcp
}
proc finish {} {
    global all
    foreach tcp $all {
        set delivered [expr {[$tcp set ack_] + 1}]
        puts "{\"delivered\": $delivered, \"again\": [$tcp set nrexmitpack_], \"timeouts\": [$tcp set nrexmit_], \"version\": \"[ns-version]\"}"
    }
    exit 0
}
$ns at $seconds finish
$ns run

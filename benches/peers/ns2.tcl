# W1's constant-rate and TCP equivalents on ns-2: ns ns2.tcl cbr|tcp SECONDS SOURCES DELAY, the delay in seconds, which
# prints a line of JSON. No traces.
#
# Units of 53 octets (cbr), or segments of 512 and 40 of headers with an ACK of 40 for each (tcp); links of 149.76 Mbit/s;
# drop-tail queues that never fill. Only the packet headers that are used, as the manual recommends; the calendar
# queue is the default scheduler. With very many sources routes are given: to find them takes longer than to run.

lassign $argv kind seconds sources delay
set given [expr {$sources > 100}]
remove-all-packet-headers
add-packet-header IP TCP Flags RTP
set ns [new Simulator]
$ns use-scheduler Calendar
Queue set limit_ 1000000
if {$given} {
    $ns rtproto Manual
}
set sw1 [$ns node]
set sw2 [$ns node]
$ns duplex-link $sw1 $sw2 149.76Mb $delay DropTail
for {set i 0} {$i < $sources} {incr i} {
    set s [$ns node]
    set d [$ns node]
    $ns duplex-link $s $sw1 149.76Mb $delay DropTail
    $ns duplex-link $sw2 $d 149.76Mb $delay DropTail
    if {$given} {
        [$s get-module Manual] add-route-to-adj-node -default $sw1
        [$sw2 get-module Manual] add-route-to-adj-node $d
    }
    set start [expr {($i + 1) * 2e-6}]
    if {$kind eq "cbr"} {
        set udp [new Agent/UDP]
        $udp set packetSize_ 53
        set sink($i) [new Agent/LossMonitor]
        $ns attach-agent $s $udp
        $ns attach-agent $d $sink($i)
        $ns connect $udp $sink($i)
        set cbr [new Application/Traffic/CBR]
        $cbr set packetSize_ 53
        set step [expr {$sources > 1 ? 42000.0 / ($sources * ($sources - 1)) : 0.0}]
        $cbr set rate_ [expr {(317880.0 / $sources + $step * ($i - ($sources - 1) / 2.0)) * 424}]
        $cbr attach-agent $udp
        $ns at $start "$cbr start"
    } else {
        set sink($i) [new Agent/TCP/Newreno]
        $sink($i) set packetSize_ 512
        $sink($i) set window_ 128
        $sink($i) set windowInit_ 2
        set receiver [new Agent/TCPSink]
        $ns attach-agent $s $sink($i)
        $ns attach-agent $d $receiver
        $ns connect $sink($i) $receiver
        set ftp [new Application/FTP]
        $ftp attach-agent $sink($i)
        $ns at $start "$ftp start"
    }
}
if {$given} {
    [$sw1 get-module Manual] add-route-to-adj-node -default $sw2
}
# User and system time of this process [s].
proc cpu {} {
    set file [open /proc/self/stat]
    set fields [read $file]
    close $file
    return [expr {([lindex $fields 13] + [lindex $fields 14]) / 100.0}]
}
proc finish {} {
    global begun busy sink kind sources
    set spent [expr {[cpu] - $busy}]
    set wall [expr {([clock microseconds] - $begun) / 1e6}]
    set delivered 0
    set again 0
    for {set i 0} {$i < $sources} {incr i} {
        if {$kind eq "cbr"} {
            incr delivered [$sink($i) set npkts_]
        } else {
            incr delivered [expr {[$sink($i) set ack_] + 1}]
            incr again [$sink($i) set nrexmitpack_]
        }
    }
    puts "{\"delivered\": $delivered, \"again\": $again, \"wall_s\": $wall, \"cpu_s\": $spent, \"version\": \"[ns-version]\"}"
    exit 0
}
$ns at $seconds finish
set begun [clock microseconds]
set busy [cpu]
$ns run

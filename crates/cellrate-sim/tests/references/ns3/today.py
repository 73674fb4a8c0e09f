"""Record reference traces of today's TCP from ns-3: CUBIC, proportional rate reduction, ECN, DCTCP and pacing.

Needs the package ns3 (3.44) in the interpreter that runs this. The line is that of generate.py: 10 Mb/s, 20 ms, PPP
framing, no queue limit, segments of 1000 octets, an ACK for every segment, SACK, no timestamps, minimum RTO 1 s.
HyStart is off, and limited transmit, too. A list says which packets that reach the receiver are lost, or marked (0 is
the SYN, 1 the ACK of the handshake).

    python today.py        writes CASE.csv beside this file, one for each case

ns-3 has no RACK-TLP, and paces from the first segment on, where Linux lets ten go. Where `every` is given, only cwnd is
written, at most once in so many ms. ACKs that tell of marks are rows of "ece", DCTCP's estimate after each window rows
of "alpha".
"""

from dataclasses import dataclass
from pathlib import Path

from ns import ns


@dataclass(frozen=True)
class Case:
    """A transfer."""

    control: str
    recovery: str = "TcpPrrRecovery"
    ssthresh: int = 0
    """In segments; 0 for none."""
    window: int = 64
    """In segments."""
    segments: int = 300
    lost: tuple[int, ...] = ()
    marked: tuple[int, ...] = ()
    paced: bool = False
    every: int = 0
    """In ms."""

    def __str__(self) -> str:
        """Say what there is beside the control and the recovery."""
        said = []
        for name, packets in (("lost", self.lost), ("marked", self.marked)):
            if packets:
                listed = str(packets) if len(packets) <= 5 else f"{len(packets)} from {packets[0]} to {packets[-1]}"
                said.append(f"packets {name}: {listed}")
        return ", ".join([*said, *(["paced"] if self.paced else [])])


CASES = {
    "prr-one-loss": Case("TcpNewReno", lost=(42,)),
    "cubic-growth": Case("TcpCubic", ssthresh=100, window=2000, segments=8000, lost=(2000,), every=50),
    # Three of a window, which are one reduction, and one of a later window.
    "ecn-marks": Case("TcpNewReno", ssthresh=20, marked=(60, 61, 70, 200)),
    # A share of a window after nothing was marked for long, then one in 25, then none.
    "dctcp-marks": Case(
        "TcpDctcp", ssthresh=30, window=200, segments=1200, marked=(*range(100, 110), *range(400, 1100, 25))
    ),
    "paced": Case("TcpNewReno", ssthresh=20, window=40, segments=500, paced=True),
}

ns.cppyy.cppdef(
    r"""
    #include <sstream>
    using namespace ns3;
    static std::ostringstream* out;
    static int64_t next_row, every;
    static void OnWindow(uint32_t, uint32_t now) {
        int64_t at = Simulator::Now().GetNanoSeconds();
        if (every == 0 || at >= next_row) {
            *out << "cwnd," << at << "," << now << "\n";
            next_row = at + every;
        }
    }
    static void OnSend(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t) {
        Ptr<Packet> copy = packet->Copy();
        Ipv4Header ip;
        copy->RemoveHeader(ip);
        TcpHeader tcp;
        copy->RemoveHeader(tcp);
        if (copy->GetSize() > 0 && every == 0) {
            int64_t at = Simulator::Now().GetNanoSeconds();
            *out << "data," << at << "," << tcp.GetSequenceNumber().GetValue() - 1 << "\n";
        }
    }
    static void OnAnswer(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t) {
        Ptr<Packet> copy = packet->Copy();
        Ipv4Header ip;
        copy->RemoveHeader(ip);
        TcpHeader tcp;
        copy->RemoveHeader(tcp);
        if ((tcp.GetFlags() & TcpHeader::ECE) && !(tcp.GetFlags() & TcpHeader::SYN)) {
            *out << "ece," << Simulator::Now().GetNanoSeconds() << "," << tcp.GetAckNumber().GetValue() - 1 << "\n";
        }
    }
    static void OnEstimate(uint32_t, uint32_t, double alpha) {
        *out << "alpha," << Simulator::Now().GetNanoSeconds() << "," << alpha << "\n";
    }
    // Marks packets by their number, which no model of ns-3 does.
    class Marks : public ErrorModel {
      public:
        std::list<uint32_t> lost, marked;
        uint32_t number = 0;
      private:
        bool DoCorrupt(Ptr<Packet> packet) override {
            uint32_t now = number++;
            if (std::find(marked.begin(), marked.end(), now) != marked.end()) {
                PppHeader ppp;
                Ipv4Header ip;
                packet->RemoveHeader(ppp);
                packet->RemoveHeader(ip);
                ip.SetEcn(Ipv4Header::ECN_CE);
                packet->AddHeader(ip);
                packet->AddHeader(ppp);
            }
            return std::find(lost.begin(), lost.end(), now) != lost.end();
        }
        void DoReset() override { number = 0; }
    };
    static void Watch() {
        Config::ConnectWithoutContext("/NodeList/0/$ns3::TcpL4Protocol/SocketList/0/CongestionWindow",
                                      MakeCallback(&OnWindow));
        Config::ConnectWithoutContextFailSafe(
            "/NodeList/0/$ns3::TcpL4Protocol/SocketList/0/CongestionOps/$ns3::TcpDctcp/CongestionEstimate",
            MakeCallback(&OnEstimate));
    }
    std::string Record(std::string control, std::string recovery, uint32_t ssthresh, uint32_t window,
                       uint32_t segments, std::vector<uint32_t> lost, std::vector<uint32_t> marked, bool paced,
                       uint32_t ms) {
        std::ostringstream text;
        out = &text;
        every = ms * 1000000LL;
        next_row = 0;
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1000));
        Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
        Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold",
                           UintegerValue(ssthresh ? 1000 * ssthresh : 0xffffffff));
        Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1000 * window));
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(20000000));
        Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
        Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
        Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(marked.empty() ? "Off" : "On"));
        Config::SetDefault("ns3::TcpSocketState::EnablePacing", BooleanValue(paced));
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + control)));
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::" + recovery)));
        NodeContainer nodes;
        nodes.Create(2);
        PointToPointHelper line;
        line.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
        line.SetChannelAttribute("Delay", StringValue("20ms"));
        line.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
        NetDeviceContainer devices = line.Install(nodes);
        InternetStackHelper().Install(nodes);
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        TrafficControlHelper().Uninstall(devices);
        Ptr<Marks> marks = CreateObject<Marks>();
        marks->lost.assign(lost.begin(), lost.end());
        marks->marked.assign(marked.begin(), marked.end());
        devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(marks));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), 9));
        source.SetAttribute("MaxBytes", UintegerValue(1000 * segments));
        source.SetAttribute("SendSize", UintegerValue(1000));
        source.Install(nodes.Get(0)).Start(Seconds(0));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
        sink.Install(nodes.Get(1)).Start(Seconds(0));
        nodes.Get(0)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("Tx", MakeCallback(&OnSend));
        nodes.Get(1)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("Tx", MakeCallback(&OnAnswer));
        Simulator::Schedule(MilliSeconds(1), &Watch);
        Simulator::Stop(Seconds(20));
        Simulator::Run();
        Simulator::Destroy();
        return text.str();
    }
    """
)

HEADER = "# ns-3 3.44, {name}: {control}, {recovery}, {case}; written by today.py\n# what,time [ns],octets (alpha: 1)\n"

for name, case in CASES.items():
    lost, marked = (ns.cppyy.gbl.std.vector["uint32_t"](list(some)) for some in (case.lost, case.marked))
    text = ns.cppyy.gbl.Record(
        case.control, case.recovery, case.ssthresh, case.window, case.segments, lost, marked, case.paced, case.every
    )
    path = Path(__file__).with_name(f"{name}.csv")
    path.write_text(HEADER.format(name=name, control=case.control, recovery=case.recovery, case=case) + str(text))
    print(path.name, len(str(text).splitlines()), "rows")

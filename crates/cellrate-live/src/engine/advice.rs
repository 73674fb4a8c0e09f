//! Throughput advice that adapters write into SCONE packets of their hosts: elements of the network at its edge.
//!
//! A switch sees cells and no datagrams; an adapter has the datagrams whole, and ACR, which is what the algorithms of
//! all switches on the way leave the connection. What a fixed policy advises, an adapter writes too, both ways.

use std::net::SocketAddr;

use cellrate_proto::scone::datagram::Located;
use cellrate_proto::scone::{Element, Outcome, RateSignal};
use cellrate_proto::wire::{Encapsulation, cells_for};
use cellrate_proto::{BitRate, Octets, Source, Time};
use cellrate_scenario::{Advised, SconeElements};

/// The datagram in which ACR is counted \[octets\]: the largest that every path of QUIC carries (RFC 9000, section 14),
/// and the headers of IPv4 and UDP.
const DATAGRAM: u64 = 1200;
const HEADERS: u64 = 28;

/// Addresses and ports of a flow, in its direction.
type Flow = (SocketAddr, SocketAddr);

/// The elements at an adapter.
#[derive(Debug)]
pub(crate) struct Advice {
    leaving: Option<(Advised, Element<Flow>)>,
    arriving: Option<(BitRate, Element<Flow>)>,
    pub counts: AdviceCounts,
}

/// SCONE packets at the elements of an adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AdviceCounts {
    /// All that came there.
    pub packets: u64,
    /// Packets whose signal was lowered.
    pub lowered: u64,
    /// Packets that were above the advice and stayed so, because the flow had been updated often enough or too many
    /// came.
    pub held_back: u64,
}

impl Advice {
    /// Elements with these settings; `None` where nothing is advised.
    pub fn new(settings: SconeElements) -> Option<Advice> {
        let element = || Element::new(settings.element());
        let SconeElements { leaving, arriving, .. } = settings;
        (leaving.is_some() || arriving.is_some()).then(|| Advice {
            leaving: leaving.map(|advised| (advised, element())),
            arriving: arriving.map(|rate| (rate, element())),
            counts: AdviceCounts::default(),
        })
    }

    /// Whether a rate is needed.
    pub fn goes_by_rate(&self) -> bool {
        matches!(self.leaving, Some((Advised::Acr, _)))
    }

    /// Whether it looks at what comes for the host.
    pub fn looks_at_arriving(&self) -> bool {
        self.arriving.is_some()
    }

    /// The host sends `packet`, over a connection of this `source`.
    pub fn on_leaving(&mut self, now: Time, packet: &mut [u8], source: Option<&Source>) {
        let Some((advised, element)) = &mut self.leaving else { return };
        let advice = |element: &mut Element<Flow>, flow| match advised {
            Advised::Policy(rate) => RateSignal::floor(*rate),
            Advised::Acr => match source {
                Some(source) => shared(source, element.flows_with(now, flow)),
                None => RateSignal::UNKNOWN,
            },
        };
        self.counts.look(now, packet, element, advice);
    }

    /// `packet` has come for the host.
    pub fn on_arriving(&mut self, now: Time, packet: &mut [u8]) {
        let Some((rate, element)) = &mut self.arriving else { return };
        self.counts.look(now, packet, element, |_, _| RateSignal::floor(*rate));
    }
}

impl AdviceCounts {
    fn look(
        &mut self,
        now: Time,
        packet: &mut [u8],
        element: &mut Element<Flow>,
        advice: impl FnOnce(&mut Element<Flow>, Flow) -> RateSignal,
    ) {
        let Some(located) = Located::find(packet) else { return };
        let flow = (located.from, located.to);
        let advice = advice(element, flow);
        match element.on_datagram(now, flow, located.payload(packet), advice) {
            Outcome::NotScone => return,
            Outcome::Lowered(before) => {
                located.mend_checksum(packet, before);
                self.lowered += 1;
            }
            Outcome::AlreadyLower => {}
            Outcome::HeldBack | Outcome::Flooded => self.held_back += 1,
        }
        self.packets += 1;
    }
}

/// The rate of datagrams that ACR of a connection carries, for each of `flows`: without the cells that are FRMs,
/// headers and trailers.
fn shared(source: &Source, flows: usize) -> RateSignal {
    let cells = cells_for(Octets(DATAGRAM + HEADERS), Encapsulation::LlcSnapIpv4).0 as f64;
    let data_part = 1.0 - 1.0 / f64::from(source.parameters().nrm);
    let bits = source.acr().as_cells_per_s() * data_part / cells * (DATAGRAM * 8) as f64;
    RateSignal::floor(BitRate::from_bps((bits / flows.max(1) as f64) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::scone::packet::{SconePacket, emit};
    use cellrate_proto::uili::UiliConfig;
    use cellrate_proto::{AbrParameters, CellRate};

    const PORT: u16 = 443;

    /// A packet of UDP without checksum, with a SCONE packet in front.
    fn packet(port: u16) -> Vec<u8> {
        let mut payload = emit(RateSignal::UNKNOWN, &[7; 8], &[]).unwrap();
        payload.extend([0x40, 7, 7, 7]);
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend([port, 5000].map(u16::to_be_bytes).concat());
        packet.extend((8 + payload.len() as u16).to_be_bytes());
        packet.extend([0, 0]);
        packet.extend(payload);
        let length = packet.len() as u16;
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        packet
    }

    fn told(packet: &[u8]) -> Option<BitRate> {
        SconePacket::parse(&packet[28..]).unwrap().signal.rate()
    }

    fn policy(leaving: Option<u64>, arriving: Option<u64>) -> SconeElements {
        SconeElements {
            leaving: leaving.map(|bps| Advised::Policy(BitRate::from_bps(bps))),
            arriving: arriving.map(BitRate::from_bps),
            ..SconeElements::default()
        }
    }

    #[test]
    fn each_way_has_its_own_policy_and_the_lower_one_wins() {
        assert!(Advice::new(SconeElements::default()).is_none());
        let (slow, fast) = (BitRate::from_bps(1_000_000), BitRate::from_bps(10_000_000));
        for (leaving, arriving) in [(slow, fast), (fast, slow)] {
            let settings = policy(Some(leaving.as_bps()), Some(arriving.as_bps()));
            let mut advice = Advice::new(settings).unwrap();
            let mut packet = packet(PORT);
            advice.on_leaving(Time::ZERO, &mut packet, None);
            assert_eq!(told(&packet), Some(leaving));
            advice.on_arriving(Time::ZERO, &mut packet);
            assert_eq!(told(&packet), Some(slow));
            let lowered = if leaving == fast { 2 } else { 1 };
            assert_eq!(advice.counts, AdviceCounts { packets: 2, lowered, held_back: 0 });
        }
    }

    #[test]
    fn what_is_no_scone_packet_stays_as_it_is_and_updates_are_few() {
        let mut advice = Advice::new(policy(Some(1_000_000), None)).unwrap();
        let mut tcp = packet(PORT);
        tcp[9] = 6;
        let mut fragment = packet(PORT);
        fragment[6] = 0x20;
        let mut short = packet(PORT);
        short[28] &= 0x7f;
        for mut other in [tcp, fragment, short, vec![], vec![0x45; 20], vec![0x60; 90]] {
            let before = other.clone();
            advice.on_leaving(Time::ZERO, &mut other, None);
            advice.on_arriving(Time::ZERO, &mut other);
            assert_eq!(other, before);
        }
        assert_eq!(advice.counts, AdviceCounts::default());
        let mut lowered = 0;
        for _ in 0..20 {
            let mut packet = packet(PORT);
            advice.on_leaving(Time::ZERO, &mut packet, None);
            lowered += u64::from(told(&packet).is_some());
        }
        assert_eq!(advice.counts, AdviceCounts { packets: 20, lowered, held_back: 20 - lowered });
        assert_eq!(lowered, 3);
    }

    #[test]
    fn acr_is_shared_by_the_flows_that_were_advised() {
        // 10,000 cells/s, of which one in 32 is an FRM; 26 cells carry a datagram of 1200 octets.
        let rate = CellRate::new(10_000.0);
        let parameters = AbrParameters { icr: rate, ..AbrParameters::new(rate) };
        let source = Source::new(parameters, &UiliConfig::None);
        let bits = source.acr().as_cells_per_s() * 31.0 / 32.0 / 26.0 * 9600.0;
        let settings = SconeElements { leaving: Some(Advised::Acr), ..SconeElements::default() };
        let mut advice = Advice::new(settings).unwrap();
        for (flows, port) in (1..).zip(PORT..PORT + 4) {
            let mut packet = packet(port);
            advice.on_leaving(Time::ZERO, &mut packet, Some(&source));
            let signal = RateSignal::floor(BitRate::from_bps((bits / f64::from(flows)) as u64));
            assert_eq!(told(&packet), signal.rate(), "{flows}");
        }
        let mut unknown = packet(PORT);
        advice.on_leaving(Time::ZERO, &mut unknown, None);
        assert_eq!(told(&unknown), None, "without ACR there is no advice");
    }
}

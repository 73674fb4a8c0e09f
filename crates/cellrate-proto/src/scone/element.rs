//! An element of the network: recognizes SCONE packets, lowers their signal, and holds back where it must.

use alloc::collections::{BTreeMap, BTreeSet};

use super::packet::{SconePacket, write_signal};
use super::{PERIOD, RateSignal};
use crate::units::{Duration, Time};

/// How often an element updates, and how much it remembers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementConfig {
    /// Packets of a flow that are updated one after the other at its beginning and after each change of its advice, so
    /// that one of them arrives.
    pub burst: u32,
    /// Time between updates of a flow otherwise; at most half of [`PERIOD`], so that advice survives a lost packet.
    pub every: Duration,
    /// Updates of a flow in a period at most, however often its advice changes: another protocol could look alike.
    pub most: u32,
    /// Flows that are remembered at a time. Where there are more, the one that was silent for the longest is forgotten.
    pub flows: usize,
    /// SCONE packets that are looked at in a second; more go by untouched, so that a flood of them costs little.
    pub packets_per_s: u32,
}

/// The first three packets, then one every 20 s as the draft advises senders, and 12 in a period at most; 65,536 flows,
/// 100,000 packets a second.
impl Default for ElementConfig {
    fn default() -> ElementConfig {
        ElementConfig {
            burst: 3,
            every: Duration::from_secs(20),
            most: 12,
            flows: 1 << 16,
            packets_per_s: 100_000,
        }
    }
}

/// The fate of a datagram at an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It does not begin with a SCONE packet.
    NotScone,
    /// Its signal was replaced; the first two octets were these before.
    Lowered([u8; 2]),
    /// It says no more than this element advises.
    AlreadyLower,
    /// Its flow has been updated often enough for now.
    HeldBack,
    /// More SCONE packets came within this second than the element looks at.
    Flooded,
}

/// An element that writes throughput advice into SCONE packets. `K` tells flows apart: addresses and ports, say.
///
/// It changes at most the seven bits of the signal, and only downwards; it never lengthens a datagram and never makes
/// one of its own. Its state is bounded by [`ElementConfig::flows`].
///
/// ```
/// use cellrate_proto::scone::packet::emit;
/// use cellrate_proto::scone::{Element, ElementConfig, Outcome, RateSignal};
/// use cellrate_proto::{BitRate, Time};
/// let mut element = Element::new(ElementConfig::default());
/// let mut datagram = emit(RateSignal::UNKNOWN, &[7], &[]).unwrap();
/// datagram.push(0x40);
/// let advice = RateSignal::floor(BitRate::from_bps(5_000_000));
/// assert!(matches!(element.on_datagram(Time::ZERO, "a flow", &mut datagram, advice), Outcome::Lowered(_)));
/// assert_eq!(element.on_datagram(Time::ZERO, "a flow", &mut datagram, RateSignal::HIGHEST), Outcome::AlreadyLower);
/// ```
#[derive(Clone, Debug)]
pub struct Element<K> {
    config: ElementConfig,
    flows: BTreeMap<K, Flow>,
    /// Flows by when they were last heard of.
    heard: BTreeSet<(Time, K)>,
    /// The second that is counted, and SCONE packets in it.
    second: (u64, u32),
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    heard: Time,
    advice: RateSignal,
    /// Updates that are left of the burst.
    left: u32,
    /// The next update is due from here on.
    next: Time,
    /// When the period began in which updates are counted, and how many there were.
    counted: (Time, u32),
}

impl<K: Ord + Copy> Element<K> {
    /// An element that has seen nothing yet.
    pub fn new(config: ElementConfig) -> Element<K> {
        Element { config, flows: BTreeMap::new(), heard: BTreeSet::new(), second: (0, 0) }
    }

    /// Flows that it remembers.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// Flows that were advised in the period up to `now`, with `flow` among them whether it was or not: those that
    /// share a rate which is not that of one flow.
    pub fn flows_with(&mut self, now: Time, flow: K) -> usize {
        while let Some(&(heard, key)) = self.heard.first()
            && now.since(heard) >= PERIOD
        {
            self.heard.pop_first();
            self.flows.remove(&key);
        }
        self.flows.len() + usize::from(!self.flows.contains_key(&flow))
    }

    /// Handles a datagram of a flow on its way, which is advised `advice`; [`RateSignal::UNKNOWN`] advises nothing.
    pub fn on_datagram(&mut self, now: Time, flow: K, datagram: &mut [u8], advice: RateSignal) -> Outcome {
        let Ok(packet) = SconePacket::parse(datagram) else { return Outcome::NotScone };
        let signal = packet.signal;
        if self.is_flooded(now) {
            return Outcome::Flooded;
        }
        if advice >= signal {
            return Outcome::AlreadyLower;
        }
        if !self.may_update(now, flow, advice) {
            return Outcome::HeldBack;
        }
        let before = [datagram[0], datagram[1]];
        write_signal(datagram, advice);
        Outcome::Lowered(before)
    }

    fn is_flooded(&mut self, now: Time) -> bool {
        let second = now.as_ps() / Duration::from_secs(1).as_ps();
        if self.second.0 != second {
            self.second = (second, 0);
        }
        self.second.1 = self.second.1.saturating_add(1);
        self.second.1 > self.config.packets_per_s
    }

    /// Whether a flow's packet may be changed now. Other protocols could look alike, so that few of an address pair's
    /// datagrams may be changed in a period.
    fn may_update(&mut self, now: Time, key: K, advice: RateSignal) -> bool {
        let fresh = Flow { heard: now, advice, left: self.config.burst, next: now, counted: (now, 0) };
        let known = self.flows.get(&key).copied();
        if let Some(flow) = known {
            self.heard.remove(&(flow.heard, key));
        } else if self.flows.len() >= self.config.flows.max(1)
            && let Some((_, silent)) = self.heard.pop_first()
        {
            self.flows.remove(&silent);
        }
        let mut flow = known.filter(|flow| now.since(flow.heard) < PERIOD).unwrap_or(fresh);
        if flow.advice != advice {
            flow = Flow { advice, counted: flow.counted, ..fresh };
        }
        if now.since(flow.counted.0) >= PERIOD {
            flow.counted = (now, 0);
        }
        flow.heard = now;
        let may = flow.counted.1 < self.config.most && (flow.left > 0 || now >= flow.next);
        if may {
            flow.counted.1 += 1;
            flow.left = flow.left.saturating_sub(1);
            flow.next = now.saturating_add(self.config.every);
        }
        self.flows.insert(key, flow);
        self.heard.insert((now, key));
        may
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::super::packet::emit;
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO.saturating_add(Duration::from_secs(seconds))
    }

    fn datagram() -> Vec<u8> {
        let mut octets = emit(RateSignal::UNKNOWN, &[1, 2, 3, 4], &[5]).unwrap();
        octets.extend([0x40, 1, 2]);
        octets
    }

    fn signal(n: u8) -> RateSignal {
        RateSignal::from_bits(n)
    }

    #[test]
    fn of_two_elements_in_a_row_the_lower_one_wins_whichever_comes_first() {
        for (first, second) in [(40, 60), (60, 40), (41, 40)] {
            let mut datagram = datagram();
            for advice in [first, second] {
                Element::new(ElementConfig::default()).on_datagram(at(0), (), &mut datagram, signal(advice));
            }
            assert_eq!(SconePacket::parse(&datagram).unwrap().signal, signal(first.min(second)));
        }
    }

    #[test]
    fn all_but_the_signal_of_seven_bits_stays() {
        let mut changed = datagram();
        let before = changed.clone();
        let outcome = Element::new(ElementConfig::default()).on_datagram(at(0), (), &mut changed, signal(64));
        assert_eq!(outcome, Outcome::Lowered([before[0], before[1]]));
        assert_eq!((changed[0], changed[1]), (0xc0 | 32, before[1] & 0x7f));
        assert_eq!(changed[2..], before[2..]);
    }

    #[test]
    fn the_first_three_packets_are_updated_then_one_every_20_s() {
        let mut element = Element::new(ElementConfig::default());
        let updated: Vec<u64> = (0..67)
            .filter(|&second| {
                matches!(
                    element.on_datagram(at(second), (), &mut datagram(), signal(40)),
                    Outcome::Lowered(_)
                )
            })
            .collect();
        assert_eq!(updated, [0, 1, 2, 22, 42, 62]);
    }

    #[test]
    fn a_change_of_advice_is_told_at_once() {
        let mut element = Element::new(ElementConfig::default());
        for second in 0..10 {
            element.on_datagram(at(second), (), &mut datagram(), signal(40));
        }
        assert_eq!(element.on_datagram(at(10), (), &mut datagram(), signal(40)), Outcome::HeldBack);
        for second in 11..14 {
            let outcome = element.on_datagram(at(second), (), &mut datagram(), signal(39));
            assert!(matches!(outcome, Outcome::Lowered(_)));
        }
        assert_eq!(element.on_datagram(at(14), (), &mut datagram(), signal(39)), Outcome::HeldBack);
    }

    /// A flow in which every datagram looks like SCONE is changed 12 times in a period, whatever advice does.
    #[test]
    fn few_datagrams_of_a_flow_are_changed_whatever_the_advice_does() {
        let mut element = Element::new(ElementConfig::default());
        let changed = (0..6_700u64).filter(|&step| {
            let now = Time::ZERO.saturating_add(Duration::from_ms(10 * step));
            let advice = signal(40 + (step % 2) as u8);
            matches!(element.on_datagram(now, (), &mut datagram(), advice), Outcome::Lowered(_))
        });
        assert_eq!(changed.count(), 12);
        assert!(matches!(element.on_datagram(at(67), (), &mut datagram(), signal(40)), Outcome::Lowered(_)));
    }

    #[test]
    fn flows_that_were_silent_for_a_period_share_nothing() {
        let mut element = Element::new(ElementConfig::default());
        assert_eq!(element.flows_with(at(0), 1), 1);
        element.on_datagram(at(0), 1, &mut datagram(), signal(40));
        element.on_datagram(at(30), 2, &mut datagram(), signal(40));
        assert_eq!((element.flows_with(at(66), 1), element.flows_with(at(66), 3)), (2, 3));
        assert_eq!((element.flows_with(at(67), 2), element.flows()), (1, 1));
    }

    #[test]
    fn a_flood_of_flows_and_of_packets_costs_bounded_state_and_few_changes() {
        let config = ElementConfig { flows: 100, packets_per_s: 1_000, ..ElementConfig::default() };
        let mut element = Element::new(config);
        let outcomes: Vec<Outcome> =
            (0..5_000).map(|flow| element.on_datagram(at(0), flow, &mut datagram(), signal(40))).collect();
        assert_eq!(element.flows(), 100);
        assert_eq!(element.heard.len(), 100);
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Flooded).count(), 4_000);
        assert!(matches!(element.on_datagram(at(1), 1, &mut datagram(), signal(40)), Outcome::Lowered(_)));
    }

    proptest! {
        /// Whatever a datagram holds, it is never longer afterwards, never says more, and changes only where it begins
        /// with a SCONE packet.
        #[test]
        fn what_is_not_scone_is_not_touched(
            mut octets in prop::collection::vec(any::<u8>(), 0..64), is_alike: bool, advice in 0u8..128,
        ) {
            if is_alike && octets.len() > 5 {
                octets[0] |= 0x80;
                let version = [0x6f | octets[1] & 0x80, 0x7d, 0xc0, 0xfd];
                octets[1..5].copy_from_slice(&version);
            }
            let before = octets.clone();
            let said = SconePacket::parse(&before).map(|packet| packet.signal);
            let outcome = Element::new(ElementConfig::default()).on_datagram(at(0), (), &mut octets, signal(advice));
            match (said, outcome) {
                (Err(_), outcome) => {
                    prop_assert_eq!(outcome, Outcome::NotScone);
                    prop_assert_eq!(octets, before);
                }
                (Ok(said), Outcome::Lowered(_)) => {
                    let says = SconePacket::parse(&octets).unwrap().signal;
                    prop_assert!(says < said && says == signal(advice));
                    prop_assert_eq!(&octets[2..], &before[2..]);
                }
                (Ok(said), outcome) => {
                    prop_assert!(outcome == Outcome::AlreadyLower && signal(advice) >= said);
                    prop_assert_eq!(octets, before);
                }
            }
        }
    }
}

//! Options of TCP since the nineties, and ports that mark packets, added to random networks.

use std::sync::Arc;

use cellrate_proto::switch::{PacketMarkingConfig, RedConfig};
use cellrate_proto::{Cells, Duration, Octets};
use cellrate_scenario::*;
use cellrate_sim::random::{Owner, Random, Stream};

use super::{Dice, random_tcp, random_tcp_bottleneck, random_tcp_shared_hosts};
use crate::random_world::frame_discard::discarding;
use crate::random_world::queueing::taking_turns;
use crate::random_world::segments::segmented;

/// Networks of TCP with its options, before ports that mark, and some that discard, segment loops or take turns.
pub fn random_modern_tcp(number: u64) -> Scenario {
    let kinds: [fn(u64) -> Scenario; 4] =
        [random_tcp, random_tcp, random_tcp_bottleneck, random_tcp_shared_hosts];
    let scenario = modern(kinds[number as usize % 4](number), number);
    match number % 7 {
        0 => discarding(scenario, number),
        1 => segmented(scenario, number),
        2 => taking_turns(scenario, number),
        _ => scenario,
    }
}

/// `scenario` with RACK-TLP, proportional rate reduction and pacing in some of its TCP; by the network's number.
pub fn of_today(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Dice(Random::new(number, Stream::Thoughts(Owner::named("today"), 0)));
    for connection in &mut scenario.connections {
        let edge = if connection.pages().is_some() { None } else { dice.edge(connection.category) };
        for flow in [&mut connection.forward, &mut connection.backward] {
            if let Some(Traffic::Tcp(traffic)) = &mut flow.traffic {
                traffic.adapter_queue = edge.unwrap_or(traffic.adapter_queue);
                let tcp = &mut traffic.tcp;
                tcp.recovery = Recovery::Sack;
                tcp.rack_tlp = !dice.one_in(3);
                tcp.rate_reduction = dice.pick(&[
                    None,
                    Some(RateReduction::Conservative),
                    Some(RateReduction::SlowStart),
                    Some(RateReduction::SafeAck),
                ]);
                tcp.pacing = !dice.one_in(3);
                tcp.timeout.granularity = dice.pick(&[Duration::from_us(1), tcp.timeout.granularity]);
                tcp.window_validation = !dice.one_in(4);
                tcp.idle_restart =
                    dice.pick(&[IdleRestart::None, IdleRestart::RestartWindow, IdleRestart::Linux]);
                if dice.one_in(2) {
                    tcp.congestion_control = CongestionControl::LinuxCubic;
                    tcp.estimator = Estimator::Linux;
                }
                if dice.one_in(2) && tcp.mss.0 > TIMESTAMPS_OCTETS.0 {
                    tcp.timestamps = true;
                    tcp.slow_start = dice.pick(&[SlowStart::HyStart, SlowStart::HyStartPlusPlus]);
                }
            }
        }
    }
    scenario
}

/// `scenario` with timestamps and ECN in some of its TCP, and switches that mark packets; by the network's number.
fn modern(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Dice(Random::new(number, Stream::Thoughts(Owner::named("options"), 0)));
    for connection in &mut scenario.connections {
        for flow in [&mut connection.forward, &mut connection.backward] {
            if let Some(Traffic::Tcp(traffic)) = &mut flow.traffic {
                dice.options(&mut traffic.tcp);
            }
        }
    }
    let Scenario { nodes, links, .. } = &mut scenario;
    for link in links {
        for (node, port) in link.ends.iter().zip(&mut link.ports) {
            if nodes[node.0 as usize].kind == NodeKind::Switch && !dice.one_in(3) {
                let threshold = Cells(dice.pick(&[0, 1, 2, 10, 40]));
                let step = PacketMarkingConfig::Step { threshold };
                Arc::make_mut(port).ecn = Some(if dice.one_in(2) { step } else { dice.red() });
            }
        }
    }
    scenario
}

impl Dice {
    /// An adapter that goes by ACKs, at every second connection.
    fn edge(&mut self, category: Category) -> Option<AdapterQueue> {
        if self.one_in(2) {
            return None;
        }
        let window = AdapterQueue::Window(self.pick(&[Duration::from_us(424), Duration::from_ms(3)]));
        let hold = AdapterQueue::HoldAcks(Cells(self.pick(&[1, 33, 100])));
        Some(if category == Category::Abr && self.one_in(2) { window } else { hold })
    }

    fn red(&mut self) -> PacketMarkingConfig {
        let minimum = Cells(self.pick(&[0, 1, 3, 10]));
        PacketMarkingConfig::Red(RedConfig {
            minimum,
            maximum: Cells(minimum.0 + self.pick(&[1, 5, 30])),
            probability: self.pick(&[0.1, 0.5, 1.0]),
            weight: self.pick(&[0.02, 0.3, 1.0]),
            gentle: self.one_in(2),
            packet: Cells(self.pick(&[1, 32])),
        })
    }

    fn options(&mut self, tcp: &mut TcpConfig) {
        tcp.timestamps = !self.one_in(3);
        tcp.ecn = !self.one_in(4);
        if tcp.ecn && self.one_in(2) {
            tcp.congestion_control = CongestionControl::Dctcp;
        }
        if tcp.timestamps {
            // Room for the option, and as many octets of data as before.
            let more = TIMESTAMPS_OCTETS.0;
            let segments = tcp.window.0 / tcp.mss.0;
            tcp.mss = Octets(tcp.mss.0 + more);
            tcp.window = Octets(tcp.window.0 + segments * more);
            tcp.initial_window = Octets(tcp.initial_window.0 + more);
        }
    }
}

//! Options of TCP since the nineties, added to random networks.

use cellrate_proto::Octets;
use cellrate_scenario::*;
use cellrate_sim::random::{Owner, Random, Stream};

use super::Dice;

/// `scenario` with timestamps in some of its TCP, for the network of this number.
pub fn modern(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Dice(Random::new(number, Stream::Thoughts(Owner::named("options"), 0)));
    for connection in &mut scenario.connections {
        for flow in [&mut connection.forward, &mut connection.backward] {
            if let Some(Traffic::Tcp(traffic)) = &mut flow.traffic {
                dice.options(&mut traffic.tcp);
            }
        }
    }
    scenario
}

impl Dice {
    fn options(&mut self, tcp: &mut TcpConfig) {
        tcp.timestamps = !self.one_in(3);
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

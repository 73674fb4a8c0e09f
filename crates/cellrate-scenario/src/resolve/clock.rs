//! Clocks that are not exactly alike: those that are drawn, and how links and senders follow theirs.
//!
//! This comes last, when all is resolved and admitted by nominal rates: whoever runs the scenario finds the rates of
//! lines and senders and the starts of traffic as the clocks make them, and knows nothing of clocks.

use cellrate_proto::{CellRate, Duration};
use sha2::{Digest, Sha256};

use super::network::Network;
use crate::clocks::{Clocks, INDEPENDENT, Offset, OwnClock, Phase};
use crate::model::{
    Clock, ClockOffset, ClockOwner, Connection, Flow, LineState, LinkIndex, LinkStep, NodeIndex, Processing,
    Sender, Step,
};
use crate::text::error::Fault;
use crate::text::reading::word;
use crate::text::tree::{Node, Table};

/// Sets the clocks of all hosts and links, and all that is timed by them.
pub(super) fn set(
    root: &Table,
    seed: u64,
    network: &mut Network,
    connections: &mut [Connection],
) -> Result<Vec<Clock>, Fault> {
    let defaults = root.node("defaults").and_then(Node::table);
    let clocks = defaults.map_or(Clocks::default(), |table| word(table, "clocks", Clocks::named));
    let independent = clocks == Clocks::Independent;
    let draw = Draw { seed };
    let default = independent.then_some(Offset::Within(INDEPENDENT));
    let longest = longest_cell_times(network);
    let hosts = host_clocks(network, &longest, draw, default, independent.then_some(Phase::Random));
    for ((host, own), &longest) in network.hosts.iter_mut().zip(&network.host_clocks).zip(&longest) {
        let default =
            if independent { Processing::Uniform(Duration::ZERO, longest) } else { Processing::None };
        host.processing = own.processing.unwrap_or(default);
    }
    let nominal: Vec<_> = network.links.iter().map(|link| link.fastest_rate().to_cell_rate()).collect();
    let mut clocks: Vec<Clock> = hosts.clone();
    for (number, own) in (0..).zip(&network.link_clocks) {
        let link = &network.links[number as usize];
        let host = link.ends.iter().find_map(|end| hosts.get(end.0 as usize));
        let offset = match (own.offset, host) {
            (None, Some(host)) => host.offset,
            (own, _) => {
                let [one, other] = link.ends.map(|end| network.name(end));
                let name = match &link.label {
                    Some(label) => format!("{one}-{other} ({label})"),
                    None => [one, "-", other].concat(),
                };
                let offset = draw.offset(own.or(default), &name);
                clocks.push(Clock {
                    owner: ClockOwner::Link(LinkIndex(number)),
                    offset,
                    phase: Duration::ZERO,
                });
                offset
            }
        };
        let link = &mut network.links[number as usize];
        link.rate = offset.of_line(link.rate);
        let later = |step: &LinkStep| {
            let line = |line: LineState| LineState { rate: offset.of_line(line.rate), ..line };
            LinkStep { lines: step.lines.map(line), ..*step }
        };
        if link.is_changing() {
            link.changes = link.changes.iter().map(later).collect();
        }
    }
    for connection in connections {
        let ends = [connection.path.first().copied(), connection.path.last().map(|step| step.turned())];
        for (flow, step) in [&mut connection.forward, &mut connection.backward].into_iter().zip(ends) {
            let Some(step) = step.filter(|step| network.is_host(network.tail(*step))) else { continue };
            let clock = hosts[network.tail(step).0 as usize];
            follow(flow, clock, nominal[step.link.0 as usize], network, step);
        }
    }
    clocks.retain(|clock| clock.offset != ClockOffset::default() || clock.phase != Duration::ZERO);
    Ok(clocks)
}

/// One cell time of the slowest link of each host.
fn longest_cell_times(network: &Network) -> Vec<Duration> {
    let mut longest = vec![Duration::ZERO; network.hosts.len()];
    for link in &network.links {
        for end in link.ends {
            if let Some(longest) = longest.get_mut(end.0 as usize) {
                *longest = link.fastest_rate().cell_time().max(*longest);
            }
        }
    }
    longest
}

fn host_clocks(
    network: &Network,
    longest: &[Duration],
    draw: Draw,
    offset: Option<Offset>,
    phase: Option<Phase>,
) -> Vec<Clock> {
    let clock = |(number, (own, longest)): (u32, (&OwnClock, &Duration))| {
        let name = network.name(NodeIndex(number));
        let phase = match own.phase.or(phase) {
            None => Duration::ZERO,
            Some(Phase::Given(phase)) => phase,
            Some(Phase::Random) => draw.phase(*longest, name),
        };
        let offset = draw.offset(own.offset.or(offset), name);
        Clock { owner: ClockOwner::Host(NodeIndex(number)), offset, phase }
    };
    (0..).zip(network.host_clocks.iter().zip(longest)).map(clock).collect()
}

/// Numbers drawn by the name of whoever has them, so that another host or link leaves the rest as they were.
#[derive(Clone, Copy)]
struct Draw {
    seed: u64,
}

impl Draw {
    /// 64 bits that depend on the seed, what for, and for whom.
    fn bits(self, what: &str, name: &str) -> u64 {
        let mut hash = Sha256::new();
        hash.update(self.seed.to_le_bytes());
        hash.update(what);
        hash.update([0]);
        hash.update(name);
        hash.finalize().iter().take(8).fold(0, |bits, &octet| (bits << 8) | u64::from(octet))
    }

    /// One of 0 to `count` - 1.
    fn below(self, count: u64, what: &str, name: &str) -> u64 {
        ((u128::from(self.bits(what, name)) * u128::from(count)) >> 64) as u64
    }

    fn offset(self, wish: Option<Offset>, name: &str) -> ClockOffset {
        match wish {
            None => ClockOffset::default(),
            Some(Offset::Given(offset)) => offset,
            Some(Offset::Within(bound)) => {
                let bound = bound.as_ppb();
                let drawn = self.below(2 * bound.unsigned_abs() + 1, "clock offset", name);
                ClockOffset::from_ppb(drawn as i64 - bound)
            }
        }
    }

    fn phase(self, cell_time: Duration, name: &str) -> Duration {
        Duration::from_ps(self.below(cell_time.as_ps(), "phase", name))
    }
}

/// Has a direction follow the clock of the host that sends it, over its first `step`, whose line nominally takes
/// `nominal`.
fn follow(flow: &mut Flow, clock: Clock, nominal: CellRate, network: &Network, step: Step) {
    if let Sender::Peak(peak) = &mut flow.sender {
        // A sender that fills its line nominally fills it by the line's clock, to the last bit.
        *peak = if *peak == nominal {
            network.link(step).fastest_rate().to_cell_rate()
        } else {
            clock.offset.of_rate(*peak)
        };
    }
    if let Some(conditioning) = &mut flow.conditioning {
        let most = flow.sender.pcr();
        conditioning.buckets_mut().for_each(|bucket| bucket.scr = clock.offset.of_rate(bucket.scr).min(most));
    }
    if let Some(traffic) = &mut flow.traffic {
        if clock.offset != ClockOffset::default() {
            traffic.kind_mut().scale(clock.offset);
        }
        if clock.phase != Duration::ZERO {
            traffic.kind_mut().delay(clock.phase);
        }
    }
}

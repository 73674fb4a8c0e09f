//! Random small networks with TCP on most of their connections: transfers, pages, both, one way and both ways, with
//! segments of one cell and of many, timers that meet everything else, and every loss that the networks have.

pub mod options;

use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{Cells, Duration, Octets, Time};
use cellrate_scenario::*;
use cellrate_sim::random::{Owner, Random, Stream};

use crate::random_world::hosts::random_shared_bottleneck;
use crate::random_world::{random_bottleneck, random_scenario};

/// The network of this number: the same one on every machine.
pub fn random_tcp(number: u64) -> Scenario {
    with_tcp(random_scenario(number), number)
}

/// A random network of TCP with many sources before one line.
pub fn random_tcp_bottleneck(number: u64) -> Scenario {
    with_tcp(random_bottleneck(number), number)
}

/// A random network of TCP with several sources at a host.
pub fn random_tcp_shared_hosts(number: u64) -> Scenario {
    with_tcp(random_shared_bottleneck(number), number)
}

fn with_tcp(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Dice(Random::new(number, Stream::Thoughts(Owner::named("dice"), 0)));
    // Time for a few round trips and time-outs.
    scenario.duration = scenario.duration * 4;
    scenario.name = format!("random TCP {number}");
    for (index, connection) in scenario.connections.iter_mut().enumerate() {
        if index == 0 || dice.below(4) > 0 {
            dice.connection(connection, scenario.duration);
        }
    }
    // Watching arrivals makes each of them an event, so half of the networks do without.
    if dice.one_in(2) {
        scenario.probes.retain(|probe| {
            !matches!(probe.quantity, Quantity::Flow { quantity: FlowQuantity::Received, .. })
        });
    }
    dice.probes(&mut scenario);
    let mut dice = Dice(Random::new(number, Stream::Thoughts(Owner::named("hosts"), 0)));
    if dice.one_in(3) {
        dice.hosts(&mut scenario);
    }
    scenario
}

struct Dice(Random);

/// Ten-megabit slots, of which most of the networks' rates have a whole number.
const SLOT: Duration = Duration::from_ns(42_400);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        (self.0.uniform() * n as f64) as u64
    }

    /// One time in `n`.
    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }

    /// Hosts take time for PDUs; there is an entry for every node, because hosts need not come first here.
    fn hosts(&mut self, scenario: &mut Scenario) {
        let host = |number| {
            let processing = match self.below(4) {
                0 => Processing::None,
                1 => Processing::Fixed(SLOT * (1 + self.below(3))),
                2 => Processing::Uniform(Duration::ZERO, SLOT * self.below(4)),
                _ => Processing::Exponential(SLOT),
            };
            HostSettings { processing, ..HostSettings::of_host(number) }
        };
        scenario.hosts = (0..scenario.nodes.len() as u32).map(host).collect();
    }

    fn connection(&mut self, connection: &mut Connection, duration: Duration) {
        let pages = self.one_in(2).then(|| self.pages(duration));
        let mut traffic = TcpTraffic {
            tcp: self.tcp(),
            encapsulation: self.pick(&[Encapsulation::LlcSnapIpv4, Encapsulation::VcMultiplexed]),
            connections: if pages.is_some() { self.below(3) as u16 } else { 1 + self.below(3) as u16 },
            transfer: self.one_in(2).then(|| Octets(1 + self.below(5000))),
            start: if self.one_in(2) { Time::ZERO } else { Time::ZERO + SLOT * self.below(40) },
            end: if self.one_in(4) { self.end(duration) } else { Time::NEVER },
            pages,
            adapter_queue: self.pick(&[
                AdapterQueue::Unbounded,
                AdapterQueue::Unbounded,
                AdapterQueue::Cells(Cells(40)),
                AdapterQueue::Pdus(2),
                AdapterQueue::HighWater(Cells(1)),
                AdapterQueue::HighWater(Cells(33)),
            ]),
            successive: false,
        };
        connection.backward.traffic = self.one_in(3).then(|| {
            let connections = if traffic.pages.is_some() { self.below(2) } else { 1 } as u16;
            let back = TcpTraffic { tcp: self.tcp(), pages: None, connections, ..traffic.clone() };
            Traffic::Tcp(Box::new(back))
        });
        if self.one_in(6) && traffic.pages.is_none() && connection.backward.traffic.is_some() {
            // Only the other way.
            connection.forward.traffic = None;
            return;
        }
        if connection.category == Category::Abr {
            traffic.tcp.window_scaling = true;
        }
        connection.forward.traffic = Some(Traffic::Tcp(Box::new(traffic)));
    }

    /// When a transfer ends: somewhere in the run.
    fn end(&mut self, duration: Duration) -> Time {
        Time::ZERO + SLOT + SLOT * self.below(duration.div_floor(SLOT).max(1))
    }

    fn tcp(&mut self) -> TcpConfig {
        let mss = Octets(self.pick(&[1, 8, 40, 100, 512, 1460]));
        let (ecn, timestamps) = (false, false);
        let segments = self.pick(&[1, 2, 5, 20]);
        TcpConfig {
            mss,
            header: Octets(40),
            window: Octets(mss.0 * segments + self.below(2)),
            window_scaling: true,
            initial_window: Octets(mss.0 * self.pick(&[1, 2, 10])),
            ssthresh: self.pick(&[None, Some(Octets(2 * mss.0))]),
            recovery: self.pick(&[
                Recovery::None,
                Recovery::Tahoe,
                Recovery::Reno,
                Recovery::NewReno,
                Recovery::Sack,
            ]),
            congestion_control: self.pick(&[CongestionControl::Reno, CongestionControl::Cubic]),
            slow_start: SlowStart::Standard,
            estimator: Estimator::Rfc6298,
            window_validation: true,
            idle_restart: IdleRestart::None,
            limited_transmit: self.one_in(3),
            partial_ack_timer: self.pick(&[PartialAckTimer::First, PartialAckTimer::Every]),
            rate_reduction: None,
            rack_tlp: false,
            pacing: false,
            ecn,
            timestamps,
            timeout: TimeoutConfig {
                granularity: self.pick(&[SLOT, SLOT * 10, Duration::from_us(100)]),
                minimum: self.pick(&[SLOT * 2, SLOT * 25]),
                maximum: Duration::from_ms(20),
                initial: self.pick(&[SLOT * 50, Duration::from_ms(2)]),
            },
            delayed_ack: self.pick(&[
                DelayedAck::EverySegment,
                DelayedAck::Heartbeat(SLOT * 10),
                DelayedAck::Timer(SLOT * 10),
                DelayedAck::Timer(Duration::from_us(333)),
                DelayedAck::TimerOnTicks { timer: SLOT * 10, ticks: Duration::from_us(100) },
            ]),
        }
    }

    fn pages(&mut self, duration: Duration) -> Pages {
        let objects = 1 + self.below(3);
        let object = |this: &mut Dice| PageObject {
            request: Octets(1 + this.below(400)),
            response: Octets(1 + this.below(3000)),
            server_time: this.pick(&[Duration::ZERO, SLOT * 3, Duration::from_us(77)]),
        };
        Pages {
            objects: (0..objects).map(|_| object(self)).collect(),
            clients: 1 + self.below(3) as u16,
            count: self.pick(&[None, None, Some(2)]),
            object_gap: self.pick(&[Duration::ZERO, SLOT * 2]),
            think_time: self.pick(&[
                Period::Fixed(Duration::ZERO),
                Period::Fixed(SLOT * 7),
                Period::Exponential(SLOT * 7),
            ]),
            connection: self.pick(&[
                ConnectionUse::PerObject,
                ConnectionUse::PerPage,
                ConnectionUse::Persistent,
            ]),
            handshake: !self.one_in(3),
            end: if self.one_in(2) {
                Time::NEVER
            } else {
                Time::ZERO + SLOT * 41 + Duration::from_ps(duration.as_ps() / 2)
            },
            record: 0,
        }
    }

    fn probes(&mut self, scenario: &mut Scenario) {
        for (index, connection) in scenario.connections.iter().enumerate() {
            let clients = connection.pages().is_some();
            for backward in [false, true] {
                let flow = if backward { &connection.backward } else { &connection.forward };
                let mut quantities = Vec::new();
                if matches!(flow.traffic, Some(Traffic::Tcp(_))) || backward && clients {
                    quantities.extend([FlowQuantity::Cwnd, FlowQuantity::Rtt, FlowQuantity::Retransmissions]);
                }
                if !backward && clients {
                    quantities.extend([FlowQuantity::Responses, FlowQuantity::ResponseTime]);
                }
                for quantity in quantities {
                    let connection = ConnectionIndex(index as u32);
                    let quantity = Quantity::Flow { quantity, flow: FlowIndex::of(connection, backward) };
                    let every =
                        if self.one_in(3) { Every::Interval(Duration::from_us(424)) } else { Every::Change };
                    scenario.probes.push(Probe { quantity, every });
                }
            }
        }
    }
}

//! Series: at intervals for all, and at every change for what is watched. The names are those of the simulator's.

use cellrate_engine::histogram::Histogram;
use cellrate_engine::names::describe;
use cellrate_engine::quantities::{Growth, PortReading, SenderReading, port_value, sender_value};
use cellrate_proto::{Duration, Time};
use cellrate_scenario::{
    Every, FlowIndex, FlowQuantity, FlowSource, NodeKind, PortQuantity, Probe, Quantity, Scenario, Sender,
};

use super::adapter::Adapter;
use super::counters::Passage;
use super::network::{Network, used_ports};
use super::options::Recent;
use super::port::Port;

/// A recorded series.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name of the quantity: "acr", "queue", ...
    pub probe: String,
    /// The VC or port by its name ("sw1->sw2").
    pub entity: String,
    /// Unit of the values: "cells/s", "cells", "".
    pub unit: &'static str,
    /// The interval at which it was taken; `None` where every change was.
    pub every: Option<Duration>,
    /// Instants, never falling [ps since the start].
    pub times_ps: Vec<u64>,
    /// One value per instant. A series taken at every change starts at 0, and each value holds until the next.
    pub values: Vec<f64>,
}

/// The thing that a series looks at, by its place in the network; `NONE` in another process.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Subject {
    /// A quantity that the sending end of a direction knows.
    Sender(FlowQuantity, u32),
    /// A quantity that the receiving end of a direction knows.
    Receiver(FlowQuantity, u32),
    /// Cells of a flow lost so far.
    Drops(FlowIndex),
    /// A quantity of a port.
    Port(PortQuantity, u32),
}

#[derive(Debug)]
struct Track {
    subject: Subject,
    every: Every,
    series: Series,
    /// The count at the last sample, and when that was, for rates.
    growth: Growth,
    /// The sum of delays at the last sample \[ps\].
    last_sum: u128,
    /// Values that somebody who watches has been told.
    told: usize,
}

/// All series of a run.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    tracks: Vec<Track>,
    /// The intervals: the length of each, the next multiple of it, and the tracks that follow it.
    clocks: Vec<(Duration, Time, Vec<usize>)>,
    /// The tracks that record every change of each port and adapter; empty when there is none at all.
    watched_ports: Vec<Vec<usize>>,
    watched_adapters: Vec<Vec<usize>>,
}

/// The probes of a scenario, and those that a run takes at an interval without being asked: ACR where there is data,
/// queue and utilization of every switch port in use.
pub(crate) fn probes(scenario: &Scenario, network: &Network, every: Option<Duration>) -> Vec<Probe> {
    let mut probes = scenario.probes.clone();
    let Some(interval) = every else { return probes };
    let mut add = |quantity| {
        let probe = Probe { quantity, every: Every::Interval(interval) };
        if !probes.contains(&probe) {
            probes.push(probe);
        }
    };
    for flow in scenario.flows() {
        let has_data = scenario.connection(flow.connection()).carries_data(flow.is_backward());
        if matches!(scenario.flow(flow).sender, Sender::Abr(_)) && has_data {
            add(Quantity::Flow { quantity: FlowQuantity::Acr, flow });
        }
    }
    for &port in &network.port_indices {
        if scenario.node(scenario.tail(port.step())).kind == NodeKind::Switch {
            add(Quantity::Port { quantity: PortQuantity::Queue, port });
            add(Quantity::Port { quantity: PortQuantity::Utilization, port });
        }
    }
    probes
}

/// Name, entity, unit and interval of each series that a run of all of `scenario` records, in order: what of its probes
/// the engine sees, whose ports are those that connections use, and whose TCP is the kernel's.
pub fn series_of(scenario: &Scenario) -> Vec<(String, String, &'static str, Option<Duration>)> {
    let used = used_ports(scenario);
    let recorded = scenario.probes.iter().filter(|probe| match probe.quantity {
        Quantity::Port { port, .. } => used[port.index()],
        Quantity::Flow { quantity, .. } => !is_of_tcp(quantity),
        Quantity::VirtualSource { .. } => true,
    });
    let described = recorded.map(|probe| {
        let (name, entity, unit) = describe(scenario, probe.quantity);
        let every = probe.every.interval();
        (name, entity, unit, every)
    });
    described.collect()
}

/// Whether the simulator's TCP knows it, and not an adapter.
fn is_of_tcp(quantity: FlowQuantity) -> bool {
    quantity.source() == FlowSource::SenderTcp
}

impl Sampler {
    /// Records what `probes` ask for, as far as it can be seen from here.
    pub fn new(probes: &[Probe], scenario: &Scenario, network: &Network) -> Sampler {
        let mut sampler = Sampler::default();
        for probe in probes {
            let Some(subject) = subject(probe.quantity, network) else { continue };
            let (name, entity, unit) = describe(scenario, probe.quantity);
            let every = probe.every.interval();
            let series =
                Series { probe: name, entity, unit, every, times_ps: Vec::new(), values: Vec::new() };
            let index = sampler.tracks.len();
            sampler.tracks.push(Track {
                subject,
                every: probe.every,
                series,
                growth: Growth::default(),
                last_sum: 0,
                told: 0,
            });
            sampler.follow(index, network);
        }
        sampler
    }

    fn follow(&mut self, index: usize, network: &Network) {
        let Track { every, subject, .. } = self.tracks[index];
        match (every, subject) {
            (Every::Interval(length), _) => match self.clocks.iter_mut().find(|(of, ..)| *of == length) {
                Some((.., followers)) => followers.push(index),
                None => self.clocks.push((length, Time::ZERO, vec![index])),
            },
            (Every::Change, Subject::Port(_, port)) => {
                self.watched_ports.resize(network.ports.len(), Vec::new());
                self.watched_ports[port as usize].push(index);
            }
            (Every::Change, Subject::Sender(_, adapter) | Subject::Receiver(_, adapter)) => {
                self.watched_adapters.resize(network.adapters.len(), Vec::new());
                self.watched_adapters[adapter as usize].push(index);
            }
            (Every::Change, Subject::Drops(_)) => {
                unreachable!("a scenario takes losses of a connection at intervals only")
            }
        }
    }

    /// Nothing is sampled before `start`.
    pub fn begin_at(&mut self, start: Time) {
        for (length, next, _) in &mut self.clocks {
            let steps = start.since(Time::ZERO).div_ceil(*length);
            *next = Time::ZERO + *length * steps;
        }
        self.tracks.iter_mut().for_each(|track| track.growth.time = start);
    }

    /// The next instant at which something is sampled.
    pub fn next(&self) -> Time {
        self.clocks.iter().map(|&(_, next, _)| next).min().unwrap_or(Time::NEVER)
    }

    /// Takes the samples that are due at `now`.
    pub fn sample(&mut self, now: Time, network: &mut Network, passages: &[Passage]) {
        for (length, next, followers) in &mut self.clocks {
            if *next > now {
                continue;
            }
            *next = now.saturating_add(*length);
            for &index in followers.iter() {
                let track = &mut self.tracks[index];
                let value = match track.subject {
                    Subject::Drops(flow) => passages[flow.index()].dropped as f64,
                    Subject::Port(quantity, port) => {
                        let port = &mut network.ports[port as usize];
                        if port.metered {
                            port.end_intervals_before(now);
                        }
                        port_value(quantity, &*port, now, &mut track.growth)
                    }
                    Subject::Receiver(quantity, place) if quantity != FlowQuantity::Received => {
                        delay_value(quantity, &mut network.adapters[place as usize].delays, track)
                    }
                    Subject::Sender(..) | Subject::Receiver(..) => adapter_value(network, now, track),
                };
                track.series.times_ps.push(now.as_ps());
                track.series.values.push(value);
                track.growth.time = now;
            }
        }
    }

    /// Something happened at a port.
    #[inline]
    pub fn note_port(&mut self, now: Time, index: u32, network: &Network) {
        if self.watched_ports.is_empty() {
            return;
        }
        for &track in &self.watched_ports[index as usize] {
            let track = &mut self.tracks[track];
            if let Subject::Port(quantity, port) = track.subject {
                let value = port_value(quantity, &network.ports[port as usize], now, &mut track.growth);
                track.push_change(now, value);
            }
        }
    }

    /// Something happened at an end of a connection.
    #[inline]
    pub fn note_adapter(&mut self, now: Time, index: u32, network: &Network) {
        if self.watched_adapters.is_empty() {
            return;
        }
        for &track in &self.watched_adapters[index as usize] {
            let track = &mut self.tracks[track];
            let value = adapter_value(network, now, track);
            track.push_change(now, value);
        }
    }

    /// Values recorded before `now` and not given yet; those recorded at `now` may still change.
    pub fn recent(&mut self, now: Time) -> Vec<Recent> {
        let mut recent = Vec::new();
        for (place, track) in self.tracks.iter_mut().enumerate() {
            let Series { times_ps, values, .. } = &track.series;
            let until = times_ps.partition_point(|&at| at < now.as_ps());
            if until > track.told {
                let new = track.told..until;
                let (times_ps, values) = (times_ps[new.clone()].to_vec(), values[new].to_vec());
                recent.push(Recent { series: place, times_ps, values });
                track.told = until;
            }
        }
        recent
    }

    /// The finished series.
    pub fn into_series(self) -> Vec<Series> {
        self.tracks.into_iter().map(|track| track.series).collect()
    }
}

impl Track {
    /// Adds a value unless it is the one that already holds; of several at one instant the last stays.
    fn push_change(&mut self, now: Time, value: f64) {
        self.growth.time = now;
        let Series { times_ps, values, .. } = &mut self.series;
        if times_ps.last() == Some(&now.as_ps()) {
            times_ps.pop();
            values.pop();
        }
        if values.last() != Some(&value) {
            times_ps.push(now.as_ps());
            values.push(value);
        }
    }
}

/// Where a quantity is found; `None` where it belongs to another process, or to a TCP that is the kernel's.
fn subject(quantity: Quantity, network: &Network) -> Option<Subject> {
    match quantity {
        Quantity::Port { quantity, port } => {
            let place = network.port_indices.iter().position(|&of| of == port)?;
            Some(Subject::Port(quantity, place as u32))
        }
        Quantity::VirtualSource { quantity, flow, switch } => {
            network.virtual_source(flow, switch).map(|place| Subject::Sender(quantity, place))
        }
        Quantity::Flow { quantity, flow } => match quantity.source() {
            FlowSource::Receiver => {
                network.sender(flow.other()).map(|place| Subject::Receiver(quantity, place))
            }
            FlowSource::Network => Some(Subject::Drops(flow)),
            FlowSource::SenderTcp => None,
            FlowSource::RmCells | FlowSource::Sender => {
                network.sender(flow).map(|place| Subject::Sender(quantity, place))
            }
        },
    }
}

fn adapter_value(network: &Network, now: Time, track: &mut Track) -> f64 {
    let (quantity, place) = match track.subject {
        Subject::Sender(quantity, place) => (quantity, place),
        Subject::Receiver(_, place) => {
            return network.adapters[place as usize].counters.data_delivered as f64;
        }
        Subject::Drops(_) | Subject::Port(..) => return 0.0,
    };
    sender_value(quantity, &network.adapters[place as usize], now, &mut track.growth)
}

impl SenderReading for Adapter {
    fn acr(&self) -> f64 {
        self.source().map_or(0.0, |source| source.acr().as_cells_per_s())
    }

    fn sent(&self) -> u64 {
        self.counters.sent
    }

    fn waiting(&self, now: Time) -> u64 {
        self.supply.waiting(now).unwrap_or(0)
    }

    fn forward_rm_sent(&self) -> u64 {
        self.counters.forward_rm_sent
    }

    fn backward_rm_received(&self) -> u64 {
        self.counters.backward_rm_received
    }
}

impl PortReading for Port {
    fn total_queue(&self, _now: Time) -> u64 {
        self.total()
    }

    fn queue(&self, priority: usize, _now: Time) -> u64 {
        Port::queue(self, priority).0
    }

    fn busy_ps(&self, now: Time) -> u64 {
        Port::busy_ps(self, now)
    }

    fn dropped(&self) -> u64 {
        Port::dropped(self)
    }

    fn figure(&self, place: usize) -> f64 {
        self.metric(place)
    }
}

/// Mean or largest of what was counted since the track's last sample; NaN of nothing.
fn delay_value(quantity: FlowQuantity, delays: &mut Histogram, track: &mut Track) -> f64 {
    let count = track.growth.since(delays.total());
    let sum = delays.sum_ps() - std::mem::replace(&mut track.last_sum, delays.sum_ps());
    let largest = if quantity == FlowQuantity::MaxDelay { delays.end_interval() } else { Duration::ZERO };
    match (count, quantity) {
        (0, _) => f64::NAN,
        (_, FlowQuantity::MaxDelay) => largest.as_secs_f64(),
        _ => sum as f64 / count as f64 / 1e12,
    }
}

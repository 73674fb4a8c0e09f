//! Series of a run: what is recorded, under the simulator's names, and how the network is read for it.

use cellrate_engine::connection_end::ConnectionEnd;
use cellrate_engine::names::describe;
use cellrate_engine::quantities::{EndReading, PortReading};
use cellrate_engine::sampler::{Readings, Sampler, Subject, Track};
use cellrate_engine::switch_port::SwitchPort;
use cellrate_proto::{Duration, Time};
use cellrate_scenario::{
    Every, FlowIndex, FlowQuantity, FlowSource, NodeKind, PortQuantity, Probe, Quantity, Scenario, Sender,
};

use super::adapter::Adapter;
use super::counters::Passage;
use super::network::{Network, used_ports};
use super::options::Recent;
use super::port::Port;
use super::supply::Supply;

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

/// The series of a run.
#[derive(Debug)]
pub(crate) struct Recording {
    pub sampler: Sampler,
    /// The series, as yet without values, by their place among the tracks.
    series: Vec<Series>,
    /// How many values of each a watcher has been told.
    told: Vec<usize>,
}

/// The network, as far as series look at it.
pub(crate) struct NetworkReadings<'a> {
    pub network: &'a mut Network,
    /// Cells of each direction lost in the network, among other things.
    pub passages: &'a [Passage],
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
        Quantity::Demand { .. } => false,
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

impl Recording {
    /// Records what `probes` ask for, as far as it can be seen from here.
    pub fn new(probes: &[Probe], scenario: &Scenario, network: &Network) -> Recording {
        let (mut tracks, mut series) = (Vec::new(), Vec::new());
        for (number, probe) in probes.iter().enumerate() {
            let Some(subject) = subject(probe.quantity, network) else { continue };
            tracks.push(Track::new(number, subject, probe.every, scenario.duration));
            let (name, entity, unit) = describe(scenario, probe.quantity);
            let every = probe.every.interval();
            series.push(Series {
                probe: name,
                entity,
                unit,
                every,
                times_ps: Vec::new(),
                values: Vec::new(),
            });
        }
        let sampler = Sampler::new(tracks, &network.ports, network.adapters.len());
        Recording { sampler, told: vec![0; series.len()], series }
    }

    /// Values recorded before `now` and not given yet; those recorded at `now` may still change.
    pub fn recent(&mut self, now: Time) -> Vec<Recent> {
        let mut recent = Vec::new();
        for (place, (track, told)) in self.sampler.tracks().iter().zip(&mut self.told).enumerate() {
            let (mut times_ps, values) = track.recorder.since(*told);
            let new = times_ps.partition_point(|&at| at < now.as_ps());
            if new > 0 {
                times_ps.truncate(new);
                recent.push(Recent { series: place, times_ps, values: values[..new].to_vec() });
                *told += new;
            }
        }
        recent
    }

    /// The finished series.
    pub fn into_series(self) -> Vec<Series> {
        let with_values = |(series, track): (Series, Track)| {
            let (times_ps, values) = track.recorder.into_columns();
            Series { times_ps, values, ..series }
        };
        self.series.into_iter().zip(self.sampler.into_tracks()).map(with_values).collect()
    }
}

impl Readings for NetworkReadings<'_> {
    type Port = Port;
    type End = Adapter;

    fn port(&mut self, place: u32) -> &mut Port {
        &mut self.network.ports[place as usize]
    }

    fn end(&mut self, place: u32) -> &mut Adapter {
        &mut self.network.adapters[place as usize]
    }

    fn dropped(&self, flow: FlowIndex) -> u64 {
        self.passages[flow.index()].dropped
    }
}

/// Where a quantity is found; `None` where it belongs to another process, to a TCP that is the kernel's, or to flows,
/// which a live run does not have.
fn subject(quantity: Quantity, network: &Network) -> Option<Subject> {
    match quantity {
        Quantity::Port { quantity, port } => {
            let place = network.port_indices.iter().position(|&of| of == port)?;
            Some(Subject::Port(quantity, place as u32))
        }
        Quantity::Demand { .. } => None,
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

impl EndReading for Adapter {
    type Supply = Supply;

    fn end(&self) -> &ConnectionEnd<Supply> {
        &self.end
    }

    fn end_mut(&mut self) -> &mut ConnectionEnd<Supply> {
        &mut self.end
    }

    fn data_delivered(&self) -> u64 {
        Adapter::data_delivered(self)
    }
}

impl PortReading for Port {
    fn total_queue(&self, _now: Time) -> u64 {
        self.served.total().0
    }

    fn queue(&self, priority: usize, _now: Time) -> u64 {
        self.served.queue(priority).0
    }

    fn busy_ps(&self, now: Time) -> u64 {
        self.served.busy_ps(now)
    }

    fn dropped(&self) -> u64 {
        Port::dropped(self)
    }

    fn figure(&self, place: usize) -> f64 {
        self.metric(place)
    }

    fn bring_figures_up_to(&mut self, now: Time) {
        if self.metered {
            self.end_intervals_before(now);
        }
    }
}

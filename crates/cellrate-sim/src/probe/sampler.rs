//! Series: at intervals for all, and at every change for what is watched.

use std::collections::BTreeMap;

use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Every, FlowIndex, FlowQuantity, PortQuantity};

use super::recorder::Recorder;
use crate::endpoint::{Endpoint, RmCount};
use crate::port::{ABR, Port};
use crate::transport::{Client, Sender};

/// Subject of a series, by the indices of its cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Subject {
    /// A quantity that the sending end of a direction knows.
    Sender(FlowQuantity, u32),
    /// A quantity that the receiving end of a direction knows.
    Receiver(FlowQuantity, u32),
    /// Cells of a direction lost in this cluster; the parts of all clusters add up.
    Drops(FlowIndex),
    /// A quantity of a port.
    Port(PortQuantity, u32),
}

/// A series being recorded.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    /// The place of its probe in the scenario.
    pub probe: usize,
    pub subject: Subject,
    pub every: Every,
    pub recorder: Recorder,
    /// The count at the last sample, and when that was, for rates.
    last_count: u64,
    last_time: Time,
    /// The sum of delays at the last sample \[ps\].
    last_sum: u128,
}

impl Track {
    /// For a run of this duration.
    pub fn new(probe: usize, subject: Subject, every: Every, duration: Duration) -> Track {
        let recorder = match every {
            Every::Change => Recorder::of_changes(),
            Every::Interval(interval) => Recorder::even(interval, duration),
        };
        Track { probe, subject, every, recorder, last_count: 0, last_time: Time::ZERO, last_sum: 0 }
    }
}

/// All series of a cluster.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    tracks: Vec<Track>,
    /// The intervals: the length of each, the next multiple of it, and the tracks that follow it.
    clocks: Vec<(Duration, Time, Vec<usize>)>,
    /// The tracks that record every change of each port and endpoint; empty when there is none at all.
    watched_ports: Vec<Vec<usize>>,
    watched_endpoints: Vec<Vec<usize>>,
}

impl Sampler {
    pub fn new(tracks: Vec<Track>, ports: usize, endpoints: usize) -> Sampler {
        let mut sampler = Sampler { tracks, ..Sampler::default() };
        for (index, track) in sampler.tracks.iter().enumerate() {
            match (track.every, track.subject) {
                (Every::Interval(length), _) => {
                    let clock = sampler.clocks.iter_mut().find(|(of, ..)| *of == length);
                    match clock {
                        Some((.., followers)) => followers.push(index),
                        None => sampler.clocks.push((length, Time::ZERO, vec![index])),
                    }
                }
                (Every::Change, Subject::Port(_, port)) => {
                    sampler.watched_ports.resize(ports, Vec::new());
                    sampler.watched_ports[port as usize].push(index);
                }
                (Every::Change, Subject::Sender(_, endpoint) | Subject::Receiver(_, endpoint)) => {
                    sampler.watched_endpoints.resize(endpoints, Vec::new());
                    sampler.watched_endpoints[endpoint as usize].push(index);
                }
                (Every::Change, Subject::Drops(_)) => {
                    unreachable!("a scenario takes losses of a connection at intervals only")
                }
            }
        }
        sampler
    }

    /// Subjects that have to be up to date when samples are taken.
    pub fn looks_at(&self) -> impl Iterator<Item = Subject> {
        let sampled = |track: &&Track| matches!(track.every, Every::Interval(_));
        self.tracks.iter().filter(sampled).map(|track| track.subject)
    }

    /// The next instant at which something is sampled.
    pub fn next(&self) -> Time {
        self.clocks.iter().map(|&(_, next, _)| next).min().unwrap_or(Time::NEVER)
    }

    /// Takes the samples that are due at `now`.
    pub fn sample(
        &mut self,
        now: Time,
        ports: &mut [Port],
        endpoints: &mut [Endpoint],
        dropped: &BTreeMap<FlowIndex, u64>,
    ) {
        for (length, next, followers) in &mut self.clocks {
            if *next > now {
                continue;
            }
            *next = now.saturating_add(*length);
            for &index in followers.iter() {
                let track = &mut self.tracks[index];
                let value = match track.subject {
                    Subject::Port(quantity, port) => {
                        let port = &mut ports[port as usize];
                        if let (PortQuantity::Metric(_), true) = (quantity, port.metered) {
                            port.end_intervals_before(now);
                        }
                        port_value(quantity, port, now, track)
                    }
                    Subject::Sender(quantity, endpoint) => {
                        sender_value(quantity, &endpoints[endpoint as usize], now, track)
                    }
                    Subject::Receiver(quantity, endpoint) => {
                        receiver_value(quantity, &mut endpoints[endpoint as usize], track)
                    }
                    Subject::Drops(flow) => dropped.get(&flow).copied().unwrap_or(0) as f64,
                };
                track.recorder.push(value);
                track.last_time = now;
            }
        }
    }

    /// Something happened at a port.
    #[inline]
    pub fn note_port(&mut self, now: Time, index: u32, ports: &mut [Port]) {
        if !self.watched_ports.is_empty() {
            self.note_watched_port(now, index, &mut ports[index as usize]);
        }
    }

    #[cold]
    fn note_watched_port(&mut self, now: Time, index: u32, port: &mut Port) {
        let ended = port.take_ended().unwrap_or_default();
        for &track in &self.watched_ports[index as usize] {
            let track = &mut self.tracks[track];
            if let Subject::Port(quantity, _) = track.subject {
                if let PortQuantity::Metric(place) = quantity {
                    // Intervals may end long before anyone looks.
                    for (end, figures) in &ended {
                        let value = figures.get(usize::from(place)).copied().unwrap_or_default();
                        track.recorder.push_change(*end, value);
                    }
                }
                let value = port_value(quantity, port, now, track);
                track.recorder.push_change(now, value);
                track.last_time = now;
            }
        }
    }

    /// Whether any change at an end of a connection is recorded.
    #[inline]
    pub fn watches_endpoints(&self) -> bool {
        !self.watched_endpoints.is_empty()
    }

    /// Something happened at an end of a connection.
    #[inline]
    pub fn note_endpoint(&mut self, now: Time, index: u32, endpoint: &Endpoint) {
        if self.watches_endpoints() {
            self.note_watched_endpoint(now, index, endpoint);
        }
    }

    #[cold]
    fn note_watched_endpoint(&mut self, now: Time, index: u32, endpoint: &Endpoint) {
        for &track in &self.watched_endpoints[index as usize] {
            let track = &mut self.tracks[track];
            let value = match track.subject {
                Subject::Sender(quantity, _) => sender_value(quantity, endpoint, now, track),
                _ => endpoint.data_delivered() as f64,
            };
            track.recorder.push_change(now, value);
        }
    }

    /// The series as they stand.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// The finished series.
    pub fn into_tracks(self) -> Vec<Track> {
        self.tracks
    }
}

fn sender_value(quantity: FlowQuantity, endpoint: &Endpoint, now: Time, track: &mut Track) -> f64 {
    match quantity {
        FlowQuantity::Acr => endpoint.source().map_or(0.0, |source| source.acr().as_cells_per_s()),
        FlowQuantity::SourceRate => per_second(endpoint.counters.sent(), now, track),
        FlowQuantity::SourceQueue => endpoint.supply.waiting(now).unwrap_or(0) as f64,
        FlowQuantity::ForwardRm => endpoint.counters.rm(RmCount::ForwardSent) as f64,
        FlowQuantity::BackwardRm => endpoint.counters.rm(RmCount::BackwardReceived) as f64,
        FlowQuantity::Cwnd => senders(endpoint).map(|sender| sender.window().0 as f64).sum(),
        FlowQuantity::Rtt => {
            let measured: Vec<f64> = senders(endpoint)
                .filter_map(|sender| sender.rto().smoothed().map(|span| span.as_secs_f64()))
                .collect();
            if measured.is_empty() { 0.0 } else { measured.iter().sum::<f64>() / measured.len() as f64 }
        }
        FlowQuantity::Retransmissions => {
            endpoint.interface.as_ref().map_or(0, |interface| interface.stack.retransmitted()) as f64
        }
        FlowQuantity::Responses => clients(endpoint).iter().map(Client::complete).sum::<u64>() as f64,
        FlowQuantity::ResponseTime => {
            let latest = clients(endpoint).iter().max_by_key(|client| client.last_complete());
            latest.map_or(0.0, |client| client.last_response().as_secs_f64())
        }
        FlowQuantity::Received | FlowQuantity::Drops | FlowQuantity::Delay | FlowQuantity::MaxDelay => {
            unreachable!("not known at the sender")
        }
    }
}

fn receiver_value(quantity: FlowQuantity, endpoint: &mut Endpoint, track: &mut Track) -> f64 {
    let received = endpoint.data_delivered();
    let Some(delays) = endpoint.delays_mut().filter(|_| quantity != FlowQuantity::Received) else {
        return if quantity == FlowQuantity::Received { received as f64 } else { f64::NAN };
    };
    let count = received - std::mem::replace(&mut track.last_count, received);
    let sum = delays.sum_ps() - std::mem::replace(&mut track.last_sum, delays.sum_ps());
    let largest = if quantity == FlowQuantity::MaxDelay { delays.end_interval() } else { Duration::ZERO };
    match (count, quantity) {
        (0, _) => f64::NAN,
        (_, FlowQuantity::MaxDelay) => largest.as_secs_f64(),
        _ => sum as f64 / count as f64 / 1e12,
    }
}

fn senders(endpoint: &Endpoint) -> impl Iterator<Item = &Sender> {
    endpoint.interface.iter().flat_map(|interface| interface.stack.all_senders())
}

fn clients(endpoint: &Endpoint) -> &[Client] {
    endpoint.interface.as_ref().map_or(&[], |interface| interface.stack.clients())
}

fn port_value(quantity: PortQuantity, port: &Port, now: Time, track: &mut Track) -> f64 {
    match quantity {
        PortQuantity::Queue => port.total_queue(now).0 as f64,
        PortQuantity::GuaranteedQueue => port.queue(0, now).0 as f64,
        PortQuantity::AbrQueue => port.queue(ABR, now).0 as f64,
        PortQuantity::UbrQueue => port.queue(2, now).0 as f64,
        // Time that the line was busy, per time.
        PortQuantity::Utilization => per_second(port.busy_ps(now), now, track) * 1e-12,
        PortQuantity::Drops => port.dropped() as f64,
        PortQuantity::Metric(index) => port.metric(usize::from(index)),
    }
}

/// The growth of `count` since the track's last sample, per second.
fn per_second(count: u64, now: Time, track: &mut Track) -> f64 {
    let grown = count - track.last_count;
    track.last_count = count;
    let span = now.since(track.last_time);
    if span == Duration::ZERO { 0.0 } else { grown as f64 / span.as_secs_f64() }
}

//! Series: at intervals for all, and at every change for what is watched.

use std::collections::BTreeMap;

use cellrate_engine::quantities::{Growth, PortReading, SenderReading, port_value, sender_value};
use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Every, FlowIndex, FlowQuantity, PortQuantity};

use super::recorder::Recorder;
use crate::endpoint::{Endpoint, RmCount};
use crate::port::{ABR, GUARANTEED, Port, Queues, UBR};
use crate::transport::Client;

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
    growth: Growth,
    /// The sum of delays at the last sample \[ps\].
    last_sum: u128,
    /// When the FIFO whose queue this is will have been empty, as of the last change.
    busy_until: Time,
}

impl Track {
    /// For a run of this duration.
    pub fn new(probe: usize, subject: Subject, every: Every, duration: Duration) -> Track {
        let recorder = match every {
            Every::Change => Recorder::of_changes(),
            Every::Interval(interval) => Recorder::even(interval, duration),
        };
        Track {
            probe,
            subject,
            every,
            recorder,
            growth: Growth::default(),
            last_sum: 0,
            busy_until: Time::ZERO,
        }
    }

    /// Records the departures up to `until`, that instant included, from a FIFO to which nothing has come since the
    /// last change.
    fn note_departures(&mut self, cell_time: Duration, until: Time) {
        let mut left = self.busy_until.since(self.growth.time).div_ceil(cell_time);
        while left > 0 {
            let departs = Time::from_ps(self.busy_until.as_ps() - cell_time.as_ps() * (left - 1));
            if departs > until {
                break;
            }
            left -= 1;
            self.recorder.push_change(departs, left as f64);
        }
        self.growth.time = until;
    }

    /// Records what cells did that came at these instants, and all departures up to `until`.
    fn note_arrivals(&mut self, arrivals: &[Time], cell_time: Duration, until: Time) {
        for &now in arrivals {
            self.note_departures(cell_time, now);
            self.busy_until = self.busy_until.max(now) + cell_time;
            let queue = self.busy_until.since(now).div_ceil(cell_time);
            self.recorder.push_change(now, queue as f64);
        }
        self.note_departures(cell_time, until);
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
    /// FIFOs every change of whose queue is recorded, and nothing else as it happens: the port and its tracks.
    queues: BTreeMap<u32, Vec<usize>>,
}

impl Sampler {
    /// For these series at `ports`, and at so many endpoints.
    pub fn new(tracks: Vec<Track>, ports: &[Port], endpoints: usize) -> Sampler {
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
                (Every::Change, Subject::Port(_, port)) if ports[port as usize].keeps_arrivals() => {
                    sampler.queues.entry(port).or_default().push(index);
                }
                (Every::Change, Subject::Port(_, port)) => {
                    sampler.watched_ports.resize(ports.len(), Vec::new());
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
                        port_value(quantity, &*port, now, &mut track.growth)
                    }
                    Subject::Sender(quantity, endpoint) => {
                        sender_value(quantity, &endpoints[endpoint as usize], now, &mut track.growth)
                    }
                    Subject::Receiver(quantity, endpoint) => {
                        receiver_value(quantity, &mut endpoints[endpoint as usize], track)
                    }
                    Subject::Drops(flow) => dropped.get(&flow).copied().unwrap_or(0) as f64,
                };
                track.recorder.push(value);
                track.growth.time = now;
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

    /// Every change up to `until`, that instant included, has happened: what has left since the last one is recorded.
    #[inline]
    pub fn note_departures(&mut self, until: Time, ports: &[Port]) {
        for (port, tracks) in ports.iter().zip(&self.watched_ports) {
            let Some(fifo) = port.fifo() else { continue };
            for &track in tracks {
                let track = &mut self.tracks[track];
                if is_queue_of_fifo(track.subject, port) {
                    track.note_departures(fifo.cell_time(), until);
                }
            }
        }
    }

    /// The FIFOs whose arrivals are kept are empty at `now`.
    pub fn begin_queues(&mut self, now: Time) {
        for &track in self.queues.values().flatten() {
            self.tracks[track].recorder.push_change(now, 0.0);
        }
    }

    /// Every change up to `until`, that instant included, has happened at the FIFOs whose arrivals are kept: they are
    /// recorded.
    #[inline]
    pub fn note_queues(&mut self, until: Time, ports: &mut [Port]) {
        for (&port, tracks) in &self.queues {
            let Queues::Fifo(fifo) = &mut ports[port as usize].queues else { continue };
            let arrivals = fifo.take_untold();
            for &track in tracks {
                self.tracks[track].note_arrivals(&arrivals, fifo.cell_time(), until);
            }
        }
    }

    #[cold]
    fn note_watched_port(&mut self, now: Time, index: u32, port: &mut Port) {
        let tracks = &self.watched_ports[index as usize];
        // Intervals may end long before anyone looks.
        for (end, figures) in port.take_ended().into_iter().flatten() {
            for &track in tracks {
                let Track { subject, recorder, .. } = &mut self.tracks[track];
                if let Subject::Port(PortQuantity::Metric(place), _) = *subject {
                    recorder.push_change(end, figures.get(usize::from(place)).copied().unwrap_or_default());
                }
            }
        }
        for &track in tracks {
            let track = &mut self.tracks[track];
            let Subject::Port(quantity, _) = track.subject else { continue };
            let value = match port.fifo() {
                Some(fifo) if is_queue_of_fifo(track.subject, port) => {
                    track.note_departures(fifo.cell_time(), now);
                    track.busy_until = fifo.busy_until();
                    fifo.queue(now).0 as f64
                }
                _ => port_value(quantity, &*port, now, &mut track.growth),
            };
            track.recorder.push_change(now, value);
            track.growth.time = now;
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
                Subject::Sender(quantity, _) => sender_value(quantity, endpoint, now, &mut track.growth),
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

impl SenderReading for Endpoint {
    fn acr(&self) -> f64 {
        self.source().map_or(0.0, |source| source.acr().as_cells_per_s())
    }

    fn sent(&self) -> u64 {
        self.counters.sent()
    }

    fn waiting(&self, now: Time) -> u64 {
        self.supply.waiting(now).unwrap_or(0)
    }

    fn forward_rm_sent(&self) -> u64 {
        self.counters.rm(RmCount::ForwardSent)
    }

    fn backward_rm_received(&self) -> u64 {
        self.counters.rm(RmCount::BackwardReceived)
    }

    fn of_tcp(&self, quantity: FlowQuantity) -> Option<f64> {
        let stack = &self.interface.as_ref()?.stack;
        match quantity {
            FlowQuantity::Cwnd => Some(stack.all_senders().map(|sender| sender.window().0 as f64).sum()),
            FlowQuantity::Rtt => {
                let measured: Vec<f64> = stack
                    .all_senders()
                    .filter_map(|sender| sender.rto().smoothed().map(|span| span.as_secs_f64()))
                    .collect();
                (!measured.is_empty()).then(|| measured.iter().sum::<f64>() / measured.len() as f64)
            }
            FlowQuantity::Retransmissions => Some(stack.retransmitted() as f64),
            FlowQuantity::Responses => Some(stack.clients().iter().map(Client::complete).sum::<u64>() as f64),
            FlowQuantity::ResponseTime => {
                let latest = stack.clients().iter().max_by_key(|client| client.last_complete())?;
                Some(latest.last_response().as_secs_f64())
            }
            FlowQuantity::Acr
            | FlowQuantity::SourceRate
            | FlowQuantity::SourceQueue
            | FlowQuantity::ForwardRm
            | FlowQuantity::BackwardRm
            | FlowQuantity::Received
            | FlowQuantity::Drops
            | FlowQuantity::Delay
            | FlowQuantity::MaxDelay => unreachable!("not of TCP"),
        }
    }
}

fn receiver_value(quantity: FlowQuantity, endpoint: &mut Endpoint, track: &mut Track) -> f64 {
    let received = endpoint.data_delivered();
    let Some(delays) = endpoint.delays_mut().filter(|_| quantity != FlowQuantity::Received) else {
        return if quantity == FlowQuantity::Received { received as f64 } else { f64::NAN };
    };
    let count = track.growth.since(received);
    let sum = delays.sum_ps() - std::mem::replace(&mut track.last_sum, delays.sum_ps());
    let largest = if quantity == FlowQuantity::MaxDelay { delays.end_interval() } else { Duration::ZERO };
    match (count, quantity) {
        (0, _) => f64::NAN,
        (_, FlowQuantity::MaxDelay) => largest.as_secs_f64(),
        _ => sum as f64 / count as f64 / 1e12,
    }
}

/// Whether a series of changes is of the queue of a FIFO, whose departures are no events.
fn is_queue_of_fifo(subject: Subject, port: &Port) -> bool {
    let Subject::Port(quantity, _) = subject else { return false };
    let only = usize::from(port.only_priority);
    match quantity {
        PortQuantity::Queue => true,
        PortQuantity::GuaranteedQueue => only == GUARANTEED,
        PortQuantity::AbrQueue => only == ABR,
        PortQuantity::UbrQueue => only == UBR,
        _ => false,
    }
}

impl PortReading for Port {
    fn total_queue(&self, now: Time) -> u64 {
        Port::total_queue(self, now).0
    }

    fn queue(&self, priority: usize, now: Time) -> u64 {
        Port::queue(self, priority, now).0
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn changes_of_a_queue_follow_from_arrivals_whenever_they_are_told(
            // How long after the one before each comes, and whether arrivals are told then.
            steps in proptest::collection::vec((0_u64..250, any::<bool>()), 1..40),
        ) {
            const CELL: u64 = 100;
            let subject = Subject::Port(PortQuantity::Queue, 0);
            let mut track = Track::new(0, subject, Every::Change, Duration::from_ms(1));
            let (mut at, mut free, mut untold, mut all) = (0, 0, Vec::new(), Vec::new());
            let mut tell = |untold: &mut Vec<Time>, until| {
                track.note_arrivals(untold, Duration::from_ps(CELL), Time::from_ps(until));
                untold.clear();
            };
            for (later, is_told) in steps {
                at += later;
                free = free.max(at) + CELL;
                untold.push(Time::from_ps(at));
                all.push((at, free));
                if is_told {
                    tell(&mut untold, at);
                }
            }
            tell(&mut untold, free);
            let queue = |now: u64| all.iter().filter(|&&(comes, leaves)| comes <= now && now < leaves).count() as f64;
            let mut instants: Vec<u64> = all.iter().flat_map(|&(comes, leaves)| [comes, leaves]).collect();
            instants.sort_unstable();
            instants.dedup();
            let mut expected = Vec::new();
            for now in instants {
                if expected.last().is_none_or(|&(_, last)| last != queue(now)) {
                    expected.push((now, queue(now)));
                }
            }
            let (times, values) = track.recorder.into_columns();
            let found: Vec<(u64, f64)> = times.into_iter().zip(values).collect();
            prop_assert_eq!(found, expected);
        }
    }
}

//! Series of a run while it goes on, in either world: at intervals for all, and at every change for what is watched.
//!
//! A [`Sampler`] knows its subjects by their places in the lists of a world, which reads them by [`Readings`],
//! [`PortReading`] and [`EndReading`].

use std::collections::{BTreeMap, BTreeSet};

use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Every, FlowIndex, FlowQuantity, FlowSource, PortQuantity, PortSource};

use crate::quantities::{Arrivals, EndReading, Growth, PortReading, port_value, sender_value, utilization};
use crate::recorder::Recorder;

/// Subject of a series, by its place in the lists of its world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subject {
    /// A quantity that the sending end of a direction knows.
    Sender(FlowQuantity, u32),
    /// A quantity that the receiving end of a direction knows.
    Receiver(FlowQuantity, u32),
    /// Cells of a direction lost in this world; where there are several of one run, their parts add up.
    Drops(FlowIndex),
    /// A quantity of a port.
    Port(PortQuantity, u32),
}

/// The subjects of a world, by their places in its lists.
pub trait Readings {
    /// Its output ports.
    type Port: PortReading;
    /// Its ends of connections.
    type End: EndReading;

    /// An output port.
    fn port(&mut self, place: u32) -> &mut Self::Port;

    /// An end of a connection.
    fn end(&mut self, place: u32) -> &mut Self::End;

    /// Cells of a direction lost so far \[cells\].
    fn dropped(&self, flow: FlowIndex) -> u64;
}

/// A series being recorded.
#[derive(Clone, Debug)]
pub struct Track {
    /// The place of its probe among those of the run.
    pub probe: usize,
    /// Subject of the series.
    pub subject: Subject,
    /// When its values are taken.
    pub every: Every,
    /// The values so far.
    pub recorder: Recorder,
    /// The count at the last sample, and when that was, for rates.
    growth: Growth,
    /// The sum of delays at the last sample \[ps\].
    last_sum: u128,
    /// When the FIFO whose queue or line this is will have been empty, as of the last change.
    busy_until: Time,
    /// Cells that had come to it by then.
    came: u64,
    /// The next sample, and the value since the last change, where samples are taken late.
    next: Time,
    value: f64,
}

impl Track {
    /// A track without values, for a run of this duration.
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
            came: 0,
            next: Time::ZERO,
            value: 0.0,
        }
    }

    /// Whether samples follow from the arrivals that its port keeps.
    fn follows_from_arrivals(&self, ports: &[impl PortReading]) -> bool {
        let Subject::Port(quantity, port) = self.subject else { return false };
        let port = &ports[port as usize];
        let is_told = quantity.source() == PortSource::Line || port.draining(quantity).is_some();
        is_told && port.keeps_arrivals()
    }

    /// Takes the samples up to `until`, that instant included, of a FIFO to which nothing has come since the last
    /// arrival that it has been told of.
    #[inline]
    fn sample_fifo(&mut self, cell_time: Duration, until: Time) {
        let (Every::Interval(interval), Subject::Port(quantity, _)) = (self.every, self.subject) else {
            return;
        };
        let is_line = quantity == PortQuantity::Utilization;
        while self.next <= until {
            let backlog = self.busy_until.since(self.next);
            let busy = (cell_time * self.came - backlog).as_ps();
            if backlog == Duration::ZERO && (!is_line || busy == self.growth.count()) {
                // It has been empty since the last sample.
                return self.sample_unchanged(until);
            }
            let value = if is_line {
                utilization(busy, self.next, &mut self.growth)
            } else {
                backlog.div_ceil(cell_time) as f64
            };
            self.recorder.push(value);
            self.growth.time = self.next;
            self.next = self.next.saturating_add(interval);
        }
    }

    /// Takes the samples up to the last of the cells that come, that instant included: at the instant of a cell it has
    /// not come.
    fn sample_among(&mut self, cells: Arrivals, cell_time: Duration) {
        let Arrivals { mut first, gap, mut count } = cells;
        loop {
            self.sample_fifo(cell_time, first);
            let last = first + gap * (count - 1);
            let before = if self.next <= last { self.next.since(first).div_ceil(gap) } else { count };
            self.busy_until = self.busy_until.max(first + gap * (before - 1)) + cell_time;
            self.came += before;
            if before == count {
                return;
            }
            (first, count) = (first + gap * before, count - before);
        }
    }

    /// Takes the samples up to `until`, that instant included, of what has not changed since the last change.
    fn sample_unchanged(&mut self, until: Time) {
        let Every::Interval(interval) = self.every else { return };
        if self.next <= until {
            let behind = until.since(self.next).as_ps() / interval.as_ps();
            // Most often there is one.
            match behind {
                0 => self.recorder.push(self.value),
                _ => self.recorder.push_equal(self.value, behind as usize + 1),
            }
            self.growth.time = self.next + interval * behind;
            self.next = self.growth.time.saturating_add(interval);
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

    /// Records what these cells did, and all departures up to `until`.
    fn note_arrivals(&mut self, arrivals: &[Arrivals], cell_time: Duration, until: Time) {
        if let Every::Interval(_) = self.every {
            arrivals.iter().for_each(|&cells| self.sample_among(cells, cell_time));
            return self.sample_fifo(cell_time, until);
        }
        for &Arrivals { first, gap, count } in arrivals {
            for now in (0..count).map(|index| first + gap * index) {
                self.note_departures(cell_time, now);
                self.busy_until = self.busy_until.max(now) + cell_time;
                let queue = self.busy_until.since(now).div_ceil(cell_time);
                self.recorder.push_change(now, queue as f64);
            }
        }
        self.note_departures(cell_time, until);
    }

    /// The value of a quantity that a receiving end knows, at a sample: mean and largest delay are those of what came
    /// since the last one, and NaN where nothing did.
    fn receiver_value(&mut self, quantity: FlowQuantity, end: &mut impl EndReading) -> f64 {
        if quantity == FlowQuantity::Received {
            return end.data_delivered() as f64;
        }
        let Some(delays) = end.end_mut().delays_mut() else { return f64::NAN };
        let count = self.growth.since(delays.total());
        let sum = delays.sum_ps() - std::mem::replace(&mut self.last_sum, delays.sum_ps());
        let largest = if quantity == FlowQuantity::MaxDelay { delays.end_interval() } else { Duration::ZERO };
        match (count, quantity) {
            (0, _) => f64::NAN,
            (_, FlowQuantity::MaxDelay) => largest.as_secs_f64(),
            _ => sum as f64 / count as f64 / 1e12,
        }
    }
}

/// All series of a world.
#[derive(Debug, Default)]
pub struct Sampler {
    tracks: Vec<Track>,
    /// The intervals: the length of each, the next multiple of it, and the tracks that follow it.
    clocks: Vec<(Duration, Time, Vec<usize>)>,
    /// Tracks that record every change of a port, by its place; empty where no port has such a track.
    watched_ports: Vec<Vec<usize>>,
    /// Tracks that record every change of an end system, by its place; empty where no end system has such a track.
    watched_ends: Vec<Vec<usize>>,
    /// FIFOs whose queue or line is recorded late, and nothing else as it happens: the port and its tracks.
    queues: BTreeMap<u32, Vec<usize>>,
    /// Tracks of ends whose samples are taken late.
    waiting: Vec<usize>,
}

impl Sampler {
    /// A sampler of these series in a world with these `ports` and so many ends of connections.
    pub fn new(tracks: Vec<Track>, ports: &[impl PortReading], ends: usize) -> Sampler {
        let mut sampler = Sampler { tracks, ..Sampler::default() };
        for (index, track) in sampler.tracks.iter().enumerate() {
            match (track.every, track.subject) {
                (Every::Interval(_), Subject::Port(_, port)) if track.follows_from_arrivals(ports) => {
                    sampler.queues.entry(port).or_default().push(index);
                }
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
                (Every::Change, Subject::Sender(_, end) | Subject::Receiver(_, end)) => {
                    sampler.watched_ends.resize(ends, Vec::new());
                    sampler.watched_ends[end as usize].push(index);
                }
                (Every::Change, Subject::Drops(_)) => {
                    unreachable!("a scenario takes losses of a connection at intervals only")
                }
            }
        }
        sampler
    }

    /// Has nothing sampled before `start`, where the run begins.
    pub fn begin_at(&mut self, start: Time) {
        for (length, next, followers) in &mut self.clocks {
            *next = Time::ZERO + *length * start.since(Time::ZERO).div_ceil(*length);
            followers.iter().for_each(|&track| self.tracks[track].recorder.begin_at(*next));
        }
        self.tracks.iter_mut().for_each(|track| track.growth.time = start);
    }

    /// From now on samples of what RM cells change at one of `ends` are taken when it has changed, and at the latest
    /// when [all is told](Sampler::note_unchanged): changes are noted in the order of their instants. Returns these
    /// ends.
    pub fn wait_for_changes(&mut self, ends: &[impl EndReading]) -> BTreeSet<u32> {
        let mut waiting = BTreeSet::new();
        for (_, _, followers) in &mut self.clocks {
            followers.retain(|&index| {
                let track = &mut self.tracks[index];
                let Subject::Sender(quantity, end) = track.subject else { return true };
                let may_wait = quantity.source() == FlowSource::RmCells;
                if may_wait {
                    track.value = sender_value(quantity, &ends[end as usize], Time::ZERO, &mut track.growth);
                    self.watched_ends.resize(ends.len(), Vec::new());
                    self.watched_ends[end as usize].push(index);
                    self.waiting.push(index);
                    waiting.insert(end);
                }
                !may_wait
            });
        }
        self.clocks.retain(|(_, _, followers)| !followers.is_empty());
        waiting
    }

    /// Subjects that have to be up to date when samples are taken.
    pub fn looks_at(&self) -> impl Iterator<Item = Subject> {
        let followers = self.clocks.iter().flat_map(|(_, _, followers)| followers);
        followers.map(|&track| self.tracks[track].subject)
    }

    /// The next instant at which something is sampled.
    pub fn next(&self) -> Time {
        self.clocks.iter().map(|&(_, next, _)| next).min().unwrap_or(Time::NEVER)
    }

    /// Takes the samples that are due at `now`.
    pub fn sample(&mut self, now: Time, world: &mut impl Readings) {
        for (length, next, followers) in &mut self.clocks {
            if *next > now {
                continue;
            }
            *next = now.saturating_add(*length);
            for &index in followers.iter() {
                let track = &mut self.tracks[index];
                let value = match track.subject {
                    Subject::Port(quantity, port) => {
                        let port = world.port(port);
                        if let PortQuantity::Metric(_) = quantity {
                            port.bring_figures_up_to(now);
                        }
                        port_value(quantity, port, now, &mut track.growth)
                    }
                    Subject::Sender(quantity, end) => {
                        sender_value(quantity, world.end(end), now, &mut track.growth)
                    }
                    Subject::Receiver(quantity, end) => track.receiver_value(quantity, world.end(end)),
                    Subject::Drops(flow) => world.dropped(flow) as f64,
                };
                track.recorder.push(value);
                track.growth.time = now;
            }
        }
    }

    /// Something happened at a port.
    #[inline]
    pub fn note_port(&mut self, now: Time, place: u32, ports: &mut [impl PortReading]) {
        if !self.watched_ports.is_empty() {
            self.note_watched_port(now, place, &mut ports[place as usize]);
        }
    }

    /// Every change up to `until`, that instant included, has happened: what has left since the last one, from ports
    /// whose departures are no events, is recorded.
    #[inline]
    pub fn note_departures(&mut self, until: Time, ports: &[impl PortReading]) {
        for (port, tracks) in ports.iter().zip(&self.watched_ports) {
            for &track in tracks {
                let track = &mut self.tracks[track];
                if let Subject::Port(quantity, _) = track.subject
                    && let Some((cell_time, _)) = port.draining(quantity)
                {
                    track.note_departures(cell_time, until);
                }
            }
        }
    }

    /// The FIFOs whose arrivals are kept are empty at `now`.
    pub fn begin_queues(&mut self, now: Time) {
        for &track in self.queues.values().flatten() {
            if let Track { every: Every::Change, recorder, .. } = &mut self.tracks[track] {
                recorder.push_change(now, 0.0);
            }
        }
    }

    /// Every change up to `until`, that instant included, has happened at the FIFOs whose arrivals are kept, and at the
    /// ends that [wait](Sampler::wait_for_changes): all is recorded up to then.
    #[inline]
    pub fn note_unchanged(&mut self, until: Time, ports: &mut [impl PortReading]) {
        for (&port, tracks) in &self.queues {
            let Some((arrivals, cell_time)) = ports[port as usize].arrivals() else { continue };
            for &track in tracks {
                self.tracks[track].note_arrivals(arrivals, cell_time, until);
            }
            arrivals.clear();
        }
        for &track in &self.waiting {
            self.tracks[track].sample_unchanged(until);
        }
    }

    #[cold]
    fn note_watched_port(&mut self, now: Time, place: u32, port: &mut impl PortReading) {
        let tracks = &self.watched_ports[place as usize];
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
            if let Some((cell_time, busy_until)) = port.draining(quantity) {
                track.note_departures(cell_time, now);
                track.busy_until = busy_until;
            }
            let value = port_value(quantity, port, now, &mut track.growth);
            track.recorder.push_change(now, value);
            track.growth.time = now;
        }
    }

    /// Whether any change at an end of a connection is recorded.
    #[inline]
    pub fn watches_ends(&self) -> bool {
        !self.watched_ends.is_empty()
    }

    /// Something happened at an end of a connection.
    #[inline]
    pub fn note_end(&mut self, now: Time, place: u32, end: &impl EndReading) {
        if self.watches_ends() {
            self.note_watched_end(now, place, end);
        }
    }

    #[cold]
    fn note_watched_end(&mut self, now: Time, place: u32, end: &impl EndReading) {
        for &track in &self.watched_ends[place as usize] {
            let track = &mut self.tracks[track];
            let value = match track.subject {
                Subject::Sender(quantity, _) => sender_value(quantity, end, now, &mut track.growth),
                _ => end.data_delivered() as f64,
            };
            if track.every == Every::Change {
                track.recorder.push_change(now, value);
            } else if value != track.value {
                // A sample of this instant comes before what changes then. Where nothing does, as with what the end
                // receives, all that it sent before may not have been noted yet.
                track.sample_unchanged(now);
                track.value = value;
            }
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
            let mut tell = |untold: &mut Vec<Arrivals>, until| {
                track.note_arrivals(untold, Duration::from_ps(CELL), Time::from_ps(until));
                untold.clear();
            };
            for (later, is_told) in steps {
                at += later;
                free = free.max(at) + CELL;
                untold.push(Arrivals { first: Time::from_ps(at), gap: Duration::ZERO, count: 1 });
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

        #[test]
        fn samples_taken_late_are_those_of_their_instants(
            // How long after the one before each group comes, how many cells it has at most, and whether it is told.
            steps in proptest::collection::vec((0_u64..250, 1_u64..5, any::<bool>()), 1..40),
            interval in 1_u64..300,
        ) {
            const CELL: u64 = 100;
            let mut tracks = [PortQuantity::Queue, PortQuantity::Utilization].map(|quantity| {
                let every = Every::Interval(Duration::from_ps(interval));
                Track::new(0, Subject::Port(quantity, 0), every, Duration::from_ms(1))
            });
            let (mut at, mut free, mut untold, mut all) = (0, 0, Vec::new(), Vec::new());
            let mut tell = |untold: &mut Vec<Arrivals>, until| {
                for track in &mut tracks {
                    track.note_arrivals(untold, Duration::from_ps(CELL), Time::from_ps(until));
                }
                untold.clear();
            };
            for (later, most, is_told) in steps {
                at += later;
                let (count, gap) = (if free <= at { most } else { 1 }, CELL + later % 7);
                untold.push(Arrivals { first: Time::from_ps(at), gap: Duration::from_ps(gap), count });
                for comes in (0..count).map(|index| at + gap * index) {
                    free = free.max(comes) + CELL;
                    all.push((comes, free));
                }
                at += gap * (count - 1);
                if is_told {
                    tell(&mut untold, at);
                }
            }
            tell(&mut untold, free);
            let mut growth = Growth::default();
            let mut expected = [Vec::new(), Vec::new()];
            for now in (0..=free).step_by(interval as usize) {
                let come = || all.iter().filter(|&&(comes, _)| comes < now);
                expected[0].push(come().filter(|&&(_, leaves)| now < leaves).count() as f64);
                let busy = come().map(|&(_, leaves)| (now + CELL).saturating_sub(leaves).min(CELL)).sum();
                expected[1].push(utilization(busy, Time::from_ps(now), &mut growth));
                growth.time = Time::from_ps(now);
            }
            prop_assert_eq!(tracks.map(|track| track.recorder.into_columns().1), expected);
        }
    }
}

//! Who runs which cluster for its next window, and in what order, on one thread or on several.
//!
//! What leaves a cluster within a window does not arrive elsewhere within it. So a cluster may run its next window as soon
//! as its neighbours have run the one before; nobody has to wait for all. A cluster is never more than a window ahead of a
//! neighbour, and what it learns early from one that is ahead of it comes later than anything that it has still to do in its
//! window.
//!
//! All threads therefore let a chain of clusters run up to [`Windows::lead`] windows one after the other, while what they
//! work on is in the caches, before the next cluster has its turn: a wave that goes through the network in order of the clusters, each
//! of them a window behind the one ahead of it. In a large network a window of a cluster takes less time than fetching what it
//! works on from memory.
//!
//! Each thread has a share of the clusters to itself. A thread with nothing to do in this round of windows goes on to the
//! next one where it can, and waits otherwise.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use cellrate_proto::{Duration, Time};

use super::cluster::Cluster;
use super::exchange::Exchange;

/// The windows of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// Of the run.
    pub end: Time,
    /// The length of one; the last one ends with the run.
    pub length: Duration,
    /// How many of them a cluster runs before clusters elsewhere have begun with theirs. With 1, all clusters run a window
    /// before any runs the next.
    pub lead: u64,
}

impl Windows {
    fn count(&self) -> u64 {
        self.end.as_ps().div_ceil(self.length.as_ps())
    }

    /// When that window ends.
    fn end_of(&self, window: u64) -> Time {
        // The product is too large only if the end is.
        let end = u128::from(window + 1) * u128::from(self.length.as_ps());
        u64::try_from(end).map_or(self.end, |end| Time::from_ps(end).min(self.end))
    }
}

/// Runs all windows of all clusters on up to `threads` threads; whether that was done. `goes_on` is asked by the calling thread
/// each time before it has its own clusters run once more, and after the last; it sees these clusters. A no stops everybody.
pub(crate) fn run(
    clusters: &mut [Cluster],
    exchange: &Exchange,
    windows: Windows,
    threads: usize,
    goes_on: &mut dyn FnMut(&mut [Cluster]) -> bool,
) -> bool {
    let mut shares = share_out(clusters, threads);
    let agenda = Agenda::new(windows, &exchange.neighbours, shares.iter().map(|share| share.clusters.len()));
    let (first, others) = shares.split_first_mut().expect("one share at least");
    thread::scope(|scope| {
        for share in others {
            scope.spawn(|| share.work(&agenda, exchange, &mut |_| true));
        }
        first.work(&agenda, exchange, goes_on);
    });
    // What is still between clusters is on its way.
    for (number, cluster) in clusters.iter_mut().enumerate() {
        exchange.deliver(number, cluster);
    }
    !agenda.lock().stopped
}

/// Clusters in a row, for one thread.
struct Share<'a> {
    /// Which share it is.
    number: usize,
    /// The number of the first cluster.
    first: usize,
    clusters: &'a mut [Cluster],
}

impl Share<'_> {
    fn work(
        &mut self,
        agenda: &Agenda<'_>,
        exchange: &Exchange,
        goes_on: &mut dyn FnMut(&mut [Cluster]) -> bool,
    ) {
        // Nobody waits in vain for a thread that panics.
        let _stop = StopOnPanic(agenda);
        let count = self.clusters.len().max(1);
        for ran in 0.. {
            if ran % count == 0 && !goes_on(self.clusters) {
                return agenda.stop();
            }
            let Some((number, until)) = agenda.next(self.number) else { return };
            let cluster = &mut self.clusters[number - self.first];
            exchange.deliver(number, cluster);
            cluster.run_until(until);
            exchange.post(number, cluster);
            agenda.done(number);
        }
    }
}

/// Shares of `clusters` with about the same number of ports each.
fn share_out(clusters: &mut [Cluster], count: usize) -> Vec<Share<'_>> {
    let weights: Vec<usize> = clusters.iter().map(|cluster| cluster.ports.len()).collect();
    let (mut rest, mut first) = (clusters, 0);
    let mut shares = Vec::new();
    for length in fair_lengths(&weights, count) {
        let (clusters, after) = rest.split_at_mut(length);
        shares.push(Share { number: shares.len(), first, clusters });
        first += length;
        rest = after;
    }
    shares
}

/// How many of `weights`, in a row, make up each of `count` shares of about the same weight: one at least, and all
/// together. Where there are too few, so are the shares.
fn fair_lengths(weights: &[usize], count: usize) -> Vec<usize> {
    let count = count.clamp(1, weights.len().max(1));
    let (mut rest, mut left) = (weights, weights.iter().sum::<usize>());
    let mut lengths = Vec::new();
    for others in (1..count).rev() {
        let fair = left.div_ceil(others + 1);
        let (mut length, mut taken) = (0, 0);
        while length == 0 || taken + rest[length] <= fair && rest.len() - length > others {
            taken += rest[length];
            length += 1;
        }
        left -= taken;
        rest = &rest[length..];
        lengths.push(length);
    }
    lengths.push(rest.len());
    lengths
}

struct StopOnPanic<'a>(&'a Agenda<'a>);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

/// What is still to be done.
#[derive(Debug)]
struct Agenda<'a> {
    windows: Windows,
    /// Of each cluster.
    neighbours: &'a [Vec<usize>],
    /// The share of each cluster.
    share: Vec<u32>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// The windows that each cluster has begun, and those that it has run.
    begun: Vec<u64>,
    done: Vec<u64>,
    /// By share: clusters that may run their next window, with its round.
    ready: Vec<BTreeSet<(u64, u32)>>,
    /// By share: windows of its clusters that nobody has begun.
    left: Vec<u64>,
    stopped: bool,
}

impl<'a> Agenda<'a> {
    fn new(
        windows: Windows,
        neighbours: &'a [Vec<usize>],
        shares: impl Iterator<Item = usize>,
    ) -> Agenda<'a> {
        let lengths: Vec<usize> = shares.collect();
        let share: Vec<u32> = (0..).zip(&lengths).flat_map(|(share, &length)| vec![share; length]).collect();
        let mut state = State {
            begun: vec![0; share.len()],
            done: vec![0; share.len()],
            ready: vec![BTreeSet::new(); lengths.len()],
            left: lengths.iter().map(|&length| length as u64 * windows.count()).collect(),
            stopped: false,
        };
        for (cluster, &share) in (0..).zip(&share) {
            state.ready[share as usize].insert((0, cluster));
        }
        Agenda { windows, neighbours, share, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A cluster of `share` to run, and until when; waits for one if need be. `None` when nothing is left to do, or everybody
    /// has to stop.
    fn next(&self, share: usize) -> Option<(usize, Time)> {
        let mut state = self.lock();
        while !state.stopped && state.left[share] > 0 {
            if let Some((_, cluster)) = state.ready[share].pop_first() {
                let cluster = cluster as usize;
                let window = state.begun[cluster];
                state.begun[cluster] += 1;
                state.left[share] -= 1;
                return Some((cluster, self.windows.end_of(window)));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// That cluster has run the window that it began.
    fn done(&self, cluster: usize) {
        let mut state = self.lock();
        state.done[cluster] += 1;
        self.note_if_ready(&mut state, cluster);
        let mut elsewhere = false;
        for &neighbour in &self.neighbours[cluster] {
            let is_ready = self.note_if_ready(&mut state, neighbour);
            elsewhere |= is_ready && self.share[neighbour] != self.share[cluster];
        }
        if elsewhere {
            self.changed.notify_all();
        }
    }

    /// Whether `cluster` may run its next window, which is written down then.
    fn note_if_ready(&self, state: &mut State, cluster: usize) -> bool {
        let State { begun, done, ready, .. } = state;
        let next = done[cluster];
        let is_ready = begun[cluster] == next
            && next < self.windows.count()
            && self.neighbours[cluster].iter().all(|&neighbour| done[neighbour] >= next);
        if is_ready {
            let round = next / self.windows.lead;
            ready[self.share[cluster] as usize].insert((round, cluster as u32));
        }
        is_ready
    }

    /// Nobody goes on.
    fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// Nobody panics who has it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_fair_in_order_and_never_empty() {
        let split = |weights: &[usize], count: usize| {
            let mut rest: Vec<usize> = weights.to_vec();
            let lengths = fair_lengths(&rest, count);
            lengths.iter().map(|&length| rest.drain(..length).sum()).collect::<Vec<usize>>()
        };
        assert_eq!(split(&[1, 1, 1, 1], 2), [2, 2]);
        assert_eq!(split(&[9, 1, 1, 1], 2), [9, 3]);
        assert_eq!(split(&[1, 1, 1, 9], 2), [3, 9]);
        assert_eq!(split(&[5, 5], 3), [5, 5], "no more shares than clusters");
        assert_eq!(split(&[0, 0, 7], 3), [0, 0, 7]);
        assert_eq!(split(&[3; 100], 4), [75; 4]);
        assert_eq!(split(&[], 4), [0]);
    }
}

//! Who runs which cluster for its next window, and in what order, on one thread or on several.
//!
//! What leaves a cluster within a window does not arrive elsewhere within it. So a cluster may run its next window as
//! soon as its neighbours have run the one before; none has to wait for all. A cluster is never more than a window
//! ahead of a neighbour, and what one that is ahead of it has sent waits in the [`exchange`](super::exchange).
//!
//! A large network does not fit into the caches, and to fetch what a cluster works on takes longer than a window of it.
//! So windows come in rounds of [`windows_per_round`](Windows::windows_per_round), and among those that may run in a
//! round the first cluster does: a wave goes through the clusters in their order, and each comes to its next window
//! when only a few others have had theirs since.
//!
//! Each thread has a share of the clusters to itself. A thread with nothing to do in this round of windows goes on to
//! the next one where it can, and waits otherwise.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use cellrate_proto::{Duration, Time};

use super::exchange::Exchange;
use crate::kernel::state::cluster::Cluster;
use crate::kernel::state::scratch::Scratch;

/// The windows of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// Instant at which the first one begins.
    pub start: Time,
    /// Instant at which the last one ends.
    pub end: Time,
    /// The length of one; the last one may be shorter.
    pub length: Duration,
    /// Number of windows that a cluster runs before clusters elsewhere have begun with theirs. With 1, all clusters run
    /// a window before any runs the next.
    pub windows_per_round: u64,
}

impl Windows {
    /// Number of windows.
    pub fn count(&self) -> u64 {
        self.end.since(self.start).as_ps().div_ceil(self.length.as_ps())
    }

    /// Instant at which `window` ends.
    pub fn end_of(&self, window: u64) -> Time {
        // The product is too large only if the end is.
        let end = u128::from(self.start.as_ps()) + u128::from(window + 1) * u128::from(self.length.as_ps());
        u64::try_from(end).map_or(self.end, |end| Time::from_ps(end).min(self.end))
    }
}

/// Runs all windows of all clusters on up to `threads` threads; whether that was done. `goes_on` is asked by the
/// calling thread each time before it has its own clusters run once more, and after the last; it sees these clusters. A
/// no stops everybody.
pub(crate) fn run(
    clusters: &mut [Cluster],
    exchange: &Exchange,
    windows: Windows,
    threads: usize,
    goes_on: &mut dyn FnMut(&mut [Cluster]) -> bool,
) -> bool {
    let mut shares = share_out(clusters, threads);
    let queue =
        WindowQueue::new(windows, &exchange.neighbours, shares.iter().map(|share| share.clusters.len()));
    let (first, others) = shares.split_first_mut().expect("one share at least");
    thread::scope(|scope| {
        for share in others {
            scope.spawn(|| share.work(&queue, exchange, &mut |_| true));
        }
        first.work(&queue, exchange, goes_on);
    });
    !queue.lock().stopped
}

/// Clusters in a row, for one thread.
struct Share<'a> {
    /// Number of the share.
    number: usize,
    /// The number of the first cluster.
    first: usize,
    clusters: &'a mut [Cluster],
}

impl Share<'_> {
    fn work(
        &mut self,
        queue: &WindowQueue<'_>,
        exchange: &Exchange,
        goes_on: &mut dyn FnMut(&mut [Cluster]) -> bool,
    ) {
        // No thread waits in vain for one that panics.
        let _stop = StopOnPanic(queue);
        let (mut scratch, count) = (Scratch::default(), self.clusters.len().max(1));
        for ran in 0.. {
            if ran % count == 0 && !goes_on(self.clusters) {
                return queue.stop();
            }
            let Some((number, window)) = queue.next(self.number) else { return };
            let cluster = &mut self.clusters[number - self.first];
            // It is in the caches.
            std::mem::swap(&mut cluster.scratch, &mut scratch);
            if exchange.prefetches {
                cluster.read_ahead();
            }
            exchange.deliver(number, cluster, window);
            cluster.run_until(queue.windows.end_of(window));
            exchange.post(number, cluster, window);
            std::mem::swap(&mut cluster.scratch, &mut scratch);
            queue.done(number);
        }
    }
}

/// Divides `clusters` into shares with about the same number of ports each.
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

/// Number of `weights`, in a row, that make up each of `count` shares of about the same weight: one at least, and all
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

struct StopOnPanic<'a>(&'a WindowQueue<'a>);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

/// Windows that are still to be run.
#[derive(Debug)]
struct WindowQueue<'a> {
    windows: Windows,
    /// The neighbours of each cluster.
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
    /// For each share, the clusters that may run their next window, with its round.
    ready: Vec<BTreeSet<(u64, u32)>>,
    /// For each share, the number of windows of its clusters that have not begun.
    left: Vec<u64>,
    stopped: bool,
}

impl<'a> WindowQueue<'a> {
    fn new(
        windows: Windows,
        neighbours: &'a [Vec<usize>],
        shares: impl Iterator<Item = usize>,
    ) -> WindowQueue<'a> {
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
        WindowQueue { windows, neighbours, share, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A cluster of `share` to run, and its window; waits for one if need be. `None` when nothing is left to do, or
    /// everybody has to stop.
    fn next(&self, share: usize) -> Option<(usize, u64)> {
        let mut state = self.lock();
        while !state.stopped && state.left[share] > 0 {
            if let Some((_, cluster)) = state.ready[share].pop_first() {
                let cluster = cluster as usize;
                let window = state.begun[cluster];
                state.begun[cluster] += 1;
                state.left[share] -= 1;
                return Some((cluster, window));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// Takes note that `cluster` has run the window that it began.
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

    /// Whether `cluster` may run its next window; if so, it is put among those that are ready.
    fn note_if_ready(&self, state: &mut State, cluster: usize) -> bool {
        let State { begun, done, ready, .. } = state;
        let next = done[cluster];
        let is_ready = begun[cluster] == next
            && next < self.windows.count()
            && self.neighbours[cluster].iter().all(|&neighbour| done[neighbour] >= next);
        if is_ready {
            let round = next / self.windows.windows_per_round;
            ready[self.share[cluster] as usize].insert((round, cluster as u32));
        }
        is_ready
    }

    /// Has all threads stop.
    fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// Locks the state; no thread panics that holds it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LENGTH: Duration = Duration::from_us(10);
    const FIRST: Time = Time::from_ps(3_333_333);

    fn windows(count: u64, windows_per_round: u64) -> Windows {
        // The last one is short.
        // The first one begins later than the run.
        let end = FIRST.as_ps() + (LENGTH * count).as_ps() - 1;
        Windows { start: FIRST, end: Time::from_ps(end), length: LENGTH, windows_per_round }
    }

    proptest! {
        #[test]
        fn each_window_runs_once_and_when_those_before_it_have_run(
            // Each but the first has a link to one before it, and a few have others.
            links in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
            others in proptest::collection::vec(any::<[prop::sample::Index; 2]>(), 0..4),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..3),
            (count, per_round) in (1..9_u64, 1..5_u64),
            choices in proptest::collection::vec(any::<prop::sample::Index>(), 1..40),
        ) {
            let clusters = links.len() + 1;
            let mut neighbours = vec![Vec::new(); clusters];
            let ends = links.iter().enumerate().map(|(before, link)| [before + 1, link.index(before + 1)]);
            for [one, other] in ends.chain(others.iter().map(|pair| pair.map(|end| end.index(clusters)))) {
                if one != other && !neighbours[one].contains(&other) {
                    neighbours[one].push(other);
                    neighbours[other].push(one);
                }
            }
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(clusters)).filter(|&cut| cut > 0).collect();
            cuts.extend([0, clusters]);
            cuts.sort_unstable();
            cuts.dedup();
            let shares: Vec<usize> = cuts.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let windows = windows(count, per_round);
            let queue = WindowQueue::new(windows, &neighbours, shares.iter().copied());
            let (mut done, mut running) = (vec![0; clusters], vec![None; shares.len()]);
            let mut choices = choices.iter().cycle();
            while done.iter().any(|&done| done < count) {
                // Those that need not wait, or have something to end.
                let may_go = |&share: &usize| {
                    running[share].is_some() || !queue.lock().ready[share].is_empty()
                };
                let able: Vec<usize> = (0..shares.len()).filter(may_go).collect();
                prop_assert!(!able.is_empty(), "one can go on");
                let share = able[choices.next().expect("a cycle").index(able.len())];
                if let Some(cluster) = running[share].take() {
                    queue.done(cluster);
                    done[cluster] += 1;
                    continue;
                }
                let (cluster, window) = queue.next(share).expect("one is ready");
                prop_assert!(cuts[share] <= cluster && cluster < cuts[share + 1]);
                prop_assert_eq!(window, done[cluster]);
                prop_assert!(neighbours[cluster].iter().all(|&other| done[other] >= done[cluster]));
                running[share] = Some(cluster);
            }
            prop_assert!((0..shares.len()).all(|share| queue.next(share).is_none()));
        }
    }

    /// The clusters of a chain and their windows, in the order in which one thread runs them.
    fn order(clusters: usize, windows: Windows) -> Vec<(usize, u64)> {
        let neighbours: Vec<Vec<usize>> = (0..clusters)
            .map(|cluster| {
                [cluster.wrapping_sub(1), cluster + 1].into_iter().filter(|&other| other < clusters).collect()
            })
            .collect();
        let queue = WindowQueue::new(windows, &neighbours, [clusters].into_iter());
        std::iter::from_fn(|| {
            let (cluster, window) = queue.next(0)?;
            queue.done(cluster);
            Some((cluster, window))
        })
        .collect()
    }

    #[test]
    fn a_wave_goes_through_a_chain() {
        assert_eq!(order(2, windows(2, 1)), [(0, 0), (1, 0), (0, 1), (1, 1)]);
        let all_but_the_last = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (3, 0), (2, 1), (3, 1)];
        assert_eq!(order(4, windows(3, 2))[..8], all_but_the_last);
    }

    #[test]
    fn who_waits_ends_when_somebody_stops() {
        let neighbours = [vec![1], vec![0]];
        let queue = WindowQueue::new(windows(3, 2), &neighbours, [1, 1].into_iter());
        assert_eq!(queue.next(0), Some((0, 0)));
        assert_eq!(queue.windows.end_of(0), FIRST + LENGTH);
        queue.done(0);
        let waiting = || queue.next(0);
        thread::scope(|scope| {
            let waits = scope.spawn(waiting);
            // Whoever panics stops all.
            let panics = scope.spawn(|| {
                let _stop = StopOnPanic(&queue);
                assert!(queue.lock().ready[0].is_empty());
                panic!("on purpose");
            });
            assert!(panics.join().is_err());
            assert_eq!(waits.join().expect("it does not panic"), None);
        });
    }

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

//! Exchange of cells between clusters at the end of a window, on one thread or on several.
//!
//! Each pair of neighbours has a [`Mail`] for each direction, which the sender fills at the end of a window and the
//! receiver empties before its next one. By then it holds every cell that arrives within that window. If the sender is
//! [ahead](super::scheduler) it has posted more, which the receiver leaves where it is until its next window: so a
//! cluster gets the same cells before the same window whichever thread it runs on, and no two clusters share anything
//! else. Neither results nor the number of events depend on the number of threads.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cell::Cell;
use crate::kernel::lanes::cell_queue::{Batch, CellQueue};
use crate::kernel::lanes::packed::{Packing, Unpacking};
use crate::kernel::state::bag::{Bag, Packed, Parcel};
use crate::kernel::state::cluster::Cluster;
use crate::kernel::state::event_mark::EventMark;
use crate::kernel::state::outbox::{Outbox, Sent};
use crate::kernel::state::scratch::Scratch;
use crate::mechanisms::{Mechanism, Mechanisms};
use crate::transport::Departed;

/// All cells on their way from one cluster to another.
#[derive(Debug, Default)]
struct Mail {
    /// Cells of the even and of the odd windows: a sender is never more than one window ahead.
    posts: [Post; 2],
    /// Lists that the receiver has emptied, for those that are not packed: windows do not allocate.
    empty: Vec<Vec<Cell>>,
}

/// Cells that have left in one window.
#[derive(Debug, Default)]
struct Post {
    /// Cells for other clusters, packed into octets.
    bags: Vec<Bag>,
    /// Cells for other clusters, in lists.
    plain: Vec<Parcel<Vec<Cell>>>,
    /// Cells of those lists that have to be events, parcel by parcel.
    significant: Vec<EventMark>,
}

/// Number of lanes between clusters from which on a network is large: fewer fit into the caches, with all that belongs
/// to them.
const LARGE: usize = 128;

/// Number of ends of connections that, with all that belongs to them, are far more than a near cache holds. With 3,000
/// to read them through took a fourteenth of the time, with 20,000 it saves a fifth.
const READ_AHEAD_FROM: usize = 4096;

/// Everything that passes between clusters. Lists are by cluster.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// For each cluster, those that its cells come from or go to.
    pub neighbours: Vec<Vec<usize>>,
    /// Whether the state of clusters is [prefetched](super::prefetch) before they run.
    pub prefetches: bool,
    mail: Vec<Mutex<Mail>>,
    /// For each cluster, the boxes that it fills, each with the outboxes that lead there.
    posted: Vec<Vec<(usize, Vec<u32>)>>,
    /// For each cluster, the boxes that lead to it.
    delivered: Vec<Vec<usize>>,
    /// Segments whose PDUs are on their way, between ends of connections with TCP.
    conduits: Vec<Mutex<VecDeque<Departed>>>,
    /// For each cluster, the ends that PDUs leave from, and their conduits.
    leaving: Vec<Vec<(usize, usize)>>,
    /// For each cluster, the ends that PDUs come to, and their conduits.
    coming: Vec<Vec<(usize, usize)>>,
}

impl Exchange {
    /// Between `clusters`; `conduits` say where PDUs leave and where they arrive, as (cluster, endpoint).
    pub fn new(
        clusters: &mut [Cluster],
        conduits: &[[(usize, usize); 2]],
        mechanisms: Mechanisms,
    ) -> Exchange {
        let nothing = || vec![Vec::new(); clusters.len()];
        let lanes: usize = clusters.iter().map(|cluster| cluster.outboxes.len()).sum();
        let ends: usize = clusters.iter().map(|cluster| cluster.endpoints.len()).sum();
        let is_large = lanes >= LARGE;
        let mut exchange = Exchange {
            neighbours: vec![Vec::new(); clusters.len()],
            prefetches: ends >= READ_AHEAD_FROM && mechanisms.has(Mechanism::Prefetch),
            mail: Vec::new(),
            posted: vec![Vec::new(); clusters.len()],
            delivered: vec![Vec::new(); clusters.len()],
            conduits: Vec::new(),
            leaving: nothing(),
            coming: nothing(),
        };
        if is_large && mechanisms.has(Mechanism::Packing) {
            have_packed(clusters);
        } else if mechanisms.has(Mechanism::Stretches) {
            tell_of_stretches(clusters);
        }
        for (from, cluster) in clusters.iter().enumerate() {
            for (index, outbox) in (0..).zip(&cluster.outboxes) {
                let to = outbox.cluster as usize;
                let is_there = |&(place, _): &(usize, _)| exchange.delivered[to].contains(&place);
                match exchange.posted[from].iter().position(is_there) {
                    Some(known) => exchange.posted[from][known].1.push(index),
                    None => {
                        let number = exchange.mail.len();
                        exchange.mail.push(Mutex::default());
                        exchange.posted[from].push((number, vec![index]));
                        exchange.delivered[to].push(number);
                        for [one, other] in [[from, to], [to, from]] {
                            if !exchange.neighbours[one].contains(&other) {
                                exchange.neighbours[one].push(other);
                            }
                        }
                    }
                }
            }
        }
        for &[(from, sender), (to, receiver)] in conduits {
            let number = exchange.conduits.len();
            exchange.conduits.push(Mutex::default());
            exchange.leaving[from].push((sender, number));
            exchange.coming[to].push((receiver, number));
        }
        exchange
    }

    /// Posts the cells that have left `cluster`, which has this number, in the `window` that has ended.
    pub fn post(&self, number: usize, cluster: &mut Cluster, window: u64) {
        for (place, outboxes) in &self.posted[number] {
            let mut mail = lock(&self.mail[*place]);
            let Mail { posts, empty } = &mut *mail;
            let Post { bags, plain, significant } = &mut posts[(window % 2) as usize];
            let Cluster { outboxes: all, scratch: Scratch { bag, octets: spare, .. }, moved, .. } =
                &mut *cluster;
            for &index in outboxes {
                let Outbox { lane, sent, significant: marks, .. } = &mut all[index as usize];
                let (lane, count) = (*lane, marks.len() as u32);
                match sent {
                    Sent::Packed(packing) => {
                        let (octets, cells) = packing.take(&mut bag.octets, spare);
                        if cells > 0 {
                            *moved += cells as usize;
                            let cells = Packed { octets, cells };
                            bag.parcels.push(Parcel { lane, significant: count, cells });
                            bag.significant.append(marks);
                        }
                    }
                    Sent::Plain { cells, expected, .. } if !cells.is_empty() => {
                        *expected = cells.len() as u32;
                        *moved += cells.len();
                        let cells = std::mem::replace(cells, empty.pop().unwrap_or_default());
                        plain.push(Parcel { lane, significant: count, cells });
                        significant.append(marks);
                    }
                    Sent::Plain { .. } => {}
                }
            }
            bags.extend(bag.close());
        }
        for &(sender, conduit) in &self.leaving[number] {
            if let Some(adapter) = cluster.endpoints[sender].end.supply.adapter_mut()
                && !adapter.departed.is_empty()
            {
                hand_over(&mut adapter.departed, &mut lock(&self.conduits[conduit]));
            }
        }
    }

    /// Delivers to `cluster`, which has this number, the cells posted for it in the window before `window`, which it
    /// runs next.
    pub fn deliver(&self, number: usize, cluster: &mut Cluster, window: u64) {
        for &(receiver, conduit) in &self.coming[number] {
            let mut departed = lock(&self.conduits[conduit]);
            if !departed.is_empty()
                && let Some(interface) = &mut cluster.endpoints[receiver].interface
            {
                hand_over(&mut departed, &mut interface.arrivals);
            }
        }
        for &place in &self.delivered[number] {
            let mut mail = lock(&self.mail[place]);
            let Mail { posts, empty } = &mut *mail;
            let Post { bags, plain, significant } = &mut posts[((window + 1) % 2) as usize];
            let mut marks = &significant[..];
            for Parcel { lane, significant, cells } in plain.drain(..) {
                let own;
                (own, marks) = marks.split_at(significant as usize);
                cluster.moved += cells.len();
                cluster.receive(lane as usize, Batch::Plain(cells), own);
                empty.extend(cluster.lanes[lane as usize].cells.give_back());
            }
            significant.clear();
            for Bag { parcels, significant, octets } in bags.drain(..) {
                let (mut marks, mut rest) = (&significant[..], &octets[..]);
                for &Parcel { lane, significant, cells: Packed { octets, cells } } in &parcels {
                    let (own, packed);
                    (own, marks) = marks.split_at(significant as usize);
                    (packed, rest) = rest.split_at(octets as usize);
                    cluster.moved += cells as usize;
                    cluster.receive(lane as usize, Batch::Packed(packed, cells), own);
                }
            }
        }
    }

    /// Delivers what is still between `clusters` when all windows have been run: it counts as on its way.
    pub fn settle(&self, clusters: &mut [Cluster]) {
        // Of the last window, and then of what there was to say after it.
        for window in [0, 1] {
            clusters
                .iter_mut()
                .enumerate()
                .for_each(|(number, cluster)| self.deliver(number, cluster, window));
        }
        clusters.iter_mut().enumerate().for_each(|(number, cluster)| self.post(number, cluster, 0));
        clusters.iter_mut().enumerate().for_each(|(number, cluster)| self.deliver(number, cluster, 1));
    }
}

/// Tells outboxes that lead to ports which take [stretches](crate::stretch) that they do.
fn tell_of_stretches(clusters: &mut [Cluster]) {
    for from in 0..clusters.len() {
        for index in 0..clusters[from].outboxes.len() {
            let Outbox { cluster, lane, .. } = clusters[from].outboxes[index];
            let may_come = clusters[cluster as usize].takes_stretches(lane);
            if let Sent::Plain { takes_stretches, .. } = &mut clusters[from].outboxes[index].sent {
                *takes_stretches = may_come;
            }
        }
    }
}

/// Has cells to deferred ports packed from now on.
fn have_packed(clusters: &mut [Cluster]) {
    for from in 0..clusters.len() {
        for index in 0..clusters[from].outboxes.len() {
            let Outbox { cluster, lane, significance, .. } = clusters[from].outboxes[index];
            let (Some(_), Sent::Plain { cell_time, hops, .. }) =
                (significance, &mut clusters[from].outboxes[index].sent)
            else {
                continue;
            };
            let (cell_time, hops) = (*cell_time, std::mem::take(hops));
            let (packing, unpacking) = match hops.len() {
                0 | 1 => (Packing::new(cell_time), Unpacking::new(cell_time)),
                count => (Packing::of_several(cell_time, hops), Unpacking::of_several(cell_time, count)),
            };
            clusters[from].outboxes[index].sent = Sent::Packed(packing);
            clusters[cluster as usize].lanes[lane as usize].cells = CellQueue::Packed(unpacking);
        }
    }
}

/// Moves everything in `from` behind the end of `to`.
fn hand_over(from: &mut VecDeque<Departed>, to: &mut VecDeque<Departed>) {
    match to.is_empty() {
        true => std::mem::swap(from, to),
        false => to.append(from),
    }
}

/// Locks `mutex`; a thread that panicked with it has ended the run anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

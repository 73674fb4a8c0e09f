//! What clusters hand to one another between two windows, on one thread or on several.
//!
//! Each pair of neighbours has a [`Box`](Mail) for each direction, which the sender fills at the end of a window and the
//! receiver empties before its next one. There is always all in it that arrives within that window; if the sender is
//! [ahead](super::crew) there is more, which arrives later. A cluster gets the same cells in the same order
//! whichever thread it runs on, and no two clusters share anything else: the results do not depend on the number of threads.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::awaited::Herald;
use super::cell::Cell;
use super::cluster::Cluster;
use super::outbox::{Outbox, Sent};
use super::packed::{Packing, Unpacking};
use super::row::{Batch, Row};
use crate::transport::Departed;

/// Cells on their way from one cluster to a lane of another.
#[derive(Debug)]
struct Parcel {
    lane: u32,
    /// How many of them have to be events.
    significant: u32,
    cells: Posted,
}

/// How they are sent.
#[derive(Debug)]
enum Posted {
    Plain(Vec<Cell>),
    /// So many octets, which stand for so many cells.
    Packed(u32, u32),
}

/// All cells on their way from one cluster to another.
#[derive(Debug, Default)]
struct Mail {
    bag: Bag,
    /// Lists that the receiver has emptied, for those that are not packed: windows do not allocate.
    empty: Vec<Vec<Cell>>,
}

/// Parcels.
#[derive(Debug, Default)]
pub(crate) struct Bag {
    parcels: Vec<Parcel>,
    /// Those cells that have to be events, parcel by parcel.
    significant: Vec<Herald>,
    /// Those that are packed, parcel by parcel.
    octets: Vec<u8>,
}

/// Most empty bags that a thread keeps for what its clusters send.
const SPARE_BAGS: usize = 8;

/// So many lanes between clusters make a network large: fewer have room in the caches, with all that belongs to them.
const LARGE: usize = 128;

/// All there is between clusters. Lists are by cluster.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Those that cells come from or go to.
    pub neighbours: Vec<Vec<usize>>,
    /// Whether what clusters have is [fetched](super::fetching) before they run, and what they send is packed.
    pub is_large: bool,
    mail: Vec<Mutex<Mail>>,
    /// The boxes that the cluster fills, each with the outboxes that lead there.
    posted: Vec<Vec<(usize, Vec<u32>)>>,
    /// The boxes that lead to the cluster.
    delivered: Vec<Vec<usize>>,
    /// What the cells of PDUs stand for, between ends of connections with TCP.
    conduits: Vec<Mutex<VecDeque<Departed>>>,
    /// The ends that PDUs leave from, and their conduits.
    leaving: Vec<Vec<(usize, usize)>>,
    /// The ends that PDUs come to, and their conduits.
    coming: Vec<Vec<(usize, usize)>>,
}

impl Exchange {
    /// Between `clusters`; `conduits` say where PDUs leave and where they arrive, as (cluster, endpoint).
    pub fn new(clusters: &mut [Cluster], conduits: &[[(usize, usize); 2]]) -> Exchange {
        let nothing = || vec![Vec::new(); clusters.len()];
        let lanes: usize = clusters.iter().map(|cluster| cluster.outboxes.len()).sum();
        let mut exchange = Exchange {
            neighbours: vec![Vec::new(); clusters.len()],
            is_large: lanes >= LARGE,
            mail: Vec::new(),
            posted: vec![Vec::new(); clusters.len()],
            delivered: vec![Vec::new(); clusters.len()],
            conduits: Vec::new(),
            leaving: nothing(),
            coming: nothing(),
        };
        match exchange.is_large {
            true => have_packed(clusters),
            false => tell_of_stretches(clusters),
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

    /// What has left `cluster`, of this number, in the window that has ended.
    pub fn post(&self, number: usize, cluster: &mut Cluster) {
        for (place, outboxes) in &self.posted[number] {
            let mut mail = lock(&self.mail[*place]);
            let Mail { bag, empty } = &mut *mail;
            if bag.parcels.capacity() == 0 {
                *bag = cluster.room.bags.pop().unwrap_or_default();
            }
            let Bag { parcels, significant, octets } = bag;
            for &index in outboxes {
                let outbox = &mut cluster.outboxes[index as usize];
                let cells = match &mut outbox.sent {
                    Sent::Packed(packing) => match packing.take(octets, &mut cluster.room.octets) {
                        (_, 0) => continue,
                        (octets, cells) => Posted::Packed(octets, cells),
                    },
                    Sent::Plain { cells, expected, .. } if !cells.is_empty() => {
                        *expected = cells.len() as u32;
                        Posted::Plain(std::mem::replace(cells, empty.pop().unwrap_or_default()))
                    }
                    _ => continue,
                };
                let count = outbox.significant.len() as u32;
                parcels.push(Parcel { lane: outbox.lane, significant: count, cells });
                significant.append(&mut outbox.significant);
            }
        }
        for &(sender, conduit) in &self.leaving[number] {
            if let Some(adapter) = cluster.endpoints[sender].supply.adapter_mut()
                && !adapter.departed.is_empty()
            {
                lock(&self.conduits[conduit]).append(&mut adapter.departed);
            }
        }
    }

    /// `cluster`, of this number, takes what has been posted for it.
    pub fn deliver(&self, number: usize, cluster: &mut Cluster) {
        for &(receiver, conduit) in &self.coming[number] {
            let mut departed = lock(&self.conduits[conduit]);
            if !departed.is_empty()
                && let Some(interface) = &mut cluster.endpoints[receiver].interface
            {
                interface.arrivals.append(&mut departed);
            }
        }
        for &place in &self.delivered[number] {
            let mut mail = lock(&self.mail[place]);
            let Mail { bag, empty } = &mut *mail;
            let Bag { mut parcels, mut significant, mut octets } = std::mem::take(bag);
            let (mut heralds, mut rest) = (&significant[..], &octets[..]);
            for Parcel { lane, significant, cells } in parcels.drain(..) {
                let own;
                (own, heralds) = heralds.split_at(significant as usize);
                let batch = match cells {
                    Posted::Plain(cells) => Batch::Plain(cells),
                    Posted::Packed(octets, cells) => {
                        let packed;
                        (packed, rest) = rest.split_at(octets as usize);
                        Batch::Packed(packed, cells)
                    }
                };
                cluster.receive(lane as usize, batch, own);
                empty.extend(cluster.lanes[lane as usize].ring.give_back());
            }
            if cluster.room.bags.len() < SPARE_BAGS {
                significant.clear();
                octets.clear();
                cluster.room.bags.push(Bag { parcels, significant, octets });
            }
        }
    }
}

/// Who leads to a port that takes [stretches](super::stretch) knows it from now on.
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

/// Cells to deferred ports are packed from now on.
fn have_packed(clusters: &mut [Cluster]) {
    for from in 0..clusters.len() {
        for index in 0..clusters[from].outboxes.len() {
            let Outbox { cluster, lane, significance, .. } = clusters[from].outboxes[index];
            if let (Some(_), &Sent::Plain { cell_time, .. }) =
                (significance, &clusters[from].outboxes[index].sent)
            {
                clusters[from].outboxes[index].sent = Sent::Packed(Packing::new(cell_time));
                clusters[cluster as usize].lanes[lane as usize].ring = Row::Packed(Unpacking::new(cell_time));
            }
        }
    }
}

/// A thread that panicked has ended the run anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

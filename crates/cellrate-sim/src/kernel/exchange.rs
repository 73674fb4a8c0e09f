//! What clusters hand to one another between two windows, on one thread or on several.
//!
//! Each link between clusters has a [`Box`](Mail) that its sender fills at the end of a window and its receiver empties
//! before the next one. In between all threads wait for each other, so that a box is never filled and emptied at the same
//! time; the lock only says so to the compiler. A cluster sees the same cells in the same order whichever thread it runs on,
//! and no two clusters share anything else: the results do not depend on the number of threads.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cellrate_proto::Time;

use super::cell::Cell;
use super::cluster::Cluster;
use crate::transport::Departed;

/// Cells on their way from one cluster to a lane of another.
#[derive(Debug, Default)]
struct Mail {
    cells: Vec<Cell>,
    significant: Vec<Time>,
}

/// All there is between clusters. Lists are by cluster.
#[derive(Debug)]
pub(crate) struct Exchange {
    mail: Vec<Mutex<Mail>>,
    /// The box of each outbox.
    posted: Vec<Vec<usize>>,
    /// The boxes that lead to the cluster, each with its lane.
    delivered: Vec<Vec<(usize, usize)>>,
    /// What the cells of PDUs stand for, between ends of connections with TCP.
    conduits: Vec<Mutex<VecDeque<Departed>>>,
    /// The ends that PDUs leave from, and their conduits.
    leaving: Vec<Vec<(usize, usize)>>,
    /// The ends that PDUs come to, and their conduits.
    coming: Vec<Vec<(usize, usize)>>,
}

impl Exchange {
    /// Between `clusters`; `conduits` say where PDUs leave and where they arrive, as (cluster, endpoint).
    pub fn new(clusters: &[Cluster], conduits: &[[(usize, usize); 2]]) -> Exchange {
        let nothing = || vec![Vec::new(); clusters.len()];
        let mut exchange = Exchange {
            mail: Vec::new(),
            posted: vec![Vec::new(); clusters.len()],
            delivered: nothing(),
            conduits: Vec::new(),
            leaving: nothing(),
            coming: nothing(),
        };
        for (from, cluster) in clusters.iter().enumerate() {
            for outbox in &cluster.outboxes {
                let number = exchange.mail.len();
                exchange.mail.push(Mutex::default());
                exchange.posted[from].push(number);
                exchange.delivered[outbox.cluster as usize].push((number, outbox.lane as usize));
            }
        }
        exchange.mail.shrink_to_fit();
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
        for (outbox, &place) in cluster.outboxes.iter_mut().zip(&self.posted[number]) {
            if !outbox.cells.is_empty() {
                // The box is empty and gives its room in return: windows do not allocate.
                let mut mail = lock(&self.mail[place]);
                std::mem::swap(&mut mail.cells, &mut outbox.cells);
                std::mem::swap(&mut mail.significant, &mut outbox.significant);
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
        for &(place, lane) in &self.delivered[number] {
            let mut mail = lock(&self.mail[place]);
            if !mail.cells.is_empty() {
                cluster.receive(lane, &mail.cells, &mail.significant);
                mail.cells.clear();
                mail.significant.clear();
            }
        }
    }
}

/// A thread that panicked has ended the run anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

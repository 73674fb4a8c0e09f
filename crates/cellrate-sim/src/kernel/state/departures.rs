//! Departures from tapped ports, noted by their cluster cell by cell.

use cellrate_proto::Time;

use crate::cell::Cell;
use crate::kernel::hop::NONE;

/// A cell that left a tapped port of a cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub at: Time,
    /// The port, by its place in [`Tap::ports`](crate::tap::Tap::ports).
    pub port: u32,
    pub lost: bool,
    pub cell: Cell,
}

/// Departures from the tapped ports of a cluster since they were last handed over.
#[derive(Debug)]
pub(crate) struct Departures {
    /// For each port of the cluster, its place in [`Tap::ports`](crate::tap::Tap::ports), or [`NONE`].
    places: Vec<u32>,
    noted: Vec<Departure>,
}

impl Departures {
    /// The departures of a cluster with so many ports, none of them tapped so far.
    pub fn from_none_of(ports: usize) -> Departures {
        Departures { places: vec![NONE; ports], noted: Vec::new() }
    }

    /// Has cells that leave `port` of the cluster noted from now on, with its place in
    /// [`Tap::ports`](crate::tap::Tap::ports).
    pub fn tap(&mut self, port: usize, place: u32) {
        self.places[port] = place;
    }

    /// Notes that `departed` has left port `port` of the cluster; an error is a cell that the line lost.
    #[inline]
    pub fn note(&mut self, now: Time, port: usize, departed: &Result<Cell, Cell>) {
        let place = self.places[port];
        if place != NONE {
            let (Ok(cell) | Err(cell)) = *departed;
            self.noted.push(Departure { at: now, port: place, lost: departed.is_err(), cell });
        }
    }

    /// Moves all departures that were noted behind those in `to`.
    pub fn hand_over(&mut self, to: &mut Vec<Departure>) {
        to.append(&mut self.noted);
    }
}

//! Bags of packed cells, from one cluster to another.

use super::event_mark::EventMark;

/// Cells on their way from one cluster to a lane of another.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct Parcel<C> {
    pub(in crate::kernel) lane: u32,
    /// Number of cells that have to be events.
    pub(in crate::kernel) significant: u32,
    pub(in crate::kernel) cells: C,
}

/// So many octets, which stand for so many cells.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct Packed {
    pub(in crate::kernel) octets: u32,
    pub(in crate::kernel) cells: u32,
}

/// Packed cells of one window. A large network has very many such bags between its clusters, so they have no room to
/// spare.
#[derive(Debug)]
pub(in crate::kernel) struct Bag {
    pub(in crate::kernel) parcels: Box<[Parcel<Packed>]>,
    /// Cells that have to be events, parcel by parcel.
    pub(in crate::kernel) significant: Box<[EventMark]>,
    /// All cells, parcel by parcel.
    pub(in crate::kernel) octets: Box<[u8]>,
}

/// A bag that is being filled.
#[derive(Debug, Default)]
pub(crate) struct OpenBag {
    pub(in crate::kernel) parcels: Vec<Parcel<Packed>>,
    pub(in crate::kernel) significant: Vec<EventMark>,
    pub(in crate::kernel) octets: Vec<u8>,
}

impl OpenBag {
    /// The bag, if there is anything in it; what comes next goes into another one.
    pub(in crate::kernel) fn close(&mut self) -> Option<Bag> {
        let OpenBag { parcels, significant, octets } = self;
        let bag = (!parcels.is_empty()).then(|| Bag {
            parcels: parcels.as_slice().into(),
            significant: significant.as_slice().into(),
            octets: octets.as_slice().into(),
        });
        parcels.clear();
        significant.clear();
        octets.clear();
        bag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bag_has_what_was_put_in_since_the_last_one() {
        let mut open = OpenBag::default();
        assert!(open.close().is_none(), "an empty bag is none");
        for (lane, octets) in [(3, &[1, 2, 3][..]), (5, &[4])] {
            let cells = Packed { octets: octets.len() as u32, cells: 1 };
            open.parcels.push(Parcel { lane, significant: 0, cells });
            open.octets.extend_from_slice(octets);
            let bag = open.close().expect("a parcel is there");
            let lanes: Vec<u32> = bag.parcels.iter().map(|parcel| parcel.lane).collect();
            assert_eq!((&lanes[..], &*bag.octets, bag.significant.len()), (&[lane][..], octets, 0));
        }
        assert!(open.close().is_none());
    }
}

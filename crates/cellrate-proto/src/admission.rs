//! Connection admission control: what each link has promised, and what it can still promise (paper abr-parameters,
//! section 3.2).
//!
//! The sum of PCR of CBR, SCR of VBR and MCR of ABR, GFR and UBR connections over a link never exceeds its rate. A new
//! ABR connection gets MCR = min(asked, room) and is refused below MCRmin; its PCR is limited by the smallest link
//! only, at the fastest that it ever is.
//!
//! VBR sources that are on and off may be booked at their [equivalent bandwidth](equivalent) instead, which a line that
//! many of them share has less of than the sum of their peaks.
//!
//! Where categories take turns by weight, a link has no more room for one of them than its [part](Book::in_parts): a
//! connection whose category may be held to that part for ever is not promised more.
//!
//! Bookings are whole bits per second, so that sums are exact: what is asked is rounded to the nearest.

pub mod equivalent;

use core::fmt;

use alloc::vec::Vec;

use crate::units::{BitRate, CellRate, Cells};
use equivalent::{Needs, OnOffSource};

/// Bandwidth that a connection asks of every link on its way, in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request {
    /// CBR: its peak rate, always.
    Cbr {
        /// PCR [cells/s].
        pcr: CellRate,
    },
    /// VBR: what it sends on average.
    Vbr {
        /// SCR, the sustainable cell rate [cells/s].
        scr: CellRate,
    },
    /// VBR of an on/off source: its part of what all of them need; its mean rate where the book does not
    /// [multiplex](Book::multiplexing).
    OnOff(OnOffSource),
    /// ABR: its minimum.
    Abr {
        /// PCR asked for [cells/s].
        pcr: CellRate,
        /// MCR asked for [cells/s].
        mcr: CellRate,
        /// MCRmin, the least MCR that is acceptable [cells/s, at most MCR]; `None` when it is not signalled, and MCR is
        /// then not negotiable (section 3.1).
        mcr_min: Option<CellRate>,
    },
    /// GFR, and UBR with an MCR: its minimum, which is not negotiable.
    Minimum {
        /// MCR [cells/s].
        mcr: CellRate,
    },
    /// UBR: nothing.
    Ubr,
}

/// Bandwidth granted to a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grant {
    /// Rate booked on every link of the path; of an on/off source its mean, as what it adds depends on the others.
    pub booked: BitRate,
    /// MCR of an ABR connection [cells/s]; 0 for others.
    pub mcr: CellRate,
    /// PCR of an ABR connection, at most the smallest link [cells/s]; 0 for others.
    pub pcr: CellRate,
}

/// Why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refusal {
    /// A link has less room than a CBR, VBR, GFR or UBR connection must have.
    NoRoom {
        /// Position of the link on the path, from 0.
        hop: usize,
        /// PCR (CBR), SCR (VBR), MCR (GFR, UBR), or what an on/off source adds to those that are there.
        asked: BitRate,
        /// Rate that the link can still promise.
        room: BitRate,
        /// Whether the weight of its category keeps it from more.
        by_weight: bool,
    },
    /// A link has less room than the smallest MCR that is acceptable.
    BelowMinimum {
        /// Position of the link on the path, from 0.
        hop: usize,
        /// MCRmin, or MCR where that is not negotiable.
        least: BitRate,
        /// Rate that the link can still promise.
        room: BitRate,
        /// Whether the weight of its category keeps it from more.
        by_weight: bool,
    },
    /// PCR is to be a multiple of MCR, and MCR is 0.
    NothingToCharge,
    /// PCR is to be a multiple of MCR, and that is below 1 cell/s, which no ER can ask for.
    PeakBelowOne {
        /// The multiple [cells/s].
        pcr: CellRate,
    },
}

impl Refusal {
    /// Position on the path of the link that has no room, from 0.
    pub fn hop(&self) -> Option<usize> {
        match *self {
            Refusal::NoRoom { hop, .. } | Refusal::BelowMinimum { hop, .. } => Some(hop),
            Refusal::NothingToCharge | Refusal::PeakBelowOne { .. } => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoRoom { asked, room, by_weight, .. } => {
                write!(f, "it asks for {asked}, and {} room for {room}", has(*by_weight))
            }
            Refusal::BelowMinimum { least, room, by_weight, .. } => {
                write!(f, "its MCR must be {least} at least, and {} room for {room}", has(*by_weight))
            }
            Refusal::NothingToCharge => f.write_str("PCR is limited to a multiple of MCR, and its MCR is 0"),
            Refusal::PeakBelowOne { pcr } => {
                write!(f, "PCR is limited to a multiple of MCR, {pcr}, and must be 1 cell/s at least")
            }
        }
    }
}

impl core::error::Error for Refusal {}

/// Subject of a refusal: where there is too little room.
fn has(by_weight: bool) -> &'static str {
    if by_weight { "the part of the link that class_weights give its category has" } else { "the link has" }
}

/// The optional charging rule PCR = k * MCR (section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charging(u8);

impl Charging {
    /// For k from 2 to 10, `None` otherwise.
    pub const fn new(k: u8) -> Option<Charging> {
        if k >= 2 && k <= 10 { Some(Charging(k)) } else { None }
    }

    /// PCR limited to k * MCR.
    pub fn limit(self, pcr: CellRate, mcr: CellRate) -> CellRate {
        pcr.min(mcr * f64::from(self.0))
    }
}

/// The links of a network, each direction of a line being one, with what is booked on them.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Book {
    links: Vec<Line>,
    charging: Option<Charging>,
    /// The share of cells that on/off sources may lose, where they are booked together.
    loss: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    rate: BitRate,
    /// The fastest that it ever is.
    fastest: BitRate,
    /// Rates that categories have for certain; `None` where none keeps another from its own.
    parts: Option<[BitRate; CLASSES]>,
    /// Room of the buffer that leads to it; `None` without limit.
    room: Option<Cells>,
    booked: Booked,
}

/// Bookings of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Booked {
    /// Rates that are simply added, of CBR and VBR, of ABR, and of GFR and UBR [bit/s].
    fixed: [u64; CLASSES],
    on_off: Needs,
    /// ABR connections, whatever they have booked.
    abr: u32,
}

/// CBR and VBR, ABR, GFR and UBR: those that ports tell apart.
const CLASSES: usize = 3;

impl Request {
    /// Place of its category among those that ports tell apart.
    const fn class(&self) -> usize {
        match self {
            Request::Cbr { .. } | Request::Vbr { .. } | Request::OnOff(_) => 0,
            Request::Abr { .. } => 1,
            Request::Minimum { .. } | Request::Ubr => 2,
        }
    }
}

impl Book {
    /// Links of these rates, nothing booked; `charging` is applied to every ABR connection.
    pub fn new(rates: impl IntoIterator<Item = BitRate>, charging: Option<Charging>) -> Book {
        Book {
            links: rates
                .into_iter()
                .map(|rate| Line { rate, fastest: rate, parts: None, room: None, booked: Booked::default() })
                .collect(),
            charging,
            loss: None,
        }
    }

    /// Has on/off sources booked at their equivalent bandwidth: no more than a share of `loss` [above 0, at most 0.1]
    /// of their cells is to find no room in the buffers before the links, which have these `rooms`.
    pub fn multiplexing(mut self, loss: f64, rooms: impl IntoIterator<Item = Option<Cells>>) -> Book {
        self.loss = Some(loss);
        for (line, room) in self.links.iter_mut().zip(rooms) {
            line.room = room;
        }
        self
    }

    /// Links that change: their bookings go by the rates of [`Book::new`], the least that they ever have, but PCR is
    /// limited by these, the `fastest`. What a link is for a moment keeps no connection from a rate that comes later.
    pub fn at_fastest(mut self, fastest: impl IntoIterator<Item = BitRate>) -> Book {
        for (line, fastest) in self.links.iter_mut().zip(fastest) {
            line.fastest = fastest.max(line.rate);
        }
        self
    }

    /// Links whose categories take turns by weight: the `parts` of their rates that CBR and VBR, ABR, and GFR and UBR
    /// have for certain; `None` where none keeps another from its own.
    pub fn in_parts(mut self, parts: impl IntoIterator<Item = Option<[f64; 3]>>) -> Book {
        for (line, parts) in self.links.iter_mut().zip(parts) {
            let of = |part: f64| BitRate::from_bps((line.rate.as_bps() as f64 * part) as u64);
            line.parts = parts.map(|parts| parts.map(of));
        }
        self
    }

    /// Rate that `link` can still promise. `link` is an index into the rates that [`Book::new`] was given; there must
    /// be one.
    pub fn room(&self, link: usize) -> BitRate {
        BitRate::from_bps(self.links[link].rate.as_bps() - self.booked(link).as_bps())
    }

    /// Rate that `link` can still promise to ABR.
    pub fn room_for_abr(&self, link: usize) -> BitRate {
        self.room_of(link, 1).0
    }

    /// Rate that `link` can still promise to a category, and whether its weight keeps it from more.
    fn room_of(&self, link: usize, class: usize) -> (BitRate, bool) {
        let Line { parts, booked, .. } = &self.links[link];
        let all = self.room(link);
        let Some(parts) = parts else { return (all, false) };
        let left = parts[class].as_bps().saturating_sub(self.of_class(*booked, class));
        (all.min(BitRate::from_bps(left)), left < all.as_bps())
    }

    /// ABR connections on `link`.
    pub fn abr_connections(&self, link: usize) -> u64 {
        self.links[link].booked.abr.into()
    }

    fn of_class(&self, booked: Booked, class: usize) -> u64 {
        let on_off = if class == 0 { self.loss.map_or(0, |loss| booked.on_off.bandwidth(loss)) } else { 0 };
        booked.fixed[class] + on_off
    }

    /// Rate booked on `link`.
    pub fn booked(&self, link: usize) -> BitRate {
        BitRate::from_bps(self.total(self.links[link].booked))
    }

    /// All that is booked on `link`, to [restore](Book::restore) it.
    pub fn state(&self, link: usize) -> Booked {
        self.links[link].booked
    }

    /// Has `link` carry what it [carried](Book::state) before: what was booked since is given back.
    pub fn restore(&mut self, link: usize, booked: Booked) {
        self.links[link].booked = booked;
    }

    /// Gives back what `request` was granted on all links of `path`.
    pub fn release(&mut self, path: &[usize], request: Request, grant: Grant) {
        for &link in path {
            let own = self.share(link, request, grant.booked);
            let booked = &mut self.links[link].booked;
            booked.fixed.iter_mut().zip(own.fixed).for_each(|(fixed, own)| *fixed -= own);
            booked.on_off = booked.on_off.less(own.on_off);
            booked.abr -= own.abr;
        }
    }

    fn total(&self, booked: Booked) -> u64 {
        (0..CLASSES).map(|class| self.of_class(booked, class)).sum()
    }

    /// The bookings of `request` on `link`, where it is granted this rate.
    fn share(&self, link: usize, request: Request, granted: BitRate) -> Booked {
        match (request, self.loss) {
            (Request::OnOff(source), Some(loss)) => {
                let on_off = Needs::of(&source, self.links[link].room, loss);
                Booked { on_off, ..Booked::default() }
            }
            _ => {
                let mut fixed = [0; CLASSES];
                fixed[request.class()] = granted.as_bps();
                let abr = matches!(request, Request::Abr { .. }).into();
                Booked { fixed, abr, ..Booked::default() }
            }
        }
    }

    /// Books a connection on all links of `path` (indices, each once), or on none.
    ///
    /// # Errors
    /// [`Refusal`] for the first link in the order of the path that cannot carry what must be carried.
    pub fn admit(&mut self, path: &[usize], request: Request) -> Result<Grant, Refusal> {
        let least = match request {
            Request::Ubr => BitRate::default(),
            Request::OnOff(source) => source.mean.to_bit_rate(),
            Request::Cbr { pcr: rate } | Request::Vbr { scr: rate } | Request::Minimum { mcr: rate } => {
                rate.to_bit_rate()
            }
            Request::Abr { mcr, mcr_min, .. } => mcr_min.unwrap_or(mcr).min(mcr).to_bit_rate(),
        };
        self.check_room(path, request, least)?;
        let grant = match request {
            Request::Ubr
            | Request::Cbr { .. }
            | Request::Vbr { .. }
            | Request::OnOff(_)
            | Request::Minimum { .. } => Grant::plain(least),
            Request::Abr { pcr, mcr, .. } => {
                let room =
                    path.iter().map(|&link| self.room_for_abr(link)).min().unwrap_or(mcr.to_bit_rate());
                let narrowest =
                    path.iter().map(|&link| self.links[link].fastest.to_cell_rate()).fold(pcr, CellRate::min);
                let (booked, mcr) = match mcr.to_bit_rate() {
                    asked if asked <= room => (asked, mcr),
                    _ => (room, room.to_cell_rate()),
                };
                let pcr = match self.charging {
                    Some(_) if mcr == CellRate::ZERO => return Err(Refusal::NothingToCharge),
                    Some(charging) => match charging.limit(narrowest, mcr) {
                        pcr if pcr < CellRate::new(1.0) => return Err(Refusal::PeakBelowOne { pcr }),
                        pcr => pcr,
                    },
                    None => narrowest,
                };
                Grant { booked, mcr, pcr }
            }
        };
        for &link in path {
            self.links[link].booked = self.with(link, request, grant.booked);
        }
        Ok(grant)
    }

    /// The bookings of `link` with those of `request`, where it is granted this rate.
    fn with(&self, link: usize, request: Request, granted: BitRate) -> Booked {
        let (before, own) = (self.links[link].booked, self.share(link, request, granted));
        let mut fixed = before.fixed;
        fixed.iter_mut().zip(own.fixed).for_each(|(fixed, own)| *fixed += own);
        Booked { fixed, on_off: before.on_off.plus(own.on_off), abr: before.abr + own.abr }
    }

    /// Whether every link of `path` has room for the `least` that `request` must have.
    fn check_room(&self, path: &[usize], request: Request, least: BitRate) -> Result<(), Refusal> {
        for (hop, &link) in path.iter().enumerate() {
            let (room, by_weight) = self.room_of(link, request.class());
            let added = self.total(self.with(link, request, least)) - self.booked(link).as_bps();
            if room.as_bps() < added {
                return Err(match request {
                    Request::Abr { .. } => Refusal::BelowMinimum { hop, least, room, by_weight },
                    _ => Refusal::NoRoom { hop, asked: BitRate::from_bps(added), room, by_weight },
                });
            }
        }
        Ok(())
    }
}

impl Grant {
    fn plain(booked: BitRate) -> Grant {
        Grant { booked, mcr: CellRate::ZERO, pcr: CellRate::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    fn mbps(rate: u64) -> BitRate {
        BitRate::from_bps(rate * 1_000_000)
    }

    fn cells(rate: u64) -> CellRate {
        mbps(rate).to_cell_rate()
    }

    fn abr(mcr: u64, mcr_min: Option<u64>) -> Request {
        Request::Abr { pcr: cells(1000), mcr: cells(mcr), mcr_min: mcr_min.map(cells) }
    }

    #[test]
    fn the_sum_of_pcr_scr_and_mcr_may_fill_the_link_and_not_a_bit_more() {
        let mut book = Book::new([mbps(155)], None);
        book.admit(&[0], Request::Cbr { pcr: cells(55) }).unwrap();
        book.admit(&[0], Request::Vbr { scr: cells(60) }).unwrap();
        book.admit(&[0], Request::Ubr).unwrap();
        book.admit(&[0], Request::Minimum { mcr: cells(5) }).unwrap();
        assert_eq!(book.room(0), mbps(35));
        let refused = book.admit(&[0], Request::Minimum { mcr: cells(36) });
        assert_eq!(
            refused,
            Err(Refusal::NoRoom { hop: 0, asked: mbps(36), room: mbps(35), by_weight: false })
        );
        assert_eq!(book.admit(&[0], abr(35, None)).unwrap().mcr, cells(35));
        assert_eq!(book.room(0), mbps(0));
        let one_bit = Request::Cbr { pcr: BitRate::from_bps(1).to_cell_rate() };
        let refusal =
            Refusal::NoRoom { hop: 0, asked: BitRate::from_bps(1), room: mbps(0), by_weight: false };
        assert_eq!(book.admit(&[0], one_bit), Err(refusal));
        assert!(book.admit(&[0], abr(0, None)).is_ok(), "best effort always fits");
    }

    #[test]
    fn mcr_is_cut_to_the_room_and_refused_below_mcr_min() {
        // 100 - 70 leaves 30: 50 asked, at least 30 is granted 30; at least 31 is refused, and nothing is booked.
        let mut book = Book::new([mbps(155), mbps(100)], None);
        book.admit(&[1], Request::Cbr { pcr: cells(70) }).unwrap();
        let refused = book.admit(&[0, 1], abr(50, Some(31))).unwrap_err();
        assert_eq!(
            refused,
            Refusal::BelowMinimum { hop: 1, least: mbps(31), room: mbps(30), by_weight: false }
        );
        assert_eq!(
            refused.to_string(),
            "its MCR must be 31 Mbps at least, and the link has room for 30 Mbps"
        );
        assert_eq!(book.booked(0), mbps(0));
        let grant = book.admit(&[0, 1], abr(50, Some(30))).unwrap();
        assert_eq!((grant.mcr, grant.booked), (cells(30), mbps(30)));
        assert_eq!((book.booked(0), book.room(1)), (mbps(30), mbps(0)));
    }

    #[test]
    fn mcr_is_not_negotiable_unless_mcr_min_is_signalled() {
        let mut book = Book::new([mbps(10)], None);
        assert!(matches!(book.admit(&[0], abr(11, None)), Err(Refusal::BelowMinimum { .. })));
        assert_eq!(book.admit(&[0], abr(11, Some(0))).unwrap().mcr, cells(10));
    }

    #[test]
    fn pcr_is_limited_by_the_smallest_link_only() {
        let mut book = Book::new([mbps(622), mbps(155)], None);
        book.admit(&[1], Request::Cbr { pcr: cells(100) }).unwrap();
        assert_eq!(book.admit(&[0, 1], abr(1, None)).unwrap().pcr, cells(155));
    }

    #[test]
    fn a_rate_that_a_link_has_for_a_moment_limits_bookings_and_not_pcr() {
        let mut book = Book::new([mbps(0), mbps(155)], None).at_fastest([mbps(100), mbps(155)]);
        assert_eq!(book.admit(&[0, 1], abr(0, None)).unwrap().pcr, cells(100));
        assert!(matches!(book.admit(&[0, 1], abr(1, None)), Err(Refusal::BelowMinimum { hop: 0, .. })));
    }

    #[test]
    fn a_category_is_promised_no_more_than_its_weight_gives_it() {
        let mut book = Book::new([mbps(100)], None).in_parts([Some([0.25, 0.5, 0.25])]);
        let refused = book.admit(&[0], Request::Cbr { pcr: cells(26) }).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "it asks for 26 Mbps, and the part of the link that class_weights give its category has room for 25 Mbps"
        );
        let request = Request::Cbr { pcr: cells(20) };
        let grant = book.admit(&[0], request).unwrap();
        assert!(book.admit(&[0], Request::Vbr { scr: cells(6) }).is_err(), "CBR and VBR share a part");
        assert_eq!(book.admit(&[0], abr(80, Some(1))).unwrap().mcr, cells(50));
        assert_eq!(book.room_for_abr(0), mbps(0));
        assert!(book.admit(&[0], Request::Minimum { mcr: cells(25) }).is_ok());
        book.release(&[0], request, grant);
        assert!(book.admit(&[0], Request::Vbr { scr: cells(25) }).is_ok());
        assert_eq!(book.room(0), mbps(0));
    }

    #[test]
    fn charging_keeps_pcr_within_k_times_mcr() {
        assert!(Charging::new(1).is_none() && Charging::new(11).is_none());
        assert!(Charging::new(2).is_some() && Charging::new(10).is_some());
        let mut book = Book::new([mbps(155)], Charging::new(4));
        assert_eq!(book.admit(&[0], abr(10, None)).unwrap().pcr, cells(40));
        assert_eq!(book.admit(&[0], abr(50, None)).unwrap().pcr, cells(155), "never above the link");
        assert_eq!(book.admit(&[0], abr(0, None)), Err(Refusal::NothingToCharge));
        // Twice 0.5 cells/s is the least PCR there is.
        let mut slow = Book::new([mbps(155)], Charging::new(2));
        let mut admit = |mcr: f64| {
            let mcr = CellRate::new(mcr);
            slow.admit(&[0], Request::Abr { pcr: cells(155), mcr, mcr_min: None }).map(|grant| grant.pcr)
        };
        assert_eq!(admit(0.5), Ok(CellRate::new(1.0)));
        assert_eq!(admit(0.4), Err(Refusal::PeakBelowOne { pcr: CellRate::new(0.8) }));
        // A full link is said to be full.
        book.admit(&[0], Request::Cbr { pcr: cells(95) }).unwrap();
        let refusal = book.admit(&[0], abr(5, None)).unwrap_err();
        assert_eq!(
            refusal,
            Refusal::BelowMinimum { hop: 0, least: mbps(5), room: mbps(0), by_weight: false }
        );
    }

    fn on_off(peak: u64, mean: u64) -> Request {
        let burst = crate::units::Duration::from_ms(20);
        Request::OnOff(OnOffSource { peak: cells(peak), mean: cells(mean), burst })
    }

    #[test]
    fn sources_that_are_on_and_off_share_a_line_beyond_the_sum_of_their_peaks() {
        let links = || Book::new([BitRate::from_bps(149_760_000)], None);
        let admitted = |mut book: Book| (0..).find(|_| book.admit(&[0], on_off(10, 1)).is_err()).unwrap();
        // N + 3.4609 * 3 * sqrt(N) Mb/s for one cell in a thousand; alone each would need 7.07 Mb/s.
        assert_eq!(admitted(links().multiplexing(1e-3, [Some(Cells(1000))])), 65);
        // With very much room each needs 1.011 Mb/s alone, and the sum of that is less than the Gaussian bound.
        let some = links().multiplexing(1e-12, [Some(Cells(1_000_000))]);
        assert_eq!(admitted(some), 148);
        // Without it each books its mean.
        assert_eq!(admitted(links()), 149);
    }

    #[test]
    fn what_an_on_off_source_adds_is_given_back_exactly() {
        let mut book = Book::new([mbps(155), mbps(34)], None).multiplexing(1e-6, [Some(Cells(500)), None]);
        book.admit(&[0, 1], Request::Cbr { pcr: cells(5) }).unwrap();
        let before = book.clone();
        let granted: std::vec::Vec<Grant> =
            (1..4).map(|mean| book.admit(&[0, 1], on_off(10, mean)).unwrap()).collect();
        // On the link without limit to its buffer they need their means.
        assert_eq!(book.booked(1), mbps(11));
        assert!(book.booked(0) > mbps(25) && book.booked(0) < mbps(35));
        let refused = book.admit(&[1], on_off(100, 24)).unwrap_err();
        assert_eq!(refused, Refusal::NoRoom { hop: 0, asked: mbps(24), room: mbps(23), by_weight: false });
        for (mean, grant) in (1..4).zip(granted) {
            book.release(&[0, 1], on_off(10, mean), grant);
        }
        assert_eq!(book, before);
    }

    fn request() -> impl Strategy<Value = Request> {
        let rate = || (0.0..2e6_f64).prop_map(CellRate::new);
        prop_oneof![
            rate().prop_map(|pcr| Request::Cbr { pcr }),
            rate().prop_map(|scr| Request::Vbr { scr }),
            Just(Request::Ubr),
            (rate(), rate(), proptest::option::of(0.0..1.0_f64)).prop_map(|(pcr, mcr, least)| Request::Abr {
                pcr,
                mcr,
                mcr_min: least.map(|least| mcr * least),
            }),
        ]
    }

    proptest! {
        #[test]
        fn no_link_is_ever_overbooked_and_a_refusal_books_nothing(
            rates in proptest::collection::vec(1_000_u64..2_000_000_000, 1..5),
            charging in proptest::option::of(2_u8..=10),
            asked in proptest::collection::vec((request(), proptest::collection::vec(any::<bool>(), 5)), 1..60),
        ) {
            let mut book = Book::new(rates.iter().copied().map(BitRate::from_bps), charging.and_then(Charging::new));
            // The reference adds up what was granted, in cells/s, and knows nothing of the book.
            let mut promised = std::vec![0.0_f64; rates.len()];
            for (request, on) in asked {
                let path: std::vec::Vec<usize> = (0..rates.len()).filter(|&link| on[link]).collect();
                let before = book.clone();
                match book.admit(&path, request) {
                    Err(_) => prop_assert_eq!(&book, &before),
                    Ok(grant) => {
                        let rate = match request {
                            Request::Cbr { pcr: rate } | Request::Vbr { scr: rate } => rate,
                            Request::Abr { .. } => grant.mcr,
                            Request::Minimum { mcr } => mcr,
                            Request::OnOff(source) => source.mean,
                            Request::Ubr => CellRate::ZERO,
                        };
                        path.iter().for_each(|&link| promised[link] += rate.as_cells_per_s());
                        if let Request::Abr { pcr, mcr, mcr_min } = request {
                            prop_assert!(grant.mcr <= mcr && grant.pcr <= pcr);
                            prop_assert!(grant.mcr.to_bit_rate() >= mcr_min.unwrap_or(mcr).to_bit_rate());
                        }
                    }
                }
                for (link, &rate) in rates.iter().enumerate() {
                    prop_assert!(book.booked(link).as_bps() <= rate);
                    // Half a bit of rounding for each of at most 60 connections.
                    prop_assert!(promised[link] * 424.0 <= rate as f64 + 30.0, "{} of {}", promised[link] * 424.0, rate);
                }
            }
        }
    }
}

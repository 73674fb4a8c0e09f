//! An MPEG-2 transport stream as its encoder makes it (ISO/IEC 13818-1; paper tcp-lrd-vbr, section "Overview of MPEG-2
//! over ATM"): pictures, PES packets, transport packets, AAL5 PDUs.
//!
//! ```text
//! picture -> PES packet: 19 octets with PTS and DTS, then the picture
//!         -> transport packets of 188 octets: 4 of header, 184 of payload; 176 beside a clock reference (PCR)
//!         -> PDUs of two packets: 8 cells
//! ```
//!
//! A picture is whole when it comes to the encoder's buffer. Packets leave that evenly from one clock reference to the
//! next, the first of each span with the reference; null packets stand in where nothing waits. A PDU comes to the
//! adapter when the last octet of its last packet has left the encoder. Instants are those of the encoder's clock, and
//! turned into network time last.

use std::collections::VecDeque;

use cellrate_proto::{Duration, Time};
use cellrate_scenario::traffic::{Arrivals, Backlog};
use cellrate_scenario::{Mpeg2Traffic, Packing, Picture, RateControl};

use crate::random::Random;

/// Octets of the header of a PES packet that has PTS and DTS.
const PES_HEADER: u32 = 19;
/// Payload of a transport packet \[octets\], and of one with a clock reference.
const PAYLOAD: [u32; 2] = [184, 176];
/// Bits of a transport packet.
const PACKET_BITS: u64 = 188 * 8;
/// Ticks of the 27 MHz clock in 10^6 ps.
const TICKS: u128 = 27;

/// An AAL5 PDU of one or two transport packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Mpeg2Pdu {
    /// When it comes to the adapter.
    pub at: Time,
    /// Its length: 8 cells for two packets, 5 for one.
    pub cells: u32,
    /// The clock references in it, in their order.
    pub references: Vec<Reference>,
    /// Parts of pictures in it, in their order.
    pub parts: Vec<Part>,
}

/// A program clock reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Ticks of the encoder's 27 MHz clock since the start.
    pub ticks: u64,
    /// When its packet began to leave the encoder.
    pub left: Time,
}

/// Octets of a picture in a packet, those of the PES header among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The picture, counted from 0.
    pub picture: u64,
    /// How many \[octets\].
    pub octets: u32,
    /// Whether they are the last of it.
    pub is_last: bool,
}

/// The PDUs of a transport stream, one after the other, without end.
#[derive(Clone, Debug)]
pub struct Mpeg2Pdus {
    model: Mpeg2Traffic,
    random: Random,
    /// Gaussian values that have been drawn and not used.
    gaussian: Vec<f64>,
    /// The number of the next picture.
    picture: u64,
    /// Pictures of which octets wait: number, octets left.
    waiting: VecDeque<(u64, u32)>,
    /// Octets that wait, of all.
    octets: u64,
    /// The span that packets leave in: its beginning and end [ps of the encoder's clock], and its rate \[bit/s\].
    span: [u64; 2],
    rate: u64,
    /// Packets of it that have left.
    slot: u64,
}

impl Mpeg2Pdus {
    /// PDUs of the transport stream that `model` describes, the first of which has not been asked for.
    pub fn new(model: &Mpeg2Traffic, random: Random) -> Mpeg2Pdus {
        let mut pdus = Mpeg2Pdus {
            model: model.clone(),
            random,
            gaussian: Vec::new(),
            picture: 0,
            waiting: VecDeque::new(),
            octets: 0,
            span: [0, 0],
            rate: 0,
            slot: 0,
        };
        pdus.begin_span();
        pdus
    }

    /// Network time of an instant of the encoder's clock.
    fn network(&self, local: u64) -> Time {
        let since = match self.model.clock_offset {
            0.0 => local,
            ppm => (local as f64 / (1.0 + ppm * 1e-6)).round() as u64,
        };
        self.model.start.saturating_add(Duration::from_ps(since))
    }

    /// Pictures that the encoder has handed over by `local` come to its buffer.
    fn settle(&mut self, local: u64) {
        while self.model.pictures_per_second.after(self.picture).as_ps() <= local {
            let octets = self.draw() + PES_HEADER;
            self.waiting.push_back((self.picture, octets));
            self.octets += u64::from(octets);
            self.picture += 1;
        }
    }

    /// The length of the next picture \[octets\].
    fn draw(&mut self) -> u32 {
        let Mpeg2Traffic { gop, sizes, deviation, .. } = &self.model;
        let kind = match gop[(self.picture % gop.len() as u64) as usize] {
            Picture::Intra => 0,
            Picture::Predicted => 1,
            Picture::Bidirectional => 2,
        };
        let mean = sizes[kind].0 as f64;
        if *deviation == 0.0 {
            return mean as u32;
        }
        loop {
            let gaussian = self.gaussian.pop().unwrap_or_else(|| {
                let [first, second] = self.random.gaussian_pair();
                self.gaussian.push(second);
                first
            });
            let octets = (mean * (1.0 + deviation * gaussian)).round();
            if (1.0..=2.0 * mean).contains(&octets) {
                return octets as u32;
            }
        }
    }

    /// The next span begins where the one before ends, with a clock reference.
    fn begin_span(&mut self) {
        let begin = self.span[1];
        self.settle(begin);
        let [low, high] = self.model.reference_interval.map(Duration::as_ps);
        let more = if high > low { (self.random.uniform() * (high - low) as f64) as u64 } else { 0 };
        self.span = [begin, begin + low + more];
        self.slot = 0;
        let most = self.model.rate.as_bps();
        self.rate = match self.model.control {
            RateControl::Constant => most,
            RateControl::Buffer { drains_in } => {
                let per_s =
                    |bits: u64, span: u64| (u128::from(bits) * 1_000_000_000_000 / u128::from(span)) as u64;
                per_s(self.octets * 8, drains_in.as_ps())
                    .max(per_s(2 * PACKET_BITS, low + more) + 1)
                    .min(most)
            }
        };
    }

    /// When so many packets of the span have left \[ps\].
    fn after(&self, packets: u64) -> u64 {
        let ps = u128::from(packets) * u128::from(PACKET_BITS) * 1_000_000_000_000 / u128::from(self.rate);
        self.span[0] + ps as u64
    }

    /// The next packet: the clock reference and the part of a picture in it, if there are any, and when it has left.
    fn packet(&mut self) -> (Option<Reference>, Option<Part>, u64) {
        // A packet that would not have left at its end is for the next span.
        if self.slot > 0 && self.after(self.slot + 1) > self.span[1] {
            self.begin_span();
        }
        let begins = self.after(self.slot);
        self.settle(begins);
        let reference = (self.slot == 0).then(|| Reference {
            ticks: (u128::from(begins) * TICKS / 1_000_000) as u64,
            left: self.network(begins),
        });
        self.slot += 1;
        let room = PAYLOAD[usize::from(reference.is_some())];
        let part = self.waiting.front_mut().map(|(picture, left)| {
            let octets = room.min(*left);
            *left -= octets;
            Part { picture: *picture, octets, is_last: *left == 0 }
        });
        if let Some(Part { octets, is_last, .. }) = part {
            self.octets -= u64::from(octets);
            if is_last {
                self.waiting.pop_front();
            }
        }
        (reference, part, self.after(self.slot))
    }
}

impl Iterator for Mpeg2Pdus {
    type Item = Mpeg2Pdu;

    fn next(&mut self) -> Option<Mpeg2Pdu> {
        let (reference, part, mut left) = self.packet();
        let mut references: Vec<Reference> = reference.into_iter().collect();
        let mut parts: Vec<Part> = part.into_iter().collect();
        let alone = self.model.packing == Packing::References && !references.is_empty();
        if !alone {
            let (reference, part, then) = self.packet();
            references.extend(reference);
            parts.extend(part);
            left = left.max(then);
        }
        Some(Mpeg2Pdu { at: self.network(left), cells: if alone { 5 } else { 8 }, references, parts })
    }
}

/// A transport stream at work.
#[derive(Clone, Debug)]
pub struct Mpeg2 {
    /// The cell that leaves next.
    leaving: Cells,
    backlog: Backlog<Cells>,
}

/// Cells of a transport stream up to its end.
#[derive(Clone, Debug)]
struct Cells {
    pdus: Mpeg2Pdus,
    /// The PDU of the next cell.
    pdu: Mpeg2Pdu,
    /// Cells of it from that one on.
    left: u32,
    end: Time,
}

impl Cells {
    /// Goes on to the next PDU.
    fn next_pdu(&mut self) {
        if let Some(pdu) = self.pdus.next() {
            self.left = pdu.cells;
            self.pdu = pdu;
        }
    }
}

impl Arrivals for Cells {
    fn next(&self) -> Time {
        if self.pdu.at < self.end { self.pdu.at } else { Time::NEVER }
    }

    fn pass(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.next_pdu();
        }
    }

    /// PDU by PDU.
    fn pass_until(&mut self, now: Time) -> u64 {
        let mut passed = 0;
        while self.next() <= now && self.next() != Time::NEVER {
            passed += u64::from(self.left);
            self.next_pdu();
        }
        passed
    }
}

impl Mpeg2 {
    /// The stream of `model` for a run that ends at `end`.
    pub fn new(model: &Mpeg2Traffic, random: Random, end: Time) -> Mpeg2 {
        let mut pdus = Mpeg2Pdus::new(model, random);
        let Some(pdu) = pdus.next() else { unreachable!("a transport stream has no end") };
        let leaving = Cells { left: pdu.cells, pdus, pdu, end: model.end.min(end) };
        Mpeg2 { leaving, backlog: Backlog::default() }
    }

    /// When the next cell comes, or came.
    pub fn next(&self) -> Time {
        self.leaving.next()
    }

    /// The next cell leaves; whether it is the last of its PDU.
    pub fn take(&mut self) -> bool {
        let is_last = self.leaving.left == 1;
        self.leaving.pass();
        self.backlog.leave(1);
        is_last
    }

    /// Cells that have come by `now` and not left.
    pub fn waiting(&self, now: Time) -> u64 {
        self.backlog.count(&self.leaving, now)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cellrate_proto::{BitRate, Octets};
    use cellrate_scenario::{FrameRate, Mpeg2Decoder};

    use super::*;
    use crate::random::{Owner, Stream};

    /// 1000 packets a second, references 10 ms apart, 25 pictures a second.
    fn model() -> Mpeg2Traffic {
        use Picture::{Bidirectional, Intra, Predicted};
        Mpeg2Traffic {
            gop: Arc::new([Intra, Predicted, Bidirectional]),
            pictures_per_second: FrameRate::whole(25),
            sizes: [4000, 1000, 165].map(Octets),
            deviation: 0.0,
            rate: BitRate::from_bps(1_504_000),
            control: RateControl::Constant,
            reference_interval: [Duration::from_ms(10); 2],
            packing: Packing::Pairs,
            clock_offset: 0.0,
            decoder: Mpeg2Decoder {
                frequency: 0.02,
                damping: 0.7,
                clock_offset: 0.0,
                delay: Duration::from_ms(100),
                buffer: Octets(100_000),
            },
            start: Time::ZERO,
            end: Time::NEVER,
            record: 0,
        }
    }

    fn pdus(model: &Mpeg2Traffic, count: usize) -> Vec<Mpeg2Pdu> {
        let random = Random::new(1, Stream::Traffic(Owner::named("vc")));
        Mpeg2Pdus::new(model, random).take(count).collect()
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    #[test]
    fn two_packets_share_a_pdu_that_comes_when_the_second_has_left() {
        let pdus = pdus(&model(), 100);
        assert!(pdus.iter().zip(1..).all(|(pdu, n)| pdu.at == us(2_000 * n) && pdu.cells == 8));
        // Every tenth packet has a reference, the first of its PDU: 10 ms are 270,000 ticks.
        let stamps: Vec<_> = pdus.iter().flat_map(|pdu| &pdu.references).copied().collect();
        assert_eq!(stamps.len(), 20);
        for (stamp, n) in stamps.iter().zip(0..) {
            assert_eq!(*stamp, Reference { ticks: 270_000 * n, left: us(10_000 * n) });
        }
    }

    #[test]
    fn a_picture_fills_packets_and_the_rest_of_its_last_one() {
        // 4,019 octets: 176, nine times 184, 176, nine times 184, 176 and 179. Then null packets until 40 ms.
        let pdus = pdus(&model(), 60);
        let parts: Vec<_> = pdus.iter().flat_map(|pdu| &pdu.parts).copied().collect();
        let first: Vec<u32> = parts.iter().filter(|part| part.picture == 0).map(|part| part.octets).collect();
        let expected = [&[176][..], &[184; 9], &[176], &[184; 9], &[176, 179]].concat();
        assert_eq!(first, expected);
        assert!(parts.iter().all(|part| part.is_last == (part.octets < 176 || part.octets == 179)));
        // 1,019 octets from 40 ms on, and 184 from 80 ms on, of which 8 do not fit beside the reference.
        let of = |picture| parts.iter().filter(move |part| part.picture == picture).map(|part| part.octets);
        assert!(of(1).eq([176, 184, 184, 184, 184, 107]));
        assert!(of(2).eq([176, 8]));
        let with = |picture| pdus.iter().position(|pdu| pdu.parts.iter().any(|part| part.picture == picture));
        assert_eq!([0, 1, 2].map(with), [Some(0), Some(20), Some(40)]);
    }

    #[test]
    fn a_packet_with_a_reference_may_end_its_pdu() {
        let mut model = Mpeg2Traffic { packing: Packing::References, ..model() };
        // One alone, and eight others in four pairs.
        model.reference_interval = [Duration::from_ms(9); 2];
        let pdus = pdus(&model, 12);
        let cells: Vec<u32> = pdus.iter().map(|pdu| pdu.cells).collect();
        assert_eq!(cells, [5, 8, 8, 8, 8, 5, 8, 8, 8, 8, 5, 8]);
        assert!(pdus.iter().all(|pdu| pdu.references.is_empty() || pdu.cells == 5));
    }

    #[test]
    fn the_rate_may_follow_what_waits_and_holds_from_reference_to_reference() {
        let control = RateControl::Buffer { drains_in: Duration::from_ms(40) };
        let model = Mpeg2Traffic { control, ..model() };
        let pdus = pdus(&model, 30);
        // 4,019 octets in 40 ms are 803,800 bit/s, a packet every 1871 us, of which five leave in 10 ms. Then
        // 4,019 - 912 = 3,107 are left, a packet every 2420 us, of which the first is in the PDU of the fifth.
        let at: Vec<u64> = pdus.iter().map(|pdu| pdu.at.as_ps() / 1_000_000).collect();
        assert_eq!(at[..4], [3742, 7484, 12_420, 17_261]);
        assert_eq!(pdus[2].references[0].left, us(10_000));
    }

    #[test]
    fn the_encoders_clock_may_be_fast() {
        let model = Mpeg2Traffic { clock_offset: 30.0, ..model() };
        let pdus = pdus(&model, 50_001);
        let stamp = pdus[50_000].references[0];
        assert_eq!(stamp.ticks, 2_700_000_000);
        // 100 s by its clock are 3 ms less, but 90 ns.
        let early = us(100_000_000).since(stamp.left).as_ps();
        assert!(early.abs_diff(2_999_910_000) < 2_000, "{early}");
    }

    #[test]
    fn cells_come_with_their_pdu() {
        let random = Random::new(1, Stream::Traffic(Owner::named("vc")));
        let mut stream = Mpeg2::new(&model(), random, us(5_000));
        assert_eq!([0, 1999, 2000, 4000, 9000].map(|at| stream.waiting(us(at))), [0, 0, 8, 16, 16]);
        let ends: Vec<bool> = (0..8).map(|_| stream.take()).collect();
        assert_eq!(ends, [false, false, false, false, false, false, false, true]);
        assert_eq!((stream.next(), stream.waiting(us(4_000))), (us(4_000), 8));
        (0..8).for_each(|_| _ = stream.take());
        assert_eq!(stream.next(), Time::NEVER);
    }
}

//! Frames of a codec in UDP datagrams (paper internet-applications, sections 3.2, 4.2 and 4.3), one at each instant of
//! a clock.
//!
//! A frame is handed to the adapter whole, and waits there without limit. With `follow_acr` the sender knows the ACR of
//! its own source, and leaves out frames that ACR would not carry, or makes them shorter. What ACR will be is not known
//! when the next transmission is planned: the plan takes the ACR of now, and [`Frames::on_acr`] makes a new one. Credit
//! and means are added up only at the instants of frames, of changes of ACR and of ends of intervals, so that they do
//! not depend on who asks when.

use std::collections::VecDeque;
use std::sync::Arc;

use cellrate_proto::wire::{Encapsulation, cells_for};
use cellrate_proto::{CellRate, Duration, Octets, Time};
use cellrate_scenario::{Adaptation, FirstOfTrace, FollowMeans, FrameLengths, FrameRate, FramesTraffic};

use crate::random::Random;

/// Frames at work.
#[derive(Clone, Debug)]
pub struct Frames {
    film: Film,
    pace: Option<Pace>,
    /// Sent by the application, and not yet gone whole.
    queue: VecDeque<Frame>,
    /// Cells of the first one's datagram in front that have not left; 0 before the first of them.
    left_of_datagram: u32,
    /// Cells of the datagrams behind it.
    left_behind: u32,
    skipped: u64,
    taken: u64,
    departed: Vec<Frame>,
}

/// A frame that the application has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Counted from 1; those left out count too.
    pub number: u64,
    /// When the application handed it over.
    pub at: Time,
    /// Its length \[octets\]: as the codec gives it, or shorter where the bit rate follows ACR.
    pub octets: u32,
    /// In all of its datagrams.
    pub cells: u32,
    /// Cells of each datagram but the last.
    pub cells_of_full: u32,
    /// When its last cell left; [`Time::NEVER`] before.
    pub left: Time,
    /// The number of its last cell among the data cells of the direction, counted from 1; 0 before it left.
    pub last_cell: u64,
}

impl Frame {
    /// Cells of the datagram that ends with the `number`th cell of the frame, counted from 1.
    pub fn cells_of_datagram(&self, number: u32) -> u32 {
        match number % self.cells_of_full {
            0 => self.cells_of_full,
            of_last => of_last,
        }
    }
}

/// Frames of the codec, one by one.
#[derive(Clone, Debug)]
struct Film {
    frames_per_second: FrameRate,
    lengths: Lengths,
    datagram: u64,
    header: Octets,
    encapsulation: Encapsulation,
    start: Time,
    end: Time,
    random: Random,
    /// The next frame, and its number from 0 on.
    number: u64,
    octets: u32,
}

/// How long frames are, one after the other.
#[derive(Clone, Debug)]
enum Lengths {
    Gaussian {
        size: f64,
        deviation: f64,
    },
    Trace {
        lengths: Arc<[u32]>,
        /// The place of the next one.
        next: usize,
    },
}

/// A sender that follows ACR.
#[derive(Clone, Copy, Debug)]
struct Pace {
    share: f64,
    acr: CellRate,
    method: FollowMethod,
    /// Up to when credit or means are added up.
    until: Time,
}

/// How it follows.
#[derive(Clone, Copy, Debug)]
enum FollowMethod {
    /// Frame by frame.
    Credit {
        /// \[cells\]
        credit: f64,
        /// The most of it \[cells\].
        limit: f64,
    },
    /// By the means of intervals.
    Means(Means),
}

/// Sums of the interval that is not over, and what the last one has led to.
#[derive(Clone, Copy, Debug)]
struct Means {
    interval: Duration,
    adapts: Adaptation,
    ends: Time,
    /// Cells that ACR has carried, or would have.
    granted: f64,
    /// Cells of all frames, at their full length.
    film: f64,
    /// Part of the film that is sent [0 to 1].
    part: f64,
    /// Frames that are due, less than one after each.
    due: f64,
}

impl Frames {
    /// The frames of `model` for a run that ends at `end`; ACR is `acr` at first.
    pub fn new(model: &FramesTraffic, acr: CellRate, mut random: Random, end: Time) -> Frames {
        let mut film = Film {
            frames_per_second: model.frames_per_second,
            lengths: Lengths::new(&model.lengths, &mut random),
            datagram: model.datagram.0,
            header: model.header,
            encapsulation: model.encapsulation,
            start: model.start,
            end: model.end.min(end),
            random,
            number: 0,
            octets: 0,
        };
        film.draw();
        let mean = f64::from(film.cells(model.lengths.mean().0).1);
        let pace = model.follow_acr.map(|follow| {
            // As of a sender that was always there.
            let method = match follow.means {
                None => FollowMethod::Credit { credit: 2.0 * mean, limit: 2.0 * mean },
                Some(FollowMeans { interval, adapts }) => {
                    let rate = mean * model.frames_per_second.as_f64();
                    let part = (follow.share * acr.as_cells_per_s() / rate).min(1.0);
                    let ends = model.start.saturating_add(interval);
                    FollowMethod::Means(Means {
                        interval,
                        adapts,
                        ends,
                        granted: 0.0,
                        film: 0.0,
                        part,
                        due: 0.0,
                    })
                }
            };
            Pace { share: follow.share, acr, method, until: model.start }
        });
        Frames {
            film,
            pace,
            queue: VecDeque::new(),
            left_of_datagram: 0,
            left_behind: 0,
            skipped: 0,
            taken: 0,
            departed: Vec::new(),
        }
    }

    /// From `now` on ACR is `acr`.
    pub fn on_acr(&mut self, now: Time, acr: CellRate) {
        if self.pace.is_none() {
            return;
        }
        self.settle(now);
        if let Some(pace) = &mut self.pace {
            pace.advance(now);
            pace.acr = acr;
        }
    }

    /// When the next cell comes, or came.
    pub fn next(&self) -> Time {
        match (self.queue.front(), self.pace) {
            (Some(frame), _) => frame.at,
            (None, None) => self.film.next(),
            (None, Some(pace)) => self.film.first_with_credit(pace),
        }
    }

    /// The next cell leaves at `now`; whether it is the last of its datagram.
    pub fn take(&mut self, now: Time) -> bool {
        self.settle(now);
        let Some(frame) = self.queue.front_mut() else {
            unreachable!("a cell is taken only when one waits");
        };
        if self.left_of_datagram == 0 {
            let left = if self.left_behind == 0 { frame.cells } else { self.left_behind };
            self.left_of_datagram = left.min(frame.cells_of_full);
            self.left_behind = left - self.left_of_datagram;
        }
        self.taken += 1;
        self.left_of_datagram -= 1;
        if self.left_of_datagram > 0 {
            return false;
        }
        if self.left_behind == 0 {
            frame.left = now;
            frame.last_cell = self.taken;
            self.departed.push(*frame);
            self.queue.pop_front();
        }
        true
    }

    /// Whether the cell that left last was the last of its frame. False before the first one.
    pub fn is_between_frames(&self) -> bool {
        self.taken > 0 && self.left_of_datagram + self.left_behind == 0
    }

    /// Cells that have come by `now` and not left.
    pub fn waiting(&self, now: Time) -> u64 {
        let mut there = self.clone();
        there.settle(now);
        let all: u64 = there.queue.iter().map(|frame| u64::from(frame.cells)).sum();
        // Of the first one, what has left does not wait.
        let under_way = self.left_of_datagram + self.left_behind;
        match there.queue.front() {
            Some(first) if under_way > 0 => all - u64::from(first.cells - under_way),
            _ => all,
        }
    }

    /// The frames that have left whole, in order, and after them those that had not at `end`, the end of the run, with
    /// the number of frames left out.
    pub fn all(&self, end: Time) -> (Vec<Frame>, u64) {
        let mut there = self.clone();
        there.settle(Time::from_ps(end.as_ps().saturating_sub(1)));
        let mut all = there.departed;
        all.extend(there.queue);
        (all, there.skipped)
    }

    /// Brings the application up to `now`, `now` included.
    fn settle(&mut self, now: Time) {
        while self.film.next() <= now {
            let frame = self.film.take();
            let part = match &mut self.pace {
                None => Some(1.0),
                Some(pace) => {
                    pace.advance(frame.at);
                    pace.sends(frame.cells)
                }
            };
            match part {
                Some(part) => self.queue.push_back(self.film.shortened(frame, part)),
                None => self.skipped += 1,
            }
        }
    }
}

impl Film {
    /// When the next frame comes.
    fn next(&self) -> Time {
        let at = self.start.saturating_add(self.frames_per_second.after(self.number));
        if at < self.end { at } else { Time::NEVER }
    }

    /// The next frame, handed over.
    fn take(&mut self) -> Frame {
        let octets = self.octets;
        let (cells_of_full, cells) = self.cells(u64::from(octets));
        let at = self.next();
        self.number += 1;
        let number = self.number;
        self.draw();
        Frame { number, at, octets, cells, cells_of_full, left: Time::NEVER, last_cell: 0 }
    }

    /// `frame` with this part of its octets, rounded down, one at least.
    fn shortened(&self, frame: Frame, part: f64) -> Frame {
        if part >= 1.0 {
            return frame;
        }
        let octets = ((f64::from(frame.octets) * part) as u32).max(1);
        let (cells_of_full, cells) = self.cells(u64::from(octets));
        Frame { octets, cells, cells_of_full, ..frame }
    }

    /// Draws the length of the next frame. Where there is none at its instant, it is a later one.
    fn draw(&mut self) {
        loop {
            self.octets = self.lengths.next(&mut self.random);
            if self.octets > 0 {
                return;
            }
            self.number += 1;
        }
    }

    /// Cells of a full datagram, and of all those of a frame of so many octets.
    fn cells(&self, octets: u64) -> (u32, u32) {
        let cells = |payload: u64| cells_for(self.header + Octets(payload), self.encapsulation).0 as u32;
        let full = cells(self.datagram);
        let rest = octets % self.datagram;
        let of_rest = if rest == 0 { 0 } else { cells(rest) };
        (full, (octets / self.datagram) as u32 * full + of_rest)
    }

    /// The first frame for which there will be credit if ACR stays as it is.
    fn first_with_credit(&self, pace: Pace) -> Time {
        let (mut film, mut pace) = (self.clone(), pace);
        loop {
            let at = film.next();
            if at == Time::NEVER {
                return at;
            }
            pace.advance(at);
            if pace.sends(film.take().cells).is_some() {
                return at;
            }
            if pace.has_nothing() {
                return Time::NEVER;
            }
        }
    }
}

impl Lengths {
    fn new(model: &FrameLengths, random: &mut Random) -> Lengths {
        match model {
            FrameLengths::Gaussian { size, deviation } => {
                Lengths::Gaussian { size: size.0 as f64, deviation: deviation.0 as f64 }
            }
            FrameLengths::Trace { lengths, first } => {
                let next = match first {
                    FirstOfTrace::At(place) => *place as usize,
                    FirstOfTrace::Random => (random.uniform() * lengths.len() as f64) as usize,
                };
                Lengths::Trace { lengths: Arc::clone(lengths), next }
            }
        }
    }

    /// The next one \[octets\]; 0 where no frame comes.
    fn next(&mut self, random: &mut Random) -> u32 {
        match self {
            Lengths::Gaussian { size, deviation: 0.0 } => *size as u32,
            Lengths::Gaussian { size, deviation } => loop {
                for gaussian in random.gaussian_pair() {
                    let octets = (*size + *deviation * gaussian).round();
                    if (1.0..=2.0 * *size).contains(&octets) {
                        return octets as u32;
                    }
                }
            },
            Lengths::Trace { lengths, next } => {
                let octets = lengths[*next];
                *next = (*next + 1) % lengths.len();
                octets
            }
        }
    }
}

impl Pace {
    /// Credit or means grow up to `now`, or do not if they have.
    fn advance(&mut self, now: Time) {
        let Pace { share, acr, .. } = *self;
        let carried = |from: Time, to: Time| acr.cells_in(to.since(from));
        match &mut self.method {
            FollowMethod::Credit { credit, limit } => {
                if now > self.until {
                    *credit = (*credit + share * carried(self.until, now)).min(*limit);
                }
            }
            FollowMethod::Means(means) => {
                while means.ends <= now {
                    means.granted += carried(self.until, means.ends);
                    if means.film > 0.0 {
                        means.part = (share * means.granted / means.film).min(1.0);
                    }
                    (means.granted, means.film) = (0.0, 0.0);
                    self.until = means.ends;
                    means.ends = means.ends.saturating_add(means.interval);
                }
                means.granted += carried(self.until, now);
            }
        }
        self.until = self.until.max(now);
    }

    /// The part of a frame of so many cells that is sent; `None` if it is left out. Without means, one that is longer
    /// than all credit ever goes with all of it.
    fn sends(&mut self, cells: u32) -> Option<f64> {
        match &mut self.method {
            FollowMethod::Credit { credit, limit } => {
                let needed = f64::from(cells).min(*limit);
                let enough = *credit >= needed;
                if enough {
                    *credit -= needed;
                }
                enough.then_some(1.0)
            }
            FollowMethod::Means(means) => {
                means.film += f64::from(cells);
                if means.adapts == Adaptation::BitRate {
                    return Some(means.part);
                }
                means.due += means.part;
                let sends = means.due >= 1.0;
                if sends {
                    means.due -= 1.0;
                }
                sends.then_some(1.0)
            }
        }
    }

    /// Whether nothing will be sent while ACR stays as it is.
    fn has_nothing(&self) -> bool {
        self.acr == CellRate::ZERO
            && match &self.method {
                FollowMethod::Credit { .. } => true,
                FollowMethod::Means(means) => means.part <= 0.0 && means.granted <= 0.0,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Owner, Stream};
    use cellrate_scenario::FollowAcr;

    fn gaussian(size: u64, deviation: u64) -> FrameLengths {
        FrameLengths::Gaussian { size: Octets(size), deviation: Octets(deviation) }
    }

    fn model() -> FramesTraffic {
        FramesTraffic {
            frames_per_second: FrameRate::whole(10),
            lengths: gaussian(3000, 0),
            datagram: Octets(1472),
            header: Octets(28),
            encapsulation: Encapsulation::LlcSnapIpv4,
            follow_acr: None,
            frm_at_frame_ends: false,
            start: Time::ZERO,
            end: Time::NEVER,
            record: 0,
        }
    }

    fn frames(model: &FramesTraffic, acr: f64) -> Frames {
        let random = Random::new(1, Stream::Traffic(Owner::named("vc")));
        Frames::new(model, CellRate::new(acr), random, Time::ZERO + Duration::from_secs(1))
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    // 1472 + 28 + 8 + 8 octets are 31.6 cells; 56 + 44 are 2.1.
    const CELLS: u32 = 32 + 32 + 3;

    #[test]
    fn a_frame_comes_at_every_instant_and_the_last_cell_of_each_datagram_is_marked() {
        let mut frames = frames(&model(), 1e6);
        for number in 0..3 {
            let at = ms(100 * number);
            assert_eq!(frames.next(), at);
            let ends: Vec<u32> = (1..=CELLS).filter(|_| frames.take(at)).collect();
            assert_eq!(ends.len(), 3);
            let counted: Vec<u32> = {
                let mut again = super::tests::frames(&model(), 1e6);
                (1..=CELLS).filter(|_| again.take(Time::ZERO)).collect()
            };
            assert_eq!(counted, [32, 64, 67]);
        }
        let (all, skipped) = frames.all(ms(1000));
        assert_eq!((all.len(), skipped), (10, 0), "the one at 1 s comes after the end");
        assert_eq!((all[2].number, all[2].left, all[2].last_cell), (3, ms(200), 201));
        assert_eq!(all[3].left, Time::NEVER);
    }

    #[test]
    fn a_frame_of_whole_datagrams_has_no_empty_one_behind_them() {
        let whole = FramesTraffic { lengths: gaussian(2 * 1472, 0), ..model() };
        let mut frames = frames(&whole, 1e6);
        let ends: Vec<u32> = (1..=64).filter(|_| frames.take(Time::ZERO)).collect();
        assert_eq!(ends, [32, 64]);
        assert_eq!(frames.next(), ms(100));
    }

    #[test]
    fn frames_that_cannot_leave_wait() {
        let mut frames = frames(&model(), 1e6);
        assert_eq!(frames.waiting(ms(99)), 67);
        assert_eq!(frames.waiting(ms(100)), 134);
        for _ in 0..40 {
            frames.take(ms(120));
        }
        assert_eq!(frames.next(), Time::ZERO, "it came then");
        assert_eq!(frames.waiting(ms(120)), 94);
        assert_eq!(frames.waiting(ms(1500)), 10 * 67 - 40);
    }

    #[test]
    fn the_clock_does_not_drift() {
        let mut film =
            frames(&FramesTraffic { frames_per_second: FrameRate::whole(24), ..model() }, 1e6).film;
        film.end = Time::NEVER;
        film.number = 24 * 3600 + 1;
        assert_eq!(film.next(), Time::from_ps(3_600_041_666_666_666), "1/24 s, rounded down");
    }

    #[test]
    fn lengths_have_the_mean_and_deviation_asked_for() {
        let varied = FramesTraffic { lengths: gaussian(3000, 600), ..model() };
        let mut film = frames(&varied, 1e6).film;
        film.end = Time::NEVER;
        let lengths: Vec<f64> = (0..4000).map(|_| f64::from(film.take().octets)).collect();
        let mean = lengths.iter().sum::<f64>() / 4000.0;
        let variance = lengths.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 3999.0;
        // Standard errors are 9.5 and 6.7 octets; twice `size` is five deviations away.
        assert!((mean - 3000.0).abs() < 30.0, "{mean}");
        assert!((variance.sqrt() - 600.0).abs() < 25.0, "{}", variance.sqrt());
    }

    fn of_trace(lengths: &[u32], first: FirstOfTrace) -> FramesTraffic {
        FramesTraffic { lengths: FrameLengths::Trace { lengths: lengths.into(), first }, ..model() }
    }

    #[test]
    fn a_trace_goes_on_from_where_it_begins_and_round() {
        let model = of_trace(&[100, 3000, 1472], FirstOfTrace::At(1));
        let all = frames(&model, 1e6).all(ms(1000)).0;
        let octets: Vec<u32> = all.iter().map(|frame| frame.octets).collect();
        assert_eq!(octets, [3000, 1472, 100, 3000, 1472, 100, 3000, 1472, 100, 3000]);
        assert_eq!(all[..3].iter().map(|frame| frame.cells).collect::<Vec<_>>(), [67, 32, 3]);
        assert_eq!(model.lengths.mean(), Octets(1524));
    }

    #[test]
    fn where_a_trace_has_no_length_no_frame_comes() {
        let model = of_trace(&[0, 50, 0, 0, 60], FirstOfTrace::At(0));
        let frames = frames(&model, 1e6);
        assert_eq!(frames.next(), ms(100));
        let (all, skipped) = frames.all(ms(1000));
        let come: Vec<(u64, u32)> = all.iter().map(|frame| (frame.number, frame.octets)).collect();
        assert_eq!((come, skipped), (vec![(2, 50), (5, 60), (7, 50), (10, 60)], 0));
        assert!(all.iter().all(|frame| frame.at == ms(100 * (frame.number - 1))));
        assert_eq!(model.lengths.mean(), Octets(55));
    }

    #[test]
    fn a_random_beginning_is_anywhere_in_the_trace() {
        let model = of_trace(&[1, 2, 3, 4], FirstOfTrace::Random);
        let mut times = [0; 4];
        for flow in 0..400 {
            let random = Random::new(7, Stream::Traffic(Owner::named(&format!("vc{flow}"))));
            let film = Frames::new(&model, CellRate::new(1e6), random, ms(1000)).film;
            times[film.octets as usize - 1] += 1;
        }
        assert!(times.iter().all(|&times| (70..130).contains(&times)), "{times:?}");
    }

    fn following(share: f64) -> FramesTraffic {
        FramesTraffic { follow_acr: Some(FollowAcr { share, means: None }), ..model() }
    }

    /// Numbers of the frames sent within the second.
    fn sent(frames: &Frames) -> Vec<u64> {
        frames.all(ms(1000)).0.iter().map(|frame| frame.number).collect()
    }

    #[test]
    fn frames_go_at_acr_over_the_rate_of_the_film() {
        // 670 cells/s is the film. At half of it credit is 134 for frame 1, then grows by 33.5 a frame and is used up
        // by 67.
        assert_eq!(sent(&frames(&following(1.0), 670.0)).len(), 10);
        assert_eq!(sent(&frames(&following(0.5), 670.0)), [1, 2, 3, 5, 7, 9]);
        assert_eq!(sent(&frames(&following(1.0), 335.0)), [1, 2, 3, 5, 7, 9]);
        assert_eq!(sent(&frames(&following(1.0), 0.0)), [1, 2], "what credit there is at first");
    }

    #[test]
    fn a_change_of_acr_makes_a_new_plan_from_its_instant_on() {
        let mut frames = frames(&following(1.0), 0.0);
        for at in [0, 100] {
            assert_eq!(frames.next(), ms(at));
            (0..CELLS).for_each(|_| _ = frames.take(ms(at)));
        }
        assert_eq!(frames.next(), Time::NEVER, "no credit, and none to come");
        frames.on_acr(ms(250), CellRate::new(670.0));
        assert_eq!(frames.next(), ms(400), "67 cells from 250 to 350 ms");
        frames.on_acr(ms(300), CellRate::new(67.0));
        // 33.5 by 300 ms, and 6.7 a frame: 67 five frames later.
        assert_eq!(frames.next(), ms(800));
        assert_eq!(sent(&frames), [1, 2, 9]);
        assert_eq!(frames.all(ms(1000)).1, 7);
    }

    /// By means of half a second, all of which may be used.
    fn by_means(adapts: Adaptation) -> FramesTraffic {
        let means = Some(FollowMeans { interval: Duration::from_ms(500), adapts });
        FramesTraffic { follow_acr: Some(FollowAcr { share: 1.0, means }), ..model() }
    }

    #[test]
    fn by_means_frames_are_left_out_evenly_or_all_are_shorter() {
        assert_eq!(sent(&frames(&by_means(Adaptation::FrameRate), 335.0)), [2, 4, 6, 8, 10]);
        assert_eq!(sent(&frames(&by_means(Adaptation::FrameRate), 800.0)).len(), 10);
        let (all, skipped) = frames(&by_means(Adaptation::BitRate), 335.0).all(ms(1000));
        assert_eq!((all.len(), skipped), (10, 0));
        // 1500 octets are 32 cells and 2 for the 28 beyond a datagram.
        assert!(all.iter().all(|frame| (frame.octets, frame.cells, frame.cells_of_full) == (1500, 34, 32)));
    }

    #[test]
    fn an_interval_goes_by_the_means_of_the_one_before() {
        let mut frames = frames(&by_means(Adaptation::FrameRate), 670.0);
        frames.on_acr(ms(250), CellRate::new(0.0));
        // Half of the second's first half: 167.5 of 335 cells. Nothing is granted in the second half.
        assert_eq!(sent(&frames), [1, 2, 3, 4, 5, 7, 9]);
        frames.on_acr(ms(900), CellRate::new(670.0));
        let Some(Pace { method: FollowMethod::Means(means), .. }) = frames.pace else { panic!("by means") };
        assert_eq!((means.part, means.granted, means.ends), (0.5, 0.0, ms(1000)));
    }

    #[test]
    fn what_a_plan_says_is_what_happens() {
        let ways = [following(0.9), by_means(Adaptation::FrameRate), by_means(Adaptation::BitRate)];
        for (way, leaves_out) in ways.into_iter().zip([true, true, false]) {
            is_as_planned(FramesTraffic { lengths: gaussian(3000, 1000), ..way }, leaves_out);
        }
    }

    fn is_as_planned(varied: FramesTraffic, leaves_out: bool) {
        let mut frames = frames(&varied, 300.0);
        let mut planned = Vec::new();
        while frames.next() != Time::NEVER {
            let at = frames.next();
            planned.push(at);
            while frames.queue.front().is_none_or(|frame| frame.at == at) && frames.next() == at {
                frames.take(at);
            }
        }
        let (all, skipped) = frames.all(ms(1000));
        assert_eq!(all.iter().map(|frame| frame.at).collect::<Vec<_>>(), planned);
        assert_eq!(all.len() as u64 + skipped, 10);
        assert_eq!(skipped > 0, leaves_out);
    }
}

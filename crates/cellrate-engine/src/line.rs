//! The line behind a port: how long a cell takes, how far it goes, and what is lost on it.

use std::iter;

use cellrate_proto::units::BITS_PER_CELL;
use cellrate_proto::{BitRate, Duration, Time};
use cellrate_scenario::{InFlight, LineState, LossBursts, PortIndex, Scenario, Span};

use crate::random::{Owner, Random, Stream};

/// The line behind a port.
#[derive(Clone, Debug)]
pub struct Line {
    /// Time of one cell on the line; [`Duration::FOREVER`] while it has stopped.
    pub cell_time: Duration,
    /// Propagation delay.
    pub delay: Duration,
    faults: Option<Box<Faults>>,
    changing: Option<Box<Changing>>,
}

/// A cell, as the integral of a rate over time [bit/s * ps].
pub const CELL: u128 = BITS_PER_CELL as u128 * 1_000_000_000_000;

/// When a transmission began, later by all time for which it stood still, and when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// When its first bit left.
    pub began: Time,
    /// When its last bit leaves; never where the line has stopped.
    pub departs: Time,
}

/// The steps of a line that changes, and how far it has come.
#[derive(Clone, Debug)]
struct Changing {
    steps: Box<[(Time, LineState)]>,
    /// The step that comes next.
    next: usize,
    /// The rate in force.
    rate: BitRate,
    /// Since when it has been.
    since: Time,
    /// Bits of the cell in transmission that had left by then [bit/s * ps].
    sent: u128,
    /// Time of one cell at the last rate that was not zero.
    spacing: Duration,
    /// Whether any of them has what is on the line lost.
    loses_in_flight: bool,
    /// When the last cell arrives that has left and is not lost.
    last_arrival: Time,
}

#[derive(Clone, Debug)]
struct Faults {
    cell_loss: f64,
    /// Whether it ever loses cells by chance.
    by_chance: bool,
    random: Random,
    bursts: Option<LossBursts>,
    /// Whether the last cell has found the line bad.
    is_bad: bool,
    outages: Vec<Span>,
    /// The first outage that has not ended.
    outage: usize,
}

impl Line {
    /// The line behind `port`.
    pub fn of(scenario: &Scenario, port: PortIndex) -> Line {
        let link = scenario.link(port.link());
        let random = || Random::new(scenario.seed, Stream::Loss(Owner::port(scenario, port)));
        let (cell_time, delay) = (link.rate.cell_time(), link.delay);
        let changes = || link.changes_of(port.end());
        let by_chance = link.line.loss > 0.0 || changes().any(|(_, line)| line.cell_loss > 0.0);
        let faults =
            Faults::any(link.line.loss, by_chance, link.line.loss_bursts, &link.line.outages, random);
        let changing = link.is_changing().then(|| Box::new(Changing::by(link.rate, changes())));
        Line { cell_time, delay, faults, changing }
    }

    /// Has the line of `scenario` behind `port` take [further steps](Self::insert). Whether a cell is lost by chance is
    /// then drawn for each.
    pub fn open(&mut self, scenario: &Scenario, port: PortIndex) {
        let link = scenario.link(port.link());
        let random = || Random::new(scenario.seed, Stream::Loss(Owner::port(scenario, port)));
        match &mut self.faults {
            Some(faults) => faults.by_chance = true,
            faults => *faults = Faults::any(link.line.loss, true, None, &[], random),
        }
        self.changing.get_or_insert_with(|| Box::new(Changing::by(link.rate, iter::empty())));
    }

    /// State of the line now; `None` where it never changes.
    pub fn state(&self) -> Option<LineState> {
        let rate = self.changing.as_ref()?.rate;
        let cell_loss = self.faults.as_ref().map_or(0.0, |faults| faults.cell_loss);
        Some(LineState { rate, delay: self.delay, cell_loss, in_flight: InFlight::Kept })
    }

    /// The line becomes `state` at `at`, which is not before any step that has happened, nor after the next one. A
    /// line that is not open to changes stays as it is.
    pub fn insert(&mut self, at: Time, state: LineState) {
        let Some(changing) = &mut self.changing else { return };
        let mut steps = std::mem::take(&mut changing.steps).into_vec();
        // Those that have happened are of no more use, and one may come every moment.
        steps.drain(..changing.next);
        steps.insert(0, (at, state));
        (changing.steps, changing.next) = (steps.into(), 0);
    }

    /// Whether it changes.
    pub fn is_changing(&self) -> bool {
        self.changing.is_some()
    }

    /// When it changes next; never where it does not.
    pub fn next_change(&self) -> Time {
        let step = self.changing.as_ref().and_then(|changing| changing.steps.get(changing.next));
        step.map_or(Time::NEVER, |(at, _)| *at)
    }

    /// The change that comes next happens. Returns the rate from now on, if there is a change, and how the
    /// `transmission` goes on that is under way. Of a cell in transmission both rates count: it ends when 424 bits
    /// have left.
    pub fn change(&mut self, transmission: Option<Transmission>) -> Option<(BitRate, Option<Transmission>)> {
        let changing = self.changing.as_mut()?;
        let &(at, line) = changing.steps.get(changing.next)?;
        changing.next += 1;
        let transmission = transmission.map(|transmission| changing.go_on(transmission, at, line.rate));
        changing.begin(at, line.rate);
        (self.cell_time, self.delay) = (line.rate.cell_time(), line.delay);
        self.faults.iter_mut().for_each(|faults| faults.cell_loss = line.cell_loss);
        Some((line.rate, transmission))
    }

    /// When `transmission` has ended or, if it stands still, since when it has.
    pub fn works_until(&self, transmission: Transmission) -> Time {
        match &self.changing {
            Some(changing) if self.has_stopped() => changing.since,
            _ => transmission.departs,
        }
    }

    /// Whether it takes no cells at present.
    #[inline]
    pub fn has_stopped(&self) -> bool {
        self.cell_time == Duration::FOREVER
    }

    /// When the cell arrives whose transmission took from `began` to `departs`, or as an error when it would if the
    /// line did not lose it. Departures never go backwards, and arrivals neither: where the delay has fallen, a cell
    /// comes a cell time at the present rate behind the one before it, or as close as it left if that is closer.
    #[inline]
    pub fn carry(&mut self, began: Time, departs: Time) -> Result<Time, Time> {
        let arrives = departs + self.delay;
        let lost = self.loses(departs);
        match &mut self.changing {
            None if lost => Err(arrives),
            None => Ok(arrives),
            Some(changing) => changing.carry(arrives, departs.since(began), lost),
        }
    }

    /// A line that loses each cell with probability `cell_loss`, drawn from `random`, and all of them in `outages`.
    pub fn new(
        cell_time: Duration,
        delay: Duration,
        cell_loss: f64,
        outages: &[Span],
        random: Random,
    ) -> Line {
        let faults = Faults::any(cell_loss, cell_loss > 0.0, None, outages, || random);
        Line { cell_time, delay, faults, changing: None }
    }

    /// Whether it can lose cells at all.
    pub fn is_faulty(&self) -> bool {
        self.faults.is_some()
    }

    /// Whether the cell whose transmission ends at `departs` is lost. Departures never go backwards.
    #[inline]
    pub fn loses(&mut self, departs: Time) -> bool {
        match &mut self.faults {
            None => false,
            Some(faults) => faults.loses(departs),
        }
    }
}

impl Changing {
    fn by(rate: BitRate, steps: impl Iterator<Item = (Time, LineState)>) -> Changing {
        let steps: Box<[(Time, LineState)]> = steps.collect();
        Changing {
            loses_in_flight: steps.iter().any(|(_, line)| line.in_flight == InFlight::Lost),
            steps,
            next: 0,
            rate,
            since: Time::ZERO,
            sent: 0,
            spacing: rate.cell_time(),
            last_arrival: Time::ZERO,
        }
    }

    /// The rate becomes `rate` at `at`.
    fn begin(&mut self, at: Time, rate: BitRate) {
        if (self.rate, rate) == (BitRate::default(), BitRate::default()) {
            return; // It stands still as before.
        }
        (self.rate, self.since) = (rate, at);
        if rate != BitRate::default() {
            self.spacing = rate.cell_time();
        }
    }

    /// How `transmission` goes on where the rate becomes `rate` at `at`. Time for which it stood still moves its
    /// beginning.
    fn go_on(&mut self, transmission: Transmission, at: Time, rate: BitRate) -> Transmission {
        let mut began = transmission.began;
        if began >= self.since {
            self.sent = 0;
        }
        let sent_for = at.since(began.max(self.since));
        self.sent += u128::from(self.rate.as_bps()) * u128::from(sent_for.as_ps());
        if self.rate == BitRate::default() && rate != BitRate::default() {
            began += sent_for;
        }
        let left = CELL.saturating_sub(self.sent);
        let departs = match u128::from(rate.as_bps()) {
            _ if left == 0 => at,
            0 => Time::NEVER,
            rate => at.saturating_add(Duration::from_ps(left.div_ceil(rate) as u64)),
        };
        Transmission { began, departs }
    }

    fn carry(&mut self, arrives: Time, transmission: Duration, lost: bool) -> Result<Time, Time> {
        let arrives = arrives.max(self.last_arrival + transmission.min(self.spacing));
        let mut before = self.steps[self.next..].iter().take_while(|(at, _)| *at <= arrives);
        if lost || self.loses_in_flight && before.any(|(_, line)| line.in_flight == InFlight::Lost) {
            return Err(arrives);
        }
        self.last_arrival = arrives;
        Ok(arrives)
    }
}

impl Faults {
    /// `None` where nothing is ever lost, which needs no random numbers.
    fn any(
        cell_loss: f64,
        by_chance: bool,
        bursts: Option<LossBursts>,
        outages: &[Span],
        random: impl FnOnce() -> Random,
    ) -> Option<Box<Faults>> {
        (by_chance || bursts.is_some() || !outages.is_empty()).then(|| {
            let (random, is_bad, outages) = (random(), false, outages.to_vec());
            Box::new(Faults { cell_loss, by_chance, random, bursts, is_bad, outages, outage: 0 })
        })
    }

    fn loses(&mut self, departs: Time) -> bool {
        while self.outages.get(self.outage).is_some_and(|outage| outage.end <= departs) {
            self.outage += 1;
        }
        // Drawn for every cell, so that outages do not shift the stream, nor does what the probability is.
        let mut probability = self.cell_loss;
        if let Some(LossBursts { begin, end, loss }) = self.bursts {
            let turns = self.random.uniform() < if self.is_bad { end } else { begin };
            self.is_bad ^= turns;
            if self.is_bad {
                probability = loss;
            }
        }
        let unlucky = (self.by_chance || self.bursts.is_some()) && self.random.uniform() < probability;
        unlucky || self.outages.get(self.outage).is_some_and(|outage| outage.start <= departs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    /// A line of 10 us a cell that changes at these instants \[us\] to such rates \[Mb/s\] and delays \[us\].
    fn changing(steps: &[(u64, f64, u64)]) -> Line {
        let rate = |mbps: f64| BitRate::from_bps((mbps * 1e6) as u64);
        let state = |rate, delay| LineState { rate, delay, cell_loss: 0.0, in_flight: InFlight::Kept };
        let steps =
            steps.iter().map(|&(at, mbps, delay)| (us(at), state(rate(mbps), Duration::from_us(delay))));
        let first = rate(42.4);
        Line {
            cell_time: first.cell_time(),
            delay: Duration::ZERO,
            faults: None,
            changing: Some(Box::new(Changing::by(first, steps))),
        }
    }

    /// Beginning and end \[ps\] of a transmission from `began` \[us\] on, after each change of the line.
    fn course(line: &mut Line, began: u64) -> Vec<(u64, u64)> {
        let mut transmission = Transmission { began: us(began), departs: us(began) + line.cell_time };
        let mut course = Vec::new();
        while let Some((_, Some(next))) = line.change(Some(transmission)) {
            transmission = next;
            course.push((next.began.as_ps(), next.departs.as_ps()));
        }
        course
    }

    #[test]
    fn each_change_counts_the_bits_that_have_left_by_then() {
        // 3 us of 10 at first, 8 us at half the rate, and of the 3 us that are left a third of the time.
        let mut line = changing(&[(3, 21.2, 0), (11, 127.2, 0)]);
        assert_eq!(course(&mut line, 0), [(0, 17_000_000), (0, 12_000_000)]);
        let mut line = changing(&[(3, 29.9, 0)]);
        // 296.8 bits at 29.9 Mb/s: 9.926421404... us, rounded up.
        assert_eq!(course(&mut line, 0), [(0, 3_000_000 + 9_926_422)]);
    }

    #[test]
    fn a_stop_moves_the_beginning_and_a_cell_that_is_out_is_out() {
        // 4 us, a stop of 20 us in which the delay changes, too, and the other 6 us.
        let mut line = changing(&[(4, 0.0, 0), (14, 0.0, 5), (24, 42.4, 5)]);
        let never = Time::NEVER.as_ps();
        assert_eq!(course(&mut line, 0), [(0, never), (0, never), (20_000_000, 30_000_000)]);
        // A cell that leaves as the line stops has left, and one that begins at a change has none of the rate before.
        assert_eq!(course(&mut changing(&[(10, 0.0, 0)]), 0), [(0, 10_000_000)]);
        let mut line = changing(&[(7, 84.8, 0), (9, 42.4, 0)]);
        line.change(None);
        assert_eq!(course(&mut line, 7), [(7_000_000, 15_000_000)]);
    }

    #[test]
    fn busy_is_a_line_that_works() {
        let mut line = changing(&[(4, 0.0, 0), (14, 0.0, 5), (24, 42.4, 5)]);
        let transmission = Transmission { began: us(0), departs: us(10) };
        assert_eq!(line.works_until(transmission), us(10));
        let (_, stopped) = line.change(Some(transmission)).unwrap();
        assert_eq!(line.works_until(stopped.unwrap()), us(4));
        let (_, stopped) = line.change(stopped).unwrap();
        assert_eq!(line.works_until(stopped.unwrap()), us(4), "as long as it has stopped");
    }

    #[test]
    fn where_the_delay_falls_cells_come_as_close_as_the_present_rate_has_them_or_as_they_left() {
        // The delay falls from 100 us to 0 as the rate doubles, or halves, 4 us into a cell behind one that arrives at
        // 100 us: it comes 5 us behind that, a cell at the new rate, or 16 us behind it, as it left.
        for (mbps, departs, arrives) in [(84.8, 7, 105), (21.2, 16, 116)] {
            let mut line = changing(&[(4, mbps, 0)]);
            line.delay = Duration::from_us(100);
            assert_eq!(line.carry(us(0), us(0)), Ok(us(100)));
            let transmission = Transmission { began: us(0), departs: us(10) };
            let (_, goes_on) = line.change(Some(transmission)).unwrap();
            assert_eq!(goes_on, Some(Transmission { began: us(0), departs: us(departs) }));
            assert_eq!(line.carry(us(0), us(departs)), Ok(us(arrives)));
        }
    }

    #[test]
    fn bursts_of_losses_have_their_share_and_their_length() {
        // p / (p + r) = 1/51 of all cells, in bursts of 1/r = 10; every second of them lost leaves half of the share.
        for (loss, share) in [(1.0, 1.0 / 51.0), (0.5, 0.5 / 51.0)] {
            let random = Random::new(1, Stream::Loss(Owner::named("line")));
            let bursts = Some(LossBursts { begin: 0.002, end: 0.1, loss });
            let mut faults = Faults::any(0.0, false, bursts, &[], || random).unwrap();
            let count = 1_000_000;
            let lost: Vec<bool> = (0..count).map(|_| faults.loses(Time::ZERO)).collect();
            let all = lost.iter().filter(|&&lost| lost).count() as f64;
            // 1960 bursts: their number and their lengths vary by 2.3 % each (standard error).
            assert!((all / f64::from(count) / share - 1.0).abs() < 0.1, "{all} of {count}");
            if loss == 1.0 {
                let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
                assert!((all / bursts / 10.0 - 1.0).abs() < 0.08, "{all} in {bursts} bursts");
            }
        }
    }
}

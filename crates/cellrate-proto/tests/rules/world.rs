//! A small world: two ends, the lines between them, perhaps a switch, and a clock. And a source alone, kept busy.
//!
//! At one instant arrivals come before departures, and the near end before the far one.

use std::collections::VecDeque;

use cellrate_proto::switch::{Feedback, PortControl, PortControlConfig, Slot, VcAtPort};
use cellrate_proto::uili::UiliConfig;
use cellrate_proto::{
    AbrParameters, CellRate, Cells, Destination, DestinationConfig, Direction, Duration, Emission, RateCode,
    RmCell, Source, Time,
};

/// The end whose data a story is about.
pub const NEAR: usize = 0;
/// The other end.
pub const FAR: usize = 1;

/// The factor 2^-k.
pub fn power(k: u8) -> cellrate_proto::parameters::PowerOfTwo {
    cellrate_proto::parameters::PowerOfTwo::from_negative_exponent(k).expect("0 to 15")
}

/// The defaults of the standard with PCR = ICR = `pcr`.
pub fn parameters(pcr: f64) -> AbrParameters {
    AbrParameters::new(CellRate::new(pcr))
}

/// A source with parameters that have been checked, and no use-it-or-lose-it policy.
pub fn source(parameters: &AbrParameters) -> Source {
    parameters.check().expect("in range");
    Source::new(parameters.clone(), &UiliConfig::None)
}

/// A BRM that grants `er` and asks for nothing else.
pub fn brm(er: f64) -> RmCell {
    RmCell { direction: Direction::Backward, ..frm(er) }
}

/// An in-rate FRM that asks for `er` and says that its source has it.
pub fn frm(er: f64) -> RmCell {
    RmCell {
        direction: Direction::Forward,
        backward_notification: false,
        congestion_indication: false,
        no_increase: false,
        explicit_rate: RateCode::floor(CellRate::new(er)),
        current_cell_rate: RateCode::floor(CellRate::new(er)),
        minimum_cell_rate: RateCode::ZERO,
        out_of_rate: false,
    }
}

pub fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

pub fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// One picosecond before `at`.
pub fn just_before(at: Time) -> Time {
    Time::from_ps(at.as_ps() - 1)
}

/// One picosecond after `at`.
pub fn just_after(at: Time) -> Time {
    Time::from_ps(at.as_ps() + 1)
}

/// The letter of an emission: F and B in-rate RM cells, f an out-of-rate FRM, D data, V data with RM values.
pub fn letter(emission: &Emission) -> char {
    match emission {
        Emission::ForwardRm(rm) if rm.out_of_rate => 'f',
        Emission::ForwardRm(_) => 'F',
        Emission::BackwardRm(_) => 'B',
        Emission::Data => 'D',
        Emission::DataWithRm(_) => 'V',
    }
}

/// A source that always has data, and its clock.
pub struct Busy {
    pub source: Source,
    pub now: Time,
}

impl Busy {
    pub fn new(parameters: &AbrParameters) -> Busy {
        Busy { source: source(parameters), now: Time::ZERO }
    }

    /// The next cell, at the instant it leaves.
    pub fn cell(&mut self) -> (Time, Emission) {
        self.now = self.source.next_transmission(self.now, |from| from);
        (self.now, self.source.transmit(self.now, true).expect("data waits"))
    }

    /// The next `n` cells, a letter each.
    pub fn cells(&mut self, n: usize) -> String {
        (0..n).map(|_| letter(&self.cell().1)).collect()
    }

    /// Cells up to and including the next FRM.
    pub fn next_frm(&mut self) -> (Time, RmCell) {
        loop {
            if let (at, Emission::ForwardRm(rm)) = self.cell() {
                return (at, rm);
            }
        }
    }
}

/// A cell on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    Data { efci: bool },
    Rm(RmCell),
}

/// A cell and the instant it left or arrived.
pub type Stamped = (Time, Cell);

/// One end: the source of the direction it sends, the destination of the other.
pub struct End {
    pub source: Source,
    pub destination: Destination,
    /// Data cells that wait.
    pub data: u64,
    pub sent: Vec<Stamped>,
    pub received: Vec<Stamped>,
}

/// The way from one end to the other, first in, first out.
struct Line {
    delay: Duration,
    /// While cut, what is sent is lost.
    cut: bool,
    cells: VecDeque<Stamped>,
}

/// The output port of a switch on the near end's way to the far end; the port's queue is set by hand.
pub struct Switch {
    pub control: PortControl,
    pub slot: Slot,
    pub queue: Cells,
}

pub struct World {
    pub now: Time,
    pub ends: [End; 2],
    lines: [Line; 2],
    pub switch: Option<Switch>,
}

impl World {
    /// Both directions agreed on `parameters`; a cell needs `delay` from end to end.
    pub fn new(parameters: &AbrParameters, delay: Duration) -> World {
        World::with_destinations(parameters, delay, DestinationConfig::default())
    }

    pub fn with_destinations(
        parameters: &AbrParameters,
        delay: Duration,
        config: DestinationConfig,
    ) -> World {
        let end = || End {
            source: source(parameters),
            destination: Destination::new(config),
            data: 0,
            sent: Vec::new(),
            received: Vec::new(),
        };
        let line = || Line { delay, cut: false, cells: VecDeque::new() };
        World { now: Time::ZERO, ends: [end(), end()], lines: [line(), line()], switch: None }
    }

    /// Puts a switch on the way.
    pub fn with_switch(mut self, config: &PortControlConfig, line: f64, queue: u64) -> World {
        let mut control = PortControl::new(config, CellRate::new(line));
        let pcr = self.ends[NEAR].source.parameters().pcr;
        let slot =
            control.connect(&VcAtPort { pcr, mcr: CellRate::ZERO, weight: 1.0, round_trip: Duration::ZERO });
        self.switch = Some(Switch { control, slot, queue: Cells(queue) });
        self
    }

    /// Has the cells of `end` lost from now on, or arrive again.
    pub fn cut(&mut self, end: usize, cut: bool) {
        self.lines[end].cut = cut;
    }

    /// Everything up to and including `until`.
    pub fn run_until(&mut self, until: Time) {
        while self.next() <= until {
            self.step();
        }
        self.now = until;
    }

    /// Everything until nothing is on its way and nothing waits.
    pub fn run_until_idle(&mut self) {
        for _ in 0..1_000_000 {
            if self.next() == Time::NEVER {
                return;
            }
            self.step();
        }
        panic!("a million instants, and never idle");
    }

    /// The cells that `end` sent, a letter each; small letters are out of rate.
    pub fn story(&self, end: usize) -> String {
        self.ends[end].sent.iter().map(|(_, cell)| cell.letter()).collect()
    }

    /// The RM cells that `end` received.
    pub fn rm_received(&self, end: usize) -> Vec<RmCell> {
        let rm = |&(_, cell): &Stamped| match cell {
            Cell::Rm(rm) => Some(rm),
            Cell::Data { .. } => None,
        };
        self.ends[end].received.iter().filter_map(rm).collect()
    }

    fn next(&self) -> Time {
        let arrival = self.lines.iter().filter_map(|line| line.cells.front().map(|&(at, _)| at)).min();
        let departure = self.ends.iter().map(|end| end.next_transmission(self.now)).min();
        arrival.unwrap_or(Time::NEVER).min(departure.unwrap_or(Time::NEVER))
    }

    fn step(&mut self) {
        self.now = self.next();
        for end in [NEAR, FAR] {
            while let Some(&(at, cell)) = self.lines[1 - end].cells.front()
                && at == self.now
            {
                self.lines[1 - end].cells.pop_front();
                self.arrive(end, cell);
            }
        }
        for end in [NEAR, FAR] {
            if self.ends[end].next_transmission(self.now) == self.now {
                let cell = self.ends[end].transmit(self.now);
                self.send(end, cell);
            }
        }
    }

    fn send(&mut self, end: usize, cell: Cell) {
        self.ends[end].sent.push((self.now, cell));
        let line = &mut self.lines[end];
        if !line.cut {
            line.cells.push_back((self.now + line.delay, cell));
        }
    }

    fn arrive(&mut self, end: usize, mut cell: Cell) {
        if let Some(switch) = &mut self.switch {
            switch.pass(self.now, end, &mut cell);
        }
        let End { source, destination, received, .. } = &mut self.ends[end];
        received.push((self.now, cell));
        match cell {
            Cell::Data { efci } => destination.on_data(efci),
            Cell::Rm(rm) if rm.direction == Direction::Backward => source.on_backward_rm(self.now, &rm),
            Cell::Rm(rm) => {
                if let Some(at_once) = destination.on_forward_rm(&rm, source) {
                    self.send(end, Cell::Rm(at_once));
                }
            }
        }
    }
}

impl End {
    fn next_transmission(&self, now: Time) -> Time {
        self.source.next_transmission(now, |from| if self.data > 0 { from } else { Time::NEVER })
    }

    fn transmit(&mut self, now: Time) -> Cell {
        match self.source.transmit(now, self.data > 0).expect("next_transmission said so") {
            Emission::Data => {
                self.data -= 1;
                Cell::Data { efci: false }
            }
            Emission::ForwardRm(rm) | Emission::BackwardRm(rm) => Cell::Rm(rm),
            Emission::DataWithRm(_) => unreachable!("no end here has values in data cells"),
        }
    }
}

impl Cell {
    fn letter(self) -> char {
        match self {
            Cell::Data { .. } => 'D',
            Cell::Rm(rm) => match (rm.direction, rm.out_of_rate) {
                (Direction::Forward, false) => 'F',
                (Direction::Forward, true) => 'f',
                (Direction::Backward, false) => 'B',
                (Direction::Backward, true) => 'b',
            },
        }
    }
}

impl Switch {
    /// The cell passes on its way to `end`.
    fn pass(&mut self, now: Time, end: usize, cell: &mut Cell) {
        let Switch { control, slot, queue } = self;
        if control.interval_due(now) {
            control.end_intervals(now, |_| *queue);
        }
        match (end, cell) {
            (FAR, Cell::Data { efci }) => {
                control.on_abr_cell(now, *slot);
                *efci |= control.marks_efci(*queue);
            }
            (FAR, Cell::Rm(rm)) => {
                control.on_abr_cell(now, *slot);
                if rm.direction == Direction::Forward {
                    control.on_forward_rm(now, *slot, rm.current_cell_rate.rate());
                }
            }
            (_, Cell::Rm(rm)) if rm.direction == Direction::Backward => {
                let mut feedback = Feedback::new(rm.explicit_rate, rm.congestion_indication, rm.no_increase);
                control.on_backward_rm(now, *slot, *queue, &mut feedback);
                rm.explicit_rate = feedback.explicit_rate();
                rm.congestion_indication = feedback.congestion_indication();
                rm.no_increase = feedback.no_increase();
            }
            _ => {}
        }
    }
}

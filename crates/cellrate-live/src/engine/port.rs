//! An output port: a [served one](Served) of cells with their octets, with the faults that a test puts on its line.

use super::cell::Cell;
use super::faults::InjectedFaults;
pub(crate) use cellrate_engine::priority::ABR;
use cellrate_engine::priority::PRIORITIES;
use cellrate_engine::served::{Admission, Served};
use cellrate_engine::switch_port::SwitchPort;
use cellrate_proto::switch::{Feedback, PortControl, Slot};
use cellrate_proto::{Cells, Direction, RmCell, Time};

/// Where the link behind a port goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// To a node of this process: an index into the inputs.
    Inside(u32),
    /// To a node of another process: an index into the outgoing links.
    Outside(u32),
}

/// Cells lost at a port, by category and reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Losses {
    pub buffer: [u64; PRIORITIES],
    pub line: u64,
}

/// An output port.
#[derive(Debug)]
pub(crate) struct Port {
    pub served: Served<Cell>,
    injected: Option<Box<InjectedFaults>>,
    pub line_end: LineEnd,
    /// Whether `control` wants to know of every cell.
    pub metered: bool,
    /// Whether it may have a BRM sent because of a cell that comes ([`super::becn`]).
    pub originates: bool,
    pub control: PortControl,
    pub losses: Losses,
    /// RM cells that injected faults damaged here.
    pub damaged: u64,
}

impl Port {
    pub fn new(
        served: Served<Cell>,
        control: PortControl,
        is_switch: bool,
        line_end: LineEnd,
        injected: Option<InjectedFaults>,
    ) -> Port {
        let originates = is_switch && control.originates();
        let metered = originates || is_switch && control.needs_meter();
        Port {
            served,
            injected: injected.map(Box::new),
            line_end,
            metered,
            originates,
            control,
            losses: Losses::default(),
            damaged: 0,
        }
    }

    /// The switch's look at a cell of `priority` that comes to this port; `rm` is what it says, if it is an RM cell.
    #[inline]
    pub fn observe(&mut self, now: Time, priority: usize, slot: Slot, rm: Option<&RmCell>) {
        let forward = rm.filter(|rm| rm.direction == Direction::Forward);
        self.observe_cell(now, priority, slot, || forward.map(|rm| rm.current_cell_rate.rate()));
    }

    /// The answer of this port to a BRM that passes in the other direction; whether it changed anything.
    pub fn answer(&mut self, now: Time, slot: Slot, rm: &mut RmCell) -> bool {
        let before = *rm;
        let mut feedback = Feedback::new(rm.explicit_rate, rm.congestion_indication, rm.no_increase);
        self.answer_brm(now, slot, &mut feedback);
        rm.explicit_rate = feedback.explicit_rate();
        rm.congestion_indication = feedback.congestion_indication();
        rm.no_increase = feedback.no_increase();
        *rm != before
    }

    /// A cell arrives, whose connection has this `slot`. When the port was idle its transmission begins at once, and
    /// the port's next departure is given.
    ///
    /// # Errors
    /// When there is no room for it, or its PDU is discarded.
    #[inline]
    pub fn admit(&mut self, now: Time, priority: u8, slot: Slot, cell: Cell) -> Result<Option<Time>, ()> {
        let class = usize::from(priority);
        match self.served.admit(now, class, slot, cell, &mut self.control) {
            Admission::Queued(departure) => Ok(departure),
            Admission::Lost => {
                self.losses.buffer[class] += 1;
                Err(())
            }
        }
    }

    /// The cell in transmission has left at `now`: returns it, stamped with its arrival at the far end, and the next
    /// departure. The cell is an error if it is lost on the line; no cell is returned where one that was held back may
    /// leave from now on.
    #[inline]
    pub fn depart(&mut self, now: Time) -> (Option<Result<Cell, Cell>>, Time) {
        let (cell, departure) = self.served.depart(now, &mut self.control);
        let Some(mut cell) = cell else { return (None, departure) };
        if let Some(injected) = &mut self.injected {
            let (struck, damaged) = injected.strike(cell);
            cell = struck;
            self.damaged += u64::from(damaged);
        }
        self.losses.line += u64::from(cell.is_err());
        (Some(cell), departure)
    }

    /// Cells lost here, for want of room or on the line.
    pub fn dropped(&self) -> u64 {
        self.losses.buffer.iter().sum::<u64>() + self.losses.line
    }
}

impl SwitchPort for Port {
    fn control(&self) -> &PortControl {
        &self.control
    }

    fn control_mut(&mut self) -> &mut PortControl {
        &mut self.control
    }

    fn abr_queue(&mut self, now: Time) -> Cells {
        self.served.settle(now, &mut self.control);
        self.served.abr_before_line(now)
    }

    #[cold]
    fn end_intervals(&mut self, now: Time) {
        self.served.settle(now, &mut self.control);
        let served = &self.served;
        self.control.end_intervals(now, |at| served.abr_before_line(at));
    }
}

#[cfg(test)]
mod tests {
    use super::super::faults::Faults;
    use super::*;
    use cellrate_engine::line::Line;
    use cellrate_engine::random::{Owner, Random, Stream};
    use cellrate_proto::switch::PortControlConfig;
    use cellrate_proto::{BitRate, CellRate, Duration, RateCode};
    use cellrate_scenario::Port as Config;

    #[test]
    fn injected_faults_damage_rm_cells_and_lose_data() {
        let random = |stream| Random::new(1, stream);
        let rate = BitRate::from_bps(42_400_000); // 10 us a cell
        let loss = random(Stream::Loss(Owner::named("line")));
        let line = Line::new(rate.cell_time(), Duration::from_us(7), 0.0, &[], loss);
        let config = Config::default();
        let control = PortControl::new(&PortControlConfig::default(), CellRate::new(100_000.0));
        let marks = random(Stream::Marks(Owner::named("port")));
        let rates = Faults { rm_damage: 1.0, data_loss: 1.0, ..Faults::default() };
        let injected = InjectedFaults { rates, random: random(Stream::Faults(Owner::named("line"))) };
        let mut port = Port::new(
            Served::new(line, &config, None, marks),
            control,
            false,
            LineEnd::Inside(0),
            Some(injected),
        );
        let rm = RmCell {
            direction: Direction::Forward,
            backward_notification: false,
            congestion_indication: false,
            no_increase: false,
            explicit_rate: RateCode::MAX,
            current_cell_rate: RateCode::MAX,
            minimum_cell_rate: RateCode::MAX,
            out_of_rate: false,
        };
        let rm = Cell::resource_management(Time::ZERO, 0, 0, &rm);
        let data = Cell::data(Time::ZERO, 1, 0, &[0; 48], false);
        let first = port.admit(Time::ZERO, 1, Slot(0), rm).unwrap().unwrap();
        port.admit(Time::ZERO, 1, Slot(0), data).unwrap();
        let (left, second) = port.depart(first);
        let left = left.unwrap().unwrap();
        assert_eq!(left.arrives, first + Duration::from_us(7));
        assert!(left.to_rm().is_err());
        assert!(port.depart(second).0.unwrap().is_err());
        assert_eq!((port.damaged, port.losses.line), (1, 1));
    }
}

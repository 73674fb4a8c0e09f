//! An output port: queues, a line, and what a switch does about congestion there.
//!
//! A port that serves one category only, and marks nothing as cells leave, never needs an event of its own: when a cell
//! arrives, its departure is known (Lindley's recursion), so it is put on the link at once, stamped with its arrival at
//! the far end. That is a [`Fifo`]. A port with several categories, whose departures need not be seen as they
//! happen, is [`Ranked`]: only those cells wait in queues that others may overtake. Ports with several categories
//! elsewhere, queues for connections or weights for categories, EFCI, frame discard, less room for tagged cells, a line
//! that loses cells, or no room at all are [`Served`]: they keep real queues, and every departure is an
//! event. All give the same departures where they apply.

mod backlog;
pub(crate) mod drain_strategy;
mod fifo;
mod losses;
pub(crate) mod merge;
pub(crate) mod onward;
mod ranked;
pub(crate) mod shared_host;

use cellrate_engine::frame_discards::FrameDiscards;
use cellrate_engine::switch_port::SwitchPort;
use cellrate_proto::switch::{Feedback, PortControl, Slot};
use cellrate_proto::{Cells, Duration, Time};
use cellrate_scenario::FlowIndex;

use crate::cell::{Cell, Significance};
pub(crate) use backlog::Even;
pub(crate) use cellrate_engine::line::Line;
pub(crate) use cellrate_engine::priority::{ABR, GUARANTEED, PRIORITIES, UBR, priority};
pub(crate) use cellrate_engine::served::Admission;
use drain_strategy::DrainStrategy;
pub(crate) use fifo::{Fifo, Joining, MOST_JOINING, Outlet};
pub(crate) use losses::{Losing, Losses};
use merge::Merge;
use onward::FedBy;
pub(crate) use ranked::{Give, Ranked, Turning};
use shared_host::HostsBefore;

pub(crate) type Served = cellrate_engine::served::Served<Cell>;

/// The ways of serving.
#[derive(Clone, Debug)]
pub(crate) enum Queues {
    /// One category, departures known on arrival.
    Fifo(Fifo),
    /// Several categories, whose departures need not be seen as they happen.
    Ranked(Box<Ranked>),
    /// Real queues.
    Served(Box<Served>),
}

/// Ends of averaging intervals, and the figures of the algorithm from each on.
pub(crate) type Ended = Vec<(Time, Vec<f64>)>;

/// Counts of a port: all since the beginning of the run, but maxima since they [began anew](Port::begin_maxima).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortCounts {
    /// \[cells\]
    pub transmitted: u64,
    /// Time for which the line was busy \[ps\].
    pub busy_ps: u64,
    /// Time integral of the queue [cells * ps].
    pub queue_integral: u128,
    /// Largest queue \[cells\].
    pub max_queue: u64,
    /// Largest queue of ABR \[cells\].
    pub max_abr_queue: u64,
    /// Cells lost \[cells\].
    pub dropped: u64,
    /// Cells among them with CLP = 1 that found no room of their own.
    pub tagged_dropped: u64,
    /// BRMs originated \[cells\].
    pub originated: u64,
    /// PDUs of which no cell got in.
    pub pdus_refused: u64,
    /// PDUs that were cut.
    pub pdus_cut: u64,
}

/// Parts that most ports do not have.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    /// The averaging intervals ended since the last look. `None` where changes of the figures are not recorded.
    ended: Option<Ended>,
    /// Cells lost here, for want of room or on the line.
    dropped: u64,
    /// Losses of cells that found no room.
    losses: Losses,
    /// Whether every change of something here is recorded.
    records_changes: bool,
    /// Whether it may have a BRM sent because of a cell that comes ([`crate::kernel::becn`]).
    originates: bool,
    /// Whether cells come to it from other deferred ports of its cluster.
    pub fed_by: FedBy,
    /// The shared hosts before it, if there are any.
    pub hosts_before: Option<Box<HostsBefore>>,
}

/// An output port. Less than two cache lines: a large network has four for each connection.
#[derive(Debug)]
pub(crate) struct Port {
    pub queues: Queues,
    /// Whether no departure needs to be known before the end of the window, or before a look at the port:
    /// then cells are dealt with late, in their order ([`crate::kernel`]).
    pub deferred: bool,
    /// Whether the link behind it leads to another cluster.
    pub outside: bool,
    /// How it is drained, if the port is deferred.
    pub strategy: DrainStrategy,
    /// The next cell that waits of each lane and feed that leads here, if the port is deferred.
    pub merge: Merge,
    /// The priority of the only category, if the port is a FIFO.
    pub only_priority: u8,
    /// Whether `control` wants to know of every cell.
    pub metered: bool,
    pub control: PortControl,
    pub rare: Option<Box<Rare>>,
}

impl Port {
    /// Has the figures at the ends of averaging intervals [kept](Port::take_ended) from now on.
    pub fn keep_ended(&mut self) {
        self.rare.get_or_insert_default().ended = Some(Ended::new());
    }

    /// Whether it is to keep them.
    pub fn keeps_ended(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.ended.is_some())
    }

    /// The averaging intervals ended since the last look, if the port is to keep them.
    pub fn take_ended(&mut self) -> Option<Ended> {
        self.rare.as_mut()?.ended.as_mut().map(std::mem::take)
    }

    /// Has every change of the port recorded as it happens from now on.
    pub fn record_changes(&mut self) {
        self.rare.get_or_insert_default().records_changes = true;
    }

    /// Whether it is.
    #[inline]
    pub fn records_changes(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.records_changes)
    }

    /// Whether it is a FIFO whose queue or line is recorded late, and nothing as it happens: its arrivals are kept.
    #[inline]
    pub fn keeps_arrivals(&self) -> bool {
        self.fifo().is_some_and(Fifo::keeps_arrivals)
    }

    /// Lets the port have BRMs [sent](crate::kernel::becn) because of cells that come, from now on.
    pub fn may_originate(&mut self) {
        self.rare.get_or_insert_default().originates = true;
    }

    /// Whether it may.
    #[inline(always)]
    pub fn originates(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.originates)
    }

    /// Counts a cell that has been lost here, for want of room or on the line.
    pub fn lose(&mut self) {
        self.rare.get_or_insert_default().dropped += 1;
    }

    /// Counts a cell of `flow` that has been lost here at `now` for want of room.
    pub fn lose_for_room(&mut self, now: Time, flow: FlowIndex) {
        let rare = self.rare.get_or_insert_default();
        rare.dropped += 1;
        rare.losses.entry(flow).or_default().lose(now);
    }

    /// The losses at its full buffer, of which there are none at most ports.
    pub fn losses(&self) -> Option<&Losses> {
        self.rare.as_ref().map(|rare| &rare.losses)
    }

    /// Number of cells lost at the port.
    pub fn dropped(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.dropped)
    }

    /// The shared hosts before it, if there are any.
    #[inline(always)]
    pub fn hosts_before(&self) -> Option<&HostsBefore> {
        self.rare.as_ref()?.hosts_before.as_deref()
    }

    /// Whether cells come to it from other deferred ports of its cluster.
    #[inline(always)]
    pub fn fed_by(&self) -> FedBy {
        self.rare.as_ref().map_or(FedBy::None, |rare| rare.fed_by)
    }

    /// The FIFO, if it is one.
    #[inline]
    pub fn fifo(&self) -> Option<&Fifo> {
        if let Queues::Fifo(fifo) = &self.queues { Some(fifo) } else { None }
    }

    /// Time of one cell on the line.
    pub fn cell_time(&self) -> Duration {
        match &self.queues {
            Queues::Fifo(fifo) => fifo.cell_time(),
            Queues::Ranked(ranked) => ranked.all().cell_time(),
            Queues::Served(served) => served.cell_time(),
        }
    }

    /// Reads a word of each cache line of the port and its control ([`crate::kernel::windows::prefetch`]).
    #[inline]
    pub fn prefetch(&self) -> u64 {
        u64::from(matches!(self.queues, Queues::Fifo(_))) ^ u64::from(self.metered) ^ self.control.prefetch()
    }

    /// Which cells that come here have to be events, if the port is deferred.
    pub fn significance(&self) -> Significance {
        if self.outside { Significance::BEFORE_CLUSTER } else { Significance::BEFORE_HOST }
    }

    /// Number of cells of `priority` waiting and in transmission at `at`, which is not before the last event of the
    /// port.
    pub fn queue(&self, priority: usize, at: Time) -> Cells {
        match &self.queues {
            Queues::Fifo(fifo) if priority == usize::from(self.only_priority) => fifo.queue(at),
            Queues::Fifo(_) => Cells::ZERO,
            Queues::Ranked(ranked) => ranked.queue(priority, at),
            Queues::Served(served) => served.queue(priority),
        }
    }

    /// Number of cells of all categories waiting and in transmission.
    pub fn total_queue(&self, at: Time) -> Cells {
        match &self.queues {
            Queues::Fifo(fifo) => fifo.queue(at),
            Queues::Ranked(ranked) => ranked.all().queue(at),
            Queues::Served(served) => served.total_by(at),
        }
    }

    /// The switch's look at a cell of the class `priority`, slot `slot`, that comes to this port in the forward sense.
    #[inline(always)]
    pub fn observe(&mut self, now: Time, priority: usize, slot: Slot, cell: &Cell) {
        self.observe_cell(now, priority, slot, || {
            (cell.is_forward_rm() && cell.loopback().is_none()).then(|| cell.current_cell_rate().rate())
        });
    }

    /// The answer of this port to a BRM that passes in the other direction, where it is
    /// [settled](PortControl::answer_is_fixed).
    #[inline(always)]
    pub fn settled_answer(&mut self, now: Time, slot: Slot, cell: Cell) -> Cell {
        let mut feedback = feedback(cell);
        self.control.on_backward_rm(now, slot, Cells::ZERO, &mut feedback);
        answered(cell, &feedback)
    }

    /// The answer of this port to a BRM that passes in the other direction.
    pub fn answer(&mut self, now: Time, slot: Slot, cell: Cell) -> Cell {
        let mut feedback = feedback(cell);
        self.answer_brm(now, slot, &mut feedback);
        answered(cell, &feedback)
    }

    /// Time for which the line had been busy by `at`, which is not before the last event \[ps\].
    pub fn busy_ps(&self, at: Time) -> u64 {
        match &self.queues {
            Queues::Fifo(fifo) => fifo.busy(at).as_ps(),
            Queues::Ranked(ranked) => ranked.all().busy(at).as_ps(),
            Queues::Served(served) => served.busy_ps(at),
        }
    }

    /// Counts by `at`, before which everything has happened and nothing else. A departure at that instant has not.
    pub fn counts(&self, at: Time) -> PortCounts {
        let of_fifo = |fifo: &Fifo, max_abr_queue: u64| {
            let last = Time::from_ps(at.as_ps().saturating_sub(1));
            (fifo.transmitted(last), fifo.max_queue().0, max_abr_queue, fifo.queue_integral(at))
        };
        let (transmitted, max_queue, max_abr_queue, queue_integral) = match &self.queues {
            Queues::Fifo(fifo) => {
                let is_abr = usize::from(self.only_priority) == ABR;
                of_fifo(fifo, if is_abr { fifo.max_queue().0 } else { 0 })
            }
            Queues::Ranked(ranked) => of_fifo(ranked.all(), ranked.max_abr_queue().0),
            Queues::Served(served) => {
                let max_abr_queue = served.max_queue(ABR).0;
                (served.transmitted(), served.max_total().0, max_abr_queue, served.queue_integral(at))
            }
        };
        let frame_discards = match &self.queues {
            Queues::Served(served) => served.frame_discards(),
            Queues::Fifo(_) | Queues::Ranked(_) => None,
        };
        let tagged_dropped = match &self.queues {
            Queues::Served(served) => served.tagged_dropped(),
            Queues::Fifo(_) | Queues::Ranked(_) => 0,
        };
        PortCounts {
            transmitted,
            busy_ps: self.busy_ps(at),
            queue_integral,
            max_queue,
            max_abr_queue,
            dropped: self.dropped(),
            tagged_dropped,
            originated: self.control.originated(),
            pdus_refused: frame_discards.map_or(0, FrameDiscards::refused),
            pdus_cut: frame_discards.map_or(0, FrameDiscards::cut),
        }
    }

    /// The largest queues are looked for anew from `now` on, before which everything has happened, with what stands
    /// then.
    pub fn begin_maxima(&mut self, now: Time) {
        match &mut self.queues {
            Queues::Fifo(fifo) => fifo.begin_max(now),
            Queues::Ranked(ranked) => ranked.begin_max(now),
            Queues::Served(served) => served.begin_max(now, &mut self.control),
        }
    }
}

/// The answer of a port to a BRM, as yet that of the cell.
#[inline(always)]
fn feedback(brm: Cell) -> Feedback {
    let (ci, ni) = brm.indications();
    Feedback::new(brm.explicit_rate(), ci, ni)
}

/// The BRM with this answer in it.
#[inline(always)]
fn answered(brm: Cell, feedback: &Feedback) -> Cell {
    brm.with_feedback(feedback.explicit_rate(), feedback.congestion_indication(), feedback.no_increase())
}

impl SwitchPort for Port {
    #[inline(always)]
    fn control(&self) -> &PortControl {
        &self.control
    }

    #[inline(always)]
    fn control_mut(&mut self) -> &mut PortControl {
        &mut self.control
    }

    #[inline]
    fn abr_queue(&mut self, now: Time) -> Cells {
        let Queues::Served(served) = &mut self.queues else { return self.queue(ABR, now) };
        served.settle(now, &mut self.control);
        served.abr_before_line(now)
    }

    #[cold]
    fn end_intervals(&mut self, now: Time) {
        if let Queues::Served(served) = &mut self.queues {
            // The turn is given as of its own instant, which is before the ends of intervals that are due.
            served.settle(now, &mut self.control);
        }
        let (queues, priority) = (&self.queues, usize::from(self.only_priority));
        let queue_at = |at| match queues {
            Queues::Fifo(fifo) if priority == ABR => fifo.queue(at),
            Queues::Fifo(_) => Cells::ZERO,
            Queues::Ranked(ranked) => ranked.queue(ABR, at),
            Queues::Served(served) => served.abr_before_line(at),
        };
        let Some(ended) = self.rare.as_mut().and_then(|rare| rare.ended.as_mut()) else {
            self.control.end_intervals(now, queue_at);
            return;
        };
        // One by one, because each may change the figures.
        while self.control.interval_due(now) {
            let end = self.control.next_deadline();
            self.control.end_intervals(end, queue_at);
            let mut figures = Vec::new();
            self.control.metrics(|_, value| figures.push(value));
            ended.push((end, figures));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_takes_less_than_two_cache_lines() {
        assert!(size_of::<Port>() <= 112);
    }
}

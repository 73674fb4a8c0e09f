//! Output ports: what kind each has to be.

use cellrate_engine::frame_discards::FrameDiscards;
use cellrate_engine::plugins::Plugins;
use cellrate_proto::Cells;
use cellrate_scenario::{Buffers, NodeKind, PortIndex, RmCells, Scenario, Shared};

use super::watched::WatchedPort;
use crate::error::RunError;
use crate::kernel::ports::drain_strategy::DrainStrategy;
use crate::kernel::ports::merge::Merge;
use crate::kernel::ports::{ABR, Fifo, Line, Outlet, PRIORITIES, Port, Queues, Ranked, Served};
use crate::mechanisms::{Mechanism, Mechanisms};
use cellrate_engine::random::{Owner, Random, Stream};

/// The far end of a link.
pub(super) struct Ends {
    /// In another cluster than the port.
    pub(super) outside: bool,
    /// A host.
    pub(super) at_host: bool,
    /// Where every arrival is an event.
    pub(super) every_cell: bool,
    /// Every departure to it is an event.
    pub(super) tapped: bool,
    /// A virtual end at the port's switch sends there, or the port originates BRMs.
    pub(super) joined: bool,
    /// It may originate BRMs.
    pub(super) originates: bool,
    /// Most cells that there may be, where that is known.
    pub(super) most_there: Option<u64>,
    /// Quantities that series look at.
    pub(super) watched: WatchedPort,
    pub(super) mechanisms: Mechanisms,
}

/// Cell times between samples of a port to another switch whose [arrivals are kept](crate::kernel::sampling), at most.
const OFTEN: u64 = 16;

pub(super) fn build_port(
    scenario: &Scenario,
    index: PortIndex,
    used: &[bool; PRIORITIES],
    ends: Ends,
    outlets: &mut Shared<Outlet>,
    plugins: Plugins<'_>,
) -> Result<Port, RunError> {
    let Ends { outside, at_host, every_cell, watched, mechanisms, .. } = ends;
    let line = Line::of(scenario, index);
    let line_cell_time = line.cell_time;
    let control = plugins.control(scenario, index)?;
    let is_switch = scenario.node(scenario.tail(index.step())).kind == NodeKind::Switch;
    let only_priority = used.iter().position(|&used| used).unwrap_or(0);
    let deferrable =
        mechanisms.has(Mechanism::Deferral) && !(ends.tapped || ends.joined || line.is_changing());
    let queues = queues(scenario, index, used, &ends, line, deferrable, outlets);
    // The answers of a built-in algorithm are not asked for where no ABR connection goes.
    let asks = used[ABR] || scenario.port(index).custom.is_some() || watched.algorithm;
    let asks = asks || !mechanisms.has(Mechanism::Unmetered);
    let metered = ends.originates || is_switch && asks && control.needs_meter();
    let counts_early = is_switch && at_host && !every_cell && matches!(queues, Queues::Fifo(_));
    // Of a FIFO the departures are known, so what is recorded can be noted late.
    let may_wait = !watched.changes || matches!(queues, Queues::Fifo(_));
    let deferred = (outside || counts_early) && deferrable && may_wait;
    // If those behind it are, it is deferred as well ([`super::onward`]).
    let may_be_onward = is_switch && !outside && !at_host && deferrable && !watched.changes;
    let strategy = match queues {
        Queues::Fifo(_) if may_be_onward && mechanisms.has(Mechanism::Onward) => DrainStrategy::Onward,
        _ => DrainStrategy::OneByOne,
    };
    let merge = Merge::none();
    let mut port = Port {
        queues,
        deferred,
        outside,
        strategy,
        merge,
        only_priority: only_priority as u8,
        metered,
        control,
        rare: None,
    };
    if watched.figures {
        port.keep_ended();
    }
    let is_often = |interval| at_host && !outside || interval <= line_cell_time * OFTEN;
    let keeps_arrivals = match watched.changes {
        true => !watched.other_changes,
        false => is_switch && watched.interval.is_some_and(is_often),
    };
    match &mut port.queues {
        Queues::Fifo(fifo) if keeps_arrivals => fifo.keep_arrivals(),
        _ if watched.changes => port.record_changes(),
        _ => {}
    }
    if ends.originates {
        port.may_originate();
    }
    Ok(port)
}

/// Queues of the plainest kind that does all that the port has to do.
fn queues(
    scenario: &Scenario,
    index: PortIndex,
    used: &[bool; PRIORITIES],
    ends: &Ends,
    line: Line,
    deferrable: bool,
    outlets: &mut Shared<Outlet>,
) -> Queues {
    let Ends { outside, tapped, most_there, watched, mechanisms, .. } = *ends;
    let config = scenario.port(index);
    let several = used.iter().filter(|&&used| used).count() > 1;
    let only_priority = used.iter().position(|&used| used).unwrap_or(0);
    let buffers = &config.buffers;
    let own = [buffers.guaranteed, buffers.abr, buffers.ubr][only_priority];
    let room = own.into_iter().chain(buffers.shared).min();
    // Where no cell waits, none overtakes another, and no queue is above a threshold that it never comes to.
    let without_queue = most_there == Some(1);
    let overtakes = used[ABR] && config.rm_cells != RmCells::InOrder && !without_queue;
    let discards = config.frame_discards();
    let discards_frames =
        used.iter().zip(discards).any(|(&used, discard)| used && discard.is_some()) && !without_queue;
    let marks_cells =
        config.control.efci.is_some_and(|efci| most_there.is_none_or(|most| most > efci.high.0));
    let marks = marks_cells || config.ecn.is_some() && !without_queue;
    let holds_back = config.queueing.is_per_vc() && shapes(scenario, index);
    let takes_turns = config.queueing.is_per_vc() && !without_queue
        || several && (config.queueing.class_weights.is_some() || config.queueing.books());
    let looks_at_cells = overtakes || discards_frames || marks || holds_back || takes_turns;
    let has_events = looks_at_cells || tapped || several || buffers.tagged.is_some();
    let is_ranked = mechanisms.has(Mechanism::RankedPorts)
        && several
        && outside
        && deferrable
        && !watched.changes
        && !(looks_at_cells || line.is_faulty())
        && *buffers == Buffers::default();
    if is_ranked {
        Queues::Ranked(Box::new(Ranked::new(&line, only_priority)))
    } else if has_events || line.is_faulty() || line.is_changing() || room == Some(Cells::ZERO) {
        let marks = Random::new(scenario.seed, Stream::Marks(Owner::port(scenario, index)));
        Queues::Served(Box::new(Served::new(line, config, FrameDiscards::of(scenario, index), marks)))
    } else {
        Queues::Fifo(Fifo::new(outlets.get(&Outlet::new(&line, room))))
    }
}

/// Whether the port holds a connection to a rate.
fn shapes(scenario: &Scenario, index: PortIndex) -> bool {
    scenario.flows().any(|flow| {
        let connection = scenario.connection(flow.connection());
        connection.queue.shaped_to.is_some() && scenario.steps(flow).any(|step| step.port() == index)
    })
}

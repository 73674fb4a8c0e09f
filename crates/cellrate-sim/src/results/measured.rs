//! Counts as of an instant, and what they have grown by since another.
//!
//! Counts of the kernel only grow. Where figures are to leave the beginning of a run out, or a window of it has figures
//! of its own, counts are [read](Meter::read) at each instant that matters, while the kernel
//! [pauses](crate::kernel::pause) there, and a row says by how much they have grown between two of them. Maxima begin
//! anew at each such instant, with what stands then; the largest of a window is the largest of its parts. What a row of
//! TCP, of virtual sources and of datagrams had counted by the end of the warm-up is kept as such rows, and statistics
//! of bursts and pages begin anew there.

use std::borrow::Cow;

use cellrate_engine::connection_end::RmCount;
use cellrate_engine::histogram::{Extremes, Histogram};
use cellrate_proto::policing::usage::UsageCounts;
use cellrate_proto::{CellRate, SourceStatistics, Time};
use cellrate_scenario::{FlowIndex, PortIndex, Scenario, Span};

use super::conserved::Elsewhere;
use super::virtual_sources;
use super::{FlowSummary, FrameSummary, PolicingSummary, PortSummary, TcpSummary, Windowed};
use crate::assembly::Assembly;
use crate::error::RunError;
use crate::kernel::ports::{Port, PortCounts};
use cellrate_engine::names::{flow_name, port_name};

/// Readings of a run so far.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// In the order of instants.
    readings: Vec<Reading>,
    /// Counts of the rows of others when the warm-up ended.
    pub warm_up: WarmUp,
    /// The counts of virtual sources when the warm-up ended.
    pub virtual_sources: virtual_sources::Before,
    /// Counts of policers when the warm-up ended; none where there is none.
    pub policing: Vec<UsageCounts>,
}

/// Rows as of the end of the warm-up; none where there is none.
#[derive(Debug, Default)]
pub(crate) struct WarmUp {
    pub tcp: Vec<TcpSummary>,
    pub frames: Vec<FrameSummary>,
}

/// Counts of all directions and ports.
#[derive(Debug)]
struct Reading {
    at: Time,
    flows: Vec<FlowCounts<'static>>,
    ports: Vec<PortCounts>,
    policing: Vec<UsageCounts>,
}

/// Counts of one direction of a connection. `delay_extremes` are those since the reading before.
#[derive(Clone, Debug, Default)]
struct FlowCounts<'a> {
    sent: u64,
    data_sent: u64,
    delivered: u64,
    data_delivered: u64,
    dropped: u64,
    in_flight: u64,
    forward_rm_sent: u64,
    backward_rm_received: u64,
    /// Where there is an ABR source.
    abr: Option<AbrCounts>,
    delays: Option<Cow<'a, Histogram>>,
    delay_extremes: Extremes,
}

/// Counts of an ABR source.
#[derive(Clone, Copy, Debug)]
struct AbrCounts {
    acr: CellRate,
    /// Time integral of ACR since the reading before \[cells\].
    acr_cells: f64,
    statistics: SourceStatistics,
}

impl Meter {
    /// Reads all counts as of `at`, an instant that the kernel has run to, and has maxima begin anew.
    ///
    /// # Errors
    /// [`RunError::NotConserved`] where cells are missing, or too many.
    pub fn read(&mut self, scenario: &Scenario, assembly: &mut Assembly, at: Time) -> Result<(), RunError> {
        let elsewhere = Elsewhere::count(scenario, assembly)?;
        let owned = |counts: FlowCounts<'_>| FlowCounts {
            delays: counts.delays.map(|delays| Cow::Owned(delays.into_owned())),
            ..counts
        };
        let flows = scenario.flows().map(|flow| owned(flow_counts(assembly, flow, &elsewhere, at))).collect();
        let ports = port_counts(scenario, assembly, at).map(|(_, counts)| counts).collect();
        let policing = super::policing::counts(assembly);
        self.readings.push(Reading { at, flows, ports, policing });
        let start = scenario.measuring.start();
        self.virtual_sources.read(scenario, assembly, at, start);
        if at == start {
            super::branch_points::begin_anew(assembly);
            self.policing = super::policing::counts(assembly);
            self.warm_up = WarmUp {
                tcp: super::tcp::collect(scenario, assembly, at),
                frames: super::frames::collect(scenario, assembly, &elsewhere.in_flight, at, Time::ZERO).0,
            };
        }
        for cluster in &mut assembly.kernel.clusters {
            cluster.ports.iter_mut().for_each(|port| port.begin_maxima(at));
            for endpoint in &mut cluster.endpoints {
                endpoint.end.begin_maxima(at);
                if at == scenario.measuring.start() {
                    endpoint.begin_statistics();
                    endpoint.begin_loopback_anew(at);
                }
            }
        }
        Ok(())
    }

    /// The rows of directions of the summary and of windows, each of those that had sent anything by its end. Those of
    /// the summary take what ends have counted of delays, if they are of the whole run.
    pub fn flow_rows(
        &self,
        scenario: &Scenario,
        assembly: &mut Assembly,
        elsewhere: &Elsewhere,
        end: Time,
    ) -> (Vec<FlowSummary>, Vec<Windowed<FlowSummary>>) {
        let mut rows = Rows::new(scenario, end, scenario.flows().len());
        for flow in scenario.flows() {
            let now = flow_counts(assembly, flow, elsewhere, end);
            let row = rows.add(|span| {
                let parts = self.parts(span, end, &now, |reading| &reading.flows[flow.index()]);
                (parts.last.sent > 0).then(|| flow_row(scenario, flow, &parts, span))
            });
            if let (Some(row), []) = (row, &self.readings[..]) {
                row.delays =
                    assembly.receiver_mut(flow).end.take_delays().filter(|delays| delays.total() > 0);
            }
        }
        rows.windows.iter_mut().flat_map(|(_, rows)| rows).for_each(|row| row.delays = None);
        rows.finish(scenario)
    }

    /// The rows of ports of the summary and of windows, each of those that had carried or lost anything by its end.
    pub fn port_rows(
        &self,
        scenario: &Scenario,
        assembly: &Assembly,
        end: Time,
    ) -> (Vec<PortSummary>, Vec<Windowed<PortSummary>>) {
        let mut rows = Rows::new(scenario, end, assembly.ports.len());
        for (place, (port, now)) in port_counts(scenario, assembly, end).enumerate() {
            rows.add(|span| {
                let parts = self.parts(span, end, &now, |reading| &reading.ports[place]);
                let last = parts.last;
                (last.transmitted > 0 || last.dropped > 0).then(|| port_row(scenario, port, &parts, span))
            });
        }
        rows.finish(scenario)
    }

    /// The rows of policers within each window.
    pub fn policing_windows(
        &self,
        scenario: &Scenario,
        assembly: &Assembly,
        end: Time,
    ) -> Vec<Windowed<PolicingSummary>> {
        let now = super::policing::counts(assembly);
        let mut rows = Rows::new(scenario, end, 0);
        for (span, rows) in &mut rows.windows {
            let by =
                |at: Time| self.readings.iter().rfind(|reading| reading.at <= at).map(|r| &r.policing[..]);
            let last = if span.end == end { Some(&now[..]) } else { by(span.end) };
            *rows = super::policing::rows(
                scenario,
                assembly,
                last.unwrap_or_default(),
                by(span.start).unwrap_or_default(),
            );
        }
        rows.finish(scenario).1
    }

    /// The counts that a span begins with and those that it consists of; `now` are those at the `end` of the run.
    fn parts<'a, C>(
        &'a self,
        span: Span,
        end: Time,
        now: &'a C,
        of: impl Fn(&'a Reading) -> &'a C,
    ) -> Parts<'a, C> {
        let before = self.readings.iter().rfind(|reading| reading.at <= span.start).map(&of);
        let within = self.readings.iter().filter(|reading| span.start < reading.at && reading.at <= span.end);
        let mut all: Vec<&C> = within.map(of).collect();
        if span.end == end {
            all.push(now);
        }
        let last = *all.last().expect("a span ends with a reading, or with the run");
        Parts { before, all, last }
    }
}

/// The counts that a span consists of: each since the beginning of the run, but maxima and integrals of ACR
/// since the one before it.
struct Parts<'a, C> {
    /// Where the span begins; `None` at the beginning of the run.
    before: Option<&'a C>,
    all: Vec<&'a C>,
    /// Where it ends.
    last: &'a C,
}

impl<C> Parts<'_, C> {
    /// Growth of a count.
    fn grown(&self, of: impl Fn(&C) -> u64) -> u64 {
        of(self.last) - self.before.map_or(0, of)
    }

    /// The largest of maxima.
    fn max<M: Ord>(&self, of: impl Fn(&C) -> M) -> M {
        self.all.iter().map(|&counts| of(counts)).max().expect("there is one part at least")
    }
}

/// Rows under construction.
struct Rows<T> {
    summary: Span,
    rows: Vec<T>,
    windows: Vec<(Span, Vec<T>)>,
}

impl<T> Rows<T> {
    /// None yet, and room for so many of the summary.
    fn new(scenario: &Scenario, end: Time, room: usize) -> Rows<T> {
        let summary = Span { start: scenario.measuring.start(), end };
        let windows = scenario.measuring.windows.iter().map(|window| (window.span, Vec::new())).collect();
        Rows { summary, rows: Vec::with_capacity(room), windows }
    }

    /// The rows of one thing, where it has some: that of the summary is returned.
    fn add(&mut self, row: impl Fn(Span) -> Option<T>) -> Option<&mut T> {
        self.windows.iter_mut().for_each(|(span, rows)| rows.extend(row(*span)));
        self.rows.push(row(self.summary)?);
        self.rows.last_mut()
    }

    fn finish(self, scenario: &Scenario) -> (Vec<T>, Vec<Windowed<T>>) {
        let mut windowed = Vec::new();
        for (window, (span, rows)) in scenario.measuring.windows.iter().zip(self.windows) {
            windowed.extend(rows.into_iter().map(|row| Windowed {
                window: window.name.clone(),
                from_s: span.start.as_secs_f64(),
                until_s: span.end.as_secs_f64(),
                row,
            }));
        }
        (self.rows, windowed)
    }
}

fn flow_counts<'a>(
    assembly: &'a Assembly,
    flow: FlowIndex,
    elsewhere: &Elsewhere,
    at: Time,
) -> FlowCounts<'a> {
    let (sender, receiver) = (&assembly.sender(flow).end, &assembly.receiver(flow).end);
    FlowCounts {
        sent: sender.sent(),
        data_sent: sender.counts.data_sent,
        delivered: receiver.delivered(),
        data_delivered: receiver.data_delivered(),
        dropped: elsewhere.dropped[flow.index()],
        in_flight: elsewhere.in_flight[flow.index()],
        forward_rm_sent: sender.counts.rm(RmCount::ForwardSent),
        backward_rm_received: sender.counts.rm(RmCount::BackwardReceived),
        abr: sender.source().map(|source| AbrCounts {
            acr: source.acr(),
            acr_cells: sender.pacer.acr_cells(at),
            statistics: source.statistics(),
        }),
        delays: receiver.delays().map(Cow::Borrowed),
        delay_extremes: receiver.delays().map(Histogram::extremes).unwrap_or_default(),
    }
}

fn flow_row(
    scenario: &Scenario,
    flow: FlowIndex,
    parts: &Parts<'_, FlowCounts<'_>>,
    span: Span,
) -> FlowSummary {
    let seconds = span.end.since(span.start).as_secs_f64();
    let data_delivered = parts.grown(|counts| counts.data_delivered);
    let bits = data_delivered as f64 * cellrate_proto::units::BITS_PER_CELL as f64;
    let abr = parts.last.abr.as_ref();
    let statistic = |of: fn(&SourceStatistics) -> u64| {
        abr.map(|_| parts.grown(|counts| counts.abr.as_ref().map_or(0, |abr| of(&abr.statistics))))
    };
    let acr_cells = |counts: &FlowCounts<'_>| counts.abr.as_ref().map_or(0.0, |abr| abr.acr_cells);
    let since = parts.last.delays.as_deref().map(|delays| match parts.before {
        None if parts.all.len() == 1 => Cow::Borrowed(delays),
        before => {
            let before = before.and_then(|counts| counts.delays.as_deref());
            let extremes = parts.all.iter().map(|counts| counts.delay_extremes);
            Cow::Owned(delays.since(before, extremes.fold(Extremes::default(), Extremes::with)))
        }
    });
    let delays = since.as_deref();
    FlowSummary {
        vc: flow_name(scenario, flow),
        category: scenario.connection(flow.connection()).category.word(),
        sent: parts.grown(|counts| counts.sent),
        data_sent: parts.grown(|counts| counts.data_sent),
        delivered: parts.grown(|counts| counts.delivered),
        data_delivered,
        dropped: parts.grown(|counts| counts.dropped),
        in_flight: parts.last.in_flight,
        forward_rm_sent: parts.grown(|counts| counts.forward_rm_sent),
        backward_rm_received: parts.grown(|counts| counts.backward_rm_received),
        throughput_bps: bits / seconds,
        mean_acr: abr.map(|_| parts.all.iter().map(|counts| acr_cells(counts)).sum::<f64>() / seconds),
        final_acr: abr.map(|abr| abr.acr.as_cells_per_s()),
        idle_resets: statistic(|statistics| statistics.idle_resets),
        cutoff_decreases: statistic(|statistics| statistics.cutoff_decreases),
        uili_decreases: statistic(|statistics| statistics.uili_decreases),
        mean_delay_s: delays.and_then(Histogram::mean_s),
        p50_delay_s: delays.and_then(|delays| delays.quantile_s(0.5)),
        p99_delay_s: delays.and_then(|delays| delays.quantile_s(0.99)),
        max_delay_s: delays.and_then(Histogram::max_s),
        delays: match since {
            Some(Cow::Owned(own)) if own.total() > 0 => Some(Box::new(own)),
            _ => None,
        },
    }
}

/// The ports there are, each with its counts.
fn port_counts<'a>(
    scenario: &'a Scenario,
    assembly: &'a Assembly,
    at: Time,
) -> impl Iterator<Item = (PortIndex, PortCounts)> + 'a {
    scenario.ports().zip(&assembly.ports).filter_map(move |(index, place)| {
        let place = place.as_ref()?;
        let port: &Port = &assembly.kernel.clusters[place.cluster as usize].ports[place.index as usize];
        Some((index, port.counts(at)))
    })
}

/// Transmissions of a cell over a link by `at`, all links.
pub(crate) fn cell_hops(scenario: &Scenario, assembly: &Assembly, at: Time) -> u64 {
    port_counts(scenario, assembly, at).map(|(_, counts)| counts.transmitted).sum()
}

fn port_row(scenario: &Scenario, port: PortIndex, parts: &Parts<'_, PortCounts>, span: Span) -> PortSummary {
    let duration = span.end.since(span.start).as_ps() as f64;
    let integral = parts.last.queue_integral - parts.before.map_or(0, |counts| counts.queue_integral);
    PortSummary {
        port: port_name(scenario, port),
        transmitted: parts.grown(|counts| counts.transmitted),
        utilization: parts.grown(|counts| counts.busy_ps) as f64 / duration,
        max_queue: parts.max(|counts| counts.max_queue),
        mean_queue: integral as f64 / duration,
        max_abr_queue: parts.max(|counts| counts.max_abr_queue),
        dropped: parts.grown(|counts| counts.dropped),
        tagged_dropped: parts.grown(|counts| counts.tagged_dropped),
        backward_rm_originated: parts.grown(|counts| counts.originated),
        pdus_refused: parts.grown(|counts| counts.pdus_refused),
        pdus_cut: parts.grown(|counts| counts.pdus_cut),
    }
}

//! One output port's marking and explicit-rate computation, as the drivers call it.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::becn::{Becn, BecnConfig};
use super::efci::{Efci, EfciConfig};
use super::meter::{AveragingInterval, Meter, QuietMeter};
use super::{Algorithm, Feedback, Promises, Settled, Slot, SwitchAlgorithm, SwitchAlgorithmConfig, VcAtPort};
use crate::parameters::ParameterError;
use crate::rate_code::RateCode;
use crate::rm::RmCell;
use crate::scheduling::Weight;
use crate::units::{CellRate, Cells, Time};

/// Congestion control of a port. The default does nothing.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PortControlConfig {
    /// EFCI marking of data cells, beside the algorithm.
    pub efci: Option<EfciConfig>,
    /// BRMs that the port originates, beside the algorithm.
    pub becn: Option<BecnConfig>,
    /// Algorithm that writes into backward RM cells.
    pub algorithm: SwitchAlgorithmConfig,
}

impl PortControlConfig {
    /// Says which parameter is out of its range first: EFCI's, then that of BRMs originated, then the algorithm's.
    pub fn check(&self) -> Result<(), ParameterError> {
        self.efci.as_ref().map_or(Ok(()), EfciConfig::check)?;
        self.becn.as_ref().map_or(Ok(()), BecnConfig::check)?;
        self.algorithm.check()
    }
}

/// A port's control state. Small where there is nothing to control: a large network has many such ports.
#[derive(Debug)]
pub struct PortControl {
    /// `None` where nothing is marked, measured or answered.
    active: Option<Box<Active>>,
}

/// Congestion control in force, with the fields that a data cell needs first.
#[derive(Debug)]
#[repr(C)]
struct Active {
    meter: Meter,
    marking: Option<Box<Marking>>,
    algorithm: Algorithm,
}

/// Marking that few ports have beside an algorithm, and limits: EFCI, BRMs of their own, and connections that they
/// hold to a rate.
#[derive(Debug, Default)]
struct Marking {
    efci: Option<Efci>,
    becn: Option<Becn>,
    /// By slot, the most that a connection is told it may send; shorter where no later one is held to a rate.
    held_to: Vec<RateCode>,
}

impl PortControl {
    /// Control of a port whose line takes `link_rate`. `config` has passed [`PortControlConfig::check`].
    pub fn new(config: &PortControlConfig, link_rate: CellRate) -> PortControl {
        PortControl::assemble(config, Algorithm::new(&config.algorithm, link_rate))
    }

    /// Control by an algorithm that is not built in, which takes the place of the one in `config`.
    pub fn with_algorithm(
        config: &PortControlConfig,
        algorithm: Box<dyn SwitchAlgorithm + Send>,
    ) -> PortControl {
        PortControl::assemble(config, Algorithm::Custom(algorithm))
    }

    fn assemble(config: &PortControlConfig, algorithm: Algorithm) -> PortControl {
        let marking = Marking {
            efci: config.efci.map(Efci::new),
            becn: config.becn.map(Becn::new),
            held_to: Vec::new(),
        };
        let is_alone = marking.efci.is_none() && marking.becn.is_none();
        if is_alone && matches!(algorithm, Algorithm::None) {
            return PortControl { active: None };
        }
        let marking = (!is_alone).then(|| Box::new(marking));
        let active = Active {
            meter: Meter::new(algorithm.as_dyn().and_then(SwitchAlgorithm::metering)),
            marking,
            algorithm,
        };
        PortControl { active: Some(Box::new(active)) }
    }

    /// A connection was set up through the port: its number there. Where nothing is marked, measured or answered all
    /// have number 0.
    pub fn connect(&mut self, vc: &VcAtPort) -> Slot {
        let Some(Active { meter, marking, algorithm }) = self.active.as_deref_mut() else { return Slot(0) };
        let slot = meter.connect();
        if let Some(becn) = marking.as_mut().and_then(|marking| marking.becn.as_mut()) {
            becn.connect(vc.mcr);
        }
        if let Some(algorithm) = algorithm.as_dyn_mut() {
            algorithm.on_connect(slot, vc);
        }
        slot
    }

    /// The port itself holds the connection with this number to a rate: it is told of no more than `rate`, whatever the
    /// algorithm says. Where nothing is marked, measured or answered nothing is told.
    pub fn hold_to(&mut self, slot: Slot, rate: CellRate) {
        let Some(active) = self.active.as_deref_mut() else { return };
        let held_to = &mut active.marking.get_or_insert_default().held_to;
        let place = slot.0 as usize;
        held_to.resize(held_to.len().max(place + 1), RateCode::MAX);
        held_to[place] = RateCode::floor(rate);
    }

    /// The scheduler weighs categories by these `weights`, or follows what is booked for GFR and UBR if there are none:
    /// it tells of what it [sends](PortControl::on_sent).
    pub fn watch_sent(&mut self, weights: Option<[Weight; 3]>) {
        if let Some(active) = self.active.as_deref_mut() {
            active.meter.watch_sent(weights);
        }
    }

    /// A cell of another category has been sent whole, where the scheduler tells of them: one of CBR or VBR if
    /// `guaranteed`, one of GFR or UBR if not; `booked` if it went before ABR because so much is booked.
    #[inline]
    pub fn on_sent(&mut self, guaranteed: bool, booked: bool) {
        let Some(sent) = self.active.as_deref_mut().and_then(|active| active.meter.sent()) else { return };
        match (sent.weights.is_some(), guaranteed) {
            (false, _) => sent.booked += u64::from(booked),
            (true, true) => sent.guaranteed += 1,
            (true, false) => sent.ubr += 1,
        }
    }

    /// The line takes `link_rate` from now on. Averaging intervals that end before this instant have
    /// [ended](PortControl::end_intervals); one that ends at it has the new rate.
    #[cold]
    pub fn set_link_rate(&mut self, link_rate: CellRate) {
        if let Some(algorithm) = self.active.as_deref_mut().and_then(|active| active.algorithm.as_dyn_mut()) {
            algorithm.on_link_rate(link_rate);
        }
    }

    /// Whether cells have to be counted: [`on_abr_cell`](PortControl::on_abr_cell) and
    /// [`on_guaranteed_cell`](PortControl::on_guaranteed_cell) may be left out where this is false.
    pub fn needs_meter(&self) -> bool {
        self.interval().is_some()
    }

    /// Averaging intervals of the algorithm, if it has any.
    pub fn interval(&self) -> Option<AveragingInterval> {
        Some(self.algorithm()?.metering()?.interval)
    }

    /// Whether an interval ends at or before `now`: then [`end_intervals`](PortControl::end_intervals) comes before
    /// whatever happens at `now`.
    #[inline]
    pub fn interval_due(&self, now: Time) -> bool {
        self.active.as_ref().is_some_and(|active| active.meter.deadline() <= now)
    }

    /// Reads a word of each cache line of its state, to bring it into the caches before a pass over very many ports.
    /// The value means nothing.
    #[inline]
    pub fn prefetch(&self) -> u64 {
        let Some(Active { meter, algorithm, .. }) = self.active.as_deref() else { return 0 };
        let algorithm = algorithm.as_dyn().map_or(0, Promises::prefetch);
        meter.deadline().as_ps() ^ meter.start().as_ps() ^ algorithm
    }

    /// When the present interval ends; [`Time::NEVER`] when no time ends it. A cell count may end it sooner.
    #[inline]
    pub fn next_deadline(&self) -> Time {
        self.active.as_ref().map_or(Time::NEVER, |active| active.meter.deadline())
    }

    /// Closes every interval that ends at or before `now`, in order. `queue_at` gives the ABR queue at an instant since
    /// the last event \[cells\]; it is asked for instants in order. As nothing arrived since that event, a queue found
    /// empty stays empty, and once the algorithm is at rest too, the remaining intervals are passed over in one step.
    #[cold]
    pub fn end_intervals(&mut self, now: Time, mut queue_at: impl FnMut(Time) -> Cells) {
        let Some(Active { meter, algorithm, .. }) = self.active.as_deref_mut() else { return };
        while meter.deadline() <= now {
            let load = meter.end_interval(queue_at(meter.deadline()));
            let Some(algorithm) = algorithm.as_dyn_mut() else { continue };
            algorithm.on_interval_end(&load, meter);
            if load.is_idle() && algorithm.is_at_rest() {
                meter.skip_idle_intervals(now);
            }
        }
    }

    /// An ABR cell arrived at the port, RM cells included. When it completes the interval's cell count, the interval's
    /// deadline becomes `now`: the next event closes it, with `now` as its end.
    #[inline]
    pub fn on_abr_cell(&mut self, now: Time, slot: Slot) {
        if let Some(active) = &mut self.active {
            active.meter.on_abr_cell(now, slot);
        }
    }

    /// For counting ABR cells that change nothing but counters.
    #[inline]
    pub fn quiet_meter(&mut self) -> QuietMeter<'_> {
        match &mut self.active {
            Some(active) => active.meter.quiet(),
            None => QuietMeter::none(),
        }
    }

    /// A CBR or VBR cell arrived at the port.
    #[inline]
    pub fn on_guaranteed_cell(&mut self) {
        self.on_guaranteed_cells(1);
    }

    /// `count` CBR or VBR cells arrived at the port, since the last interval ended.
    #[inline]
    pub fn on_guaranteed_cells(&mut self, count: u64) {
        if let Some(active) = &mut self.active {
            active.meter.on_guaranteed_cells(count);
        }
    }

    /// An FRM that claims `ccr` arrived; called after [`on_abr_cell`](PortControl::on_abr_cell) for the same cell.
    pub fn on_forward_rm(&mut self, now: Time, slot: Slot, ccr: CellRate) {
        if let Some(Active { meter, algorithm, .. }) = self.active.as_deref_mut()
            && let Some(algorithm) = algorithm.as_dyn_mut()
        {
            algorithm.on_forward_rm(now, slot, ccr, meter);
        }
    }

    /// Whether an FRM may be [told of](PortControl::on_forward_rm) before the cells that came before it in the same
    /// interval are counted.
    #[inline]
    pub fn ignores_open_interval(&self) -> bool {
        self.algorithm().is_none_or(Promises::ignores_open_interval)
    }

    /// Whether the answer to a BRM of this connection at `now` depends on cells that have come since the interval
    /// began, or on the queue: if not, those who tell of cells late need not do so for it.
    #[inline]
    pub fn answer_is_fixed(&self, now: Time, slot: Slot) -> Settled {
        let Some(Active { meter, algorithm, .. }) = self.active.as_deref() else { return Settled::Yes };
        match algorithm.as_dyn() {
            Some(algorithm) if now < meter.deadline() && !meter.limits_cells() => {
                algorithm.answer_is_fixed(slot, meter)
            }
            _ => Settled::No,
        }
    }

    /// A BRM of a connection whose forward direction leaves by this port passes the switch: answers it. `queue` is the
    /// port's ABR queue now; where the [answer is settled](PortControl::answer_is_fixed), it is not read.
    #[inline]
    pub fn on_backward_rm(&mut self, now: Time, slot: Slot, queue: Cells, feedback: &mut Feedback) {
        let Some(Active { meter, algorithm, marking }) = self.active.as_deref_mut() else { return };
        meter.on_backward_rm(slot);
        if let Some(algorithm) = algorithm.as_dyn_mut() {
            algorithm.on_backward_rm(now, slot, queue, meter, feedback);
        }
        if let Some(marking) = marking
            && let Some(&held_to) = marking.held_to.get(slot.0 as usize)
        {
            feedback.limit_to_code(held_to);
        }
    }

    /// Whether data cells can be marked at all.
    #[inline]
    pub fn uses_efci(&self) -> bool {
        self.marking().is_some_and(|marking| marking.efci.is_some())
    }

    /// Whether the data cell that leaves now is marked; `queue` is the ABR queue.
    #[inline]
    pub fn marks_efci(&mut self, queue: Cells) -> bool {
        let efci = self.marking_mut().and_then(|marking| marking.efci.as_mut());
        efci.is_some_and(|efci| efci.marks(queue))
    }

    /// Whether the port originates BRMs at all.
    pub fn originates(&self) -> bool {
        self.marking().is_some_and(|marking| marking.becn.is_some())
    }

    /// The BRM that the port originates because of an ABR cell, forward in the sense of its connection, that has come
    /// and been [told of](PortControl::on_abr_cell), and finds an ABR queue of `queue` cells; `None` if there is to be
    /// none. The algorithm has answered it. It goes to the source of the connection.
    pub fn originate(&mut self, now: Time, slot: Slot, queue: Cells) -> Option<RmCell> {
        let becn = self.marking_mut().and_then(|marking| marking.becn.as_mut())?;
        let mut brm = becn.originate(now, slot, queue)?;
        let RmCell { explicit_rate, congestion_indication, no_increase, .. } = brm;
        let mut feedback = Feedback::new(explicit_rate, congestion_indication, no_increase);
        self.on_backward_rm(now, slot, queue, &mut feedback);
        brm.explicit_rate = feedback.explicit_rate();
        brm.congestion_indication = feedback.congestion_indication();
        brm.no_increase = feedback.no_increase();
        Some(brm)
    }

    /// BRMs that the port has originated.
    pub fn originated(&self) -> u64 {
        self.marking().and_then(|marking| marking.becn.as_ref()).map_or(0, Becn::originated)
    }

    fn marking(&self) -> Option<&Marking> {
        self.active.as_ref()?.marking.as_deref()
    }

    fn marking_mut(&mut self) -> Option<&mut Marking> {
        self.active.as_mut()?.marking.as_deref_mut()
    }

    /// Names of the algorithm's figures, in the order of [`metrics`](PortControl::metrics).
    pub fn metric_names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        self.metrics(|name, _| names.push(name));
        names
    }

    /// The algorithm's figures as they stand: name and value.
    pub fn metrics(&self, mut visit: impl FnMut(&'static str, f64)) {
        if let Some(algorithm) = self.algorithm() {
            algorithm.metrics(&mut visit);
        }
    }

    fn algorithm(&self) -> Option<&dyn SwitchAlgorithm> {
        self.active.as_deref().and_then(|active| active.algorithm.as_dyn())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::{
        AveragingInterval, EricaConfig, IntervalLoad, LoadAveraging, Metering, RelativeRateConfig,
    };
    use crate::units::Duration;
    use alloc::sync::Arc;
    use std::sync::Mutex;

    #[test]
    fn the_state_of_a_port_takes_three_cache_lines_at_most() {
        assert!(size_of::<Active>() <= 192 && size_of::<PortControl>() <= 16);
    }

    fn vc() -> VcAtPort {
        VcAtPort {
            pcr: CellRate::new(100_000.0),
            mcr: CellRate::ZERO,
            weight: 1.0,
            round_trip: Duration::ZERO,
        }
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn erica(config: EricaConfig) -> PortControl {
        let algorithm = SwitchAlgorithmConfig::Erica(Arc::new(config));
        PortControl::new(
            &PortControlConfig { algorithm, ..PortControlConfig::default() },
            CellRate::new(100_000.0),
        )
    }

    fn figures(port: &PortControl) -> Vec<f64> {
        let mut values = Vec::new();
        port.metrics(|_, value| values.push(value));
        values
    }

    /// Keeps every interval it is told of, and grants 1000 cells/s.
    struct Recorder {
        metering: Metering,
        loads: Arc<Mutex<Vec<IntervalLoad>>>,
    }

    impl Promises for Recorder {}

    impl SwitchAlgorithm for Recorder {
        fn metering(&self) -> Option<Metering> {
            Some(self.metering)
        }

        fn on_connect(&mut self, _slot: Slot, _vc: &VcAtPort) {}

        fn on_forward_rm(&mut self, _now: Time, _slot: Slot, _ccr: CellRate, _meter: &Meter) {}

        fn on_backward_rm(&mut self, _: Time, _: Slot, _: Cells, _: &Meter, feedback: &mut Feedback) {
            feedback.limit(CellRate::new(1_000.0));
        }

        fn on_interval_end(&mut self, load: &IntervalLoad, _meter: &Meter) {
            self.loads.lock().unwrap().push(*load);
        }

        fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
            visit("intervals", self.loads.lock().unwrap().len() as f64);
        }
    }

    fn recorder(cells: Option<u32>) -> (PortControl, Arc<Mutex<Vec<IntervalLoad>>>) {
        let loads = Arc::default();
        let interval = AveragingInterval { time: Duration::from_ms(5), cells };
        let recorder = Recorder {
            metering: Metering { interval, bidirectional: false, history: false },
            loads: Arc::clone(&loads),
        };
        (PortControl::with_algorithm(&PortControlConfig::default(), Box::new(recorder)), loads)
    }

    #[test]
    fn a_connection_that_the_port_holds_to_a_rate_is_told_of_no_more() {
        let mut port = erica(EricaConfig::erica());
        let slots = [port.connect(&vc()), port.connect(&vc()), port.connect(&vc())];
        port.hold_to(slots[1], CellRate::new(4096.0));
        let mut er = |slot: Slot, came: f64| {
            let mut feedback = Feedback::new(RateCode::floor(CellRate::new(came)), false, false);
            port.on_backward_rm(Time::ZERO, slot, Cells::ZERO, &mut feedback);
            feedback.explicit_rate().rate().as_cells_per_s()
        };
        assert_eq!(slots.map(|slot| er(slot, 65_536.0)), [65_536.0, 4096.0, 65_536.0]);
        assert_eq!(er(slots[1], 1024.0), 1024.0, "ER is never raised");
    }

    #[test]
    fn what_the_scheduler_sends_of_others_goes_off_what_abr_may_have() {
        let others = |weights, sent: &[(bool, bool, u32)]| {
            let (mut port, loads) = recorder(None);
            port.watch_sent(weights);
            (0..100).for_each(|_| port.on_guaranteed_cell());
            for &(guaranteed, booked, count) in sent {
                (0..count).for_each(|_| port.on_sent(guaranteed, booked));
            }
            port.end_intervals(ms(10), |_| Cells::ZERO);
            let loads = loads.lock().unwrap();
            [0, 1].map(|interval| loads[interval].available(CellRate::new(100_000.0)).as_cells_per_s())
        };
        // 100 CBR cells and 50 of UBR whose turns were booked, in 5 ms; then nothing.
        let by_priority = others(None, &[(true, false, 100), (false, true, 50), (false, false, 70)]);
        assert_eq!(by_priority, [70_000.0, 100_000.0]);
        // By weight what was sent counts: 20,000 of CBR and VBR, and UBR sent more than its half of the rest.
        let weights = Some([Weight::ONE; 3]);
        assert_eq!(others(weights, &[(true, false, 100), (false, false, 350)]), [40_000.0, 100_000.0]);
    }

    #[test]
    fn intervals_end_late_but_with_their_own_end_and_queue() {
        let (mut port, loads) = recorder(None);
        let slot = port.connect(&vc());
        port.on_abr_cell(ms(1), slot);
        assert!(!port.interval_due(Time::from_ps(ms(5).as_ps() - 1)));
        assert!(port.interval_due(ms(5)));
        // The queue drains by one cell per ms from 12 at time 0.
        port.end_intervals(ms(17), |at| Cells(12).saturating_sub(Cells(at.as_ps() / ms(1).as_ps())));
        let ends: Vec<_> =
            loads.lock().unwrap().iter().map(|load| (load.end, load.abr_cells, load.abr_queue.0)).collect();
        assert_eq!(ends, [(ms(5), 1, 7), (ms(10), 0, 2), (ms(15), 0, 0)]);
        assert_eq!(port.next_deadline(), ms(20));
    }

    #[test]
    fn the_count_the_time_or_both_at_once_end_an_interval_once() {
        let (mut port, loads) = recorder(Some(2));
        let slot = port.connect(&vc());
        // By count at 3 ms; then by time at 8 ms with one cell; then the second cell comes exactly at the deadline of
        // 13 ms: that interval ended by time, before it, and the cell counts in the next.
        for at in [1, 3, 4, 9, 13, 14] {
            if port.interval_due(ms(at)) {
                port.end_intervals(ms(at), |_| Cells::ZERO);
            }
            port.on_abr_cell(ms(at), slot);
        }
        assert_eq!(port.next_deadline(), ms(14));
        port.end_intervals(ms(14), |_| Cells::ZERO);
        let ends: Vec<_> = loads.lock().unwrap().iter().map(|load| (load.end, load.abr_cells)).collect();
        assert_eq!(ends, [(ms(3), 2), (ms(8), 1), (ms(13), 1), (ms(14), 2)]);
    }

    #[test]
    fn an_algorithm_that_is_never_at_rest_sees_every_interval() {
        let (mut port, loads) = recorder(None);
        port.end_intervals(ms(5_000), |_| Cells::ZERO);
        assert_eq!(loads.lock().unwrap().len(), 1_000);
        assert_eq!((port.metric_names(), figures(&port)), (["intervals"].to_vec(), [1_000.0].to_vec()));
    }

    #[test]
    fn a_long_idle_time_ends_as_if_every_interval_had_been_ended_by_itself() {
        let averagings = [
            LoadAveraging::None,
            LoadAveraging::Ratio { alpha: 0.3 },
            LoadAveraging::Components { alpha: 0.3 },
        ];
        for load_averaging in averagings {
            let config = EricaConfig {
                load_averaging,
                active_sources: crate::switch::ActiveSources {
                    bidirectional: true,
                    decay: Some(0.9),
                    effective: false,
                },
                measured_ccr: true,
                ..EricaConfig::erica_plus()
            };
            let [mut late, mut prompt] = [(), ()].map(|()| erica(config));
            let queue_at = |at: Time| Cells(90).saturating_sub(Cells(at.as_ps() / ms(1).as_ps()));
            let mut asked = 0;
            for port in [&mut late, &mut prompt] {
                let slot = port.connect(&vc());
                (0..300).for_each(|_| port.on_abr_cell(ms(2), slot));
                port.on_guaranteed_cell();
                port.on_forward_rm(ms(2), slot, CellRate::new(60_000.0));
            }
            late.end_intervals(ms(60_003), |at| {
                asked += 1;
                queue_at(at)
            });
            for boundary in (5..=60_000).step_by(5) {
                prompt.end_intervals(ms(boundary), queue_at);
            }
            assert!(asked < 1_000, "{asked} of 12000 intervals were ended one by one");
            assert_eq!(late.next_deadline(), prompt.next_deadline());
            assert_eq!(figures(&late), figures(&prompt));
            let mut answers = [(); 2].map(|()| Feedback::new(RateCode::MAX, false, false));
            late.on_backward_rm(ms(60_003), Slot(0), Cells::ZERO, &mut answers[0]);
            prompt.on_backward_rm(ms(60_003), Slot(0), Cells::ZERO, &mut answers[1]);
            assert_eq!(answers[0], answers[1]);
            assert_eq!(
                late.active.as_ref().unwrap().meter.interval(),
                prompt.active.as_ref().unwrap().meter.interval()
            );
        }
    }

    #[test]
    fn a_queue_that_still_drains_is_not_passed_over() {
        // ERICA+ without cells but with 1000 cells waiting, one leaving per ms: the last interval that sees a queue is
        // the one that ends at 995 ms, and at 1000 ms f is back at b.
        let mut port = erica(EricaConfig::erica_plus());
        let mut last = (Time::ZERO, Cells::ZERO);
        port.end_intervals(ms(2_000), |at| {
            let queue = Cells(1_000).saturating_sub(Cells(at.as_ps() / ms(1).as_ps()));
            if queue > Cells::ZERO {
                last = (at, queue);
            }
            queue
        });
        assert_eq!(last, (ms(995), Cells(5)));
        assert_eq!(figures(&port)[3], 105_000.0);
    }

    #[test]
    fn an_answer_of_erica_is_settled_until_the_interval_ends() {
        let limited = AveragingInterval::of_time_or_cells(Duration::from_ms(5), 500);
        for (config, stands) in [
            (EricaConfig::erica(), true),
            (EricaConfig::erica_plus(), true),
            (EricaConfig { immediate_fair_share: true, ..EricaConfig::erica() }, false),
            (EricaConfig { interval: limited, ..EricaConfig::erica() }, false),
        ] {
            let interval = Duration::from_ms(5);
            let config = match stands {
                true => EricaConfig { interval: AveragingInterval::of_time(interval), ..config },
                false => config,
            };
            let mut port = erica(config);
            let slot = port.connect(&vc());
            let answer = |port: &mut PortControl, now, queue| {
                let mut feedback = Feedback::new(RateCode::MAX, false, false);
                port.on_backward_rm(now, slot, Cells(queue), &mut feedback);
                feedback.explicit_rate()
            };
            let before = if stands { Settled::ButForForwardRms } else { Settled::No };
            assert_eq!(port.answer_is_fixed(ms(1), slot), before, "nothing has been answered: {config:?}");
            if stands {
                // Cells and the queue do not change it: the same as if there were none.
                let mut other = erica(config);
                other.connect(&vc());
                other.on_forward_rm(ms(1), slot, CellRate::new(70_000.0));
                port.on_forward_rm(ms(1), slot, CellRate::new(70_000.0));
                (0..100).for_each(|_| port.on_abr_cell(ms(1), slot));
                assert_eq!(answer(&mut port, ms(1), 300), answer(&mut other, ms(1), 0));
            }
            let first = answer(&mut port, ms(1), 0);
            let after = if stands { Settled::Yes } else { Settled::No };
            assert_eq!(port.answer_is_fixed(ms(2), slot), after, "{config:?}");
            if !stands {
                continue;
            }
            // Neither cells nor a claim nor the queue change it.
            (0..200).for_each(|_| port.on_abr_cell(ms(2), slot));
            port.on_forward_rm(ms(2), slot, CellRate::new(50_000.0));
            assert_eq!(answer(&mut port, ms(3), 1000), first);
            assert_eq!(
                port.answer_is_fixed(Time::ZERO + interval, slot),
                Settled::No,
                "the interval is over"
            );
        }
    }

    #[test]
    fn the_default_port_does_nothing() {
        let mut port = PortControl::new(&PortControlConfig::default(), CellRate::new(100_000.0));
        let slot = port.connect(&vc());
        port.on_abr_cell(ms(1), slot);
        port.on_forward_rm(ms(1), slot, CellRate::new(5.0));
        let mut feedback = Feedback::new(RateCode::MAX, false, true);
        port.on_backward_rm(ms(1), slot, Cells(1_000_000), &mut feedback);
        assert_eq!(feedback, Feedback::new(RateCode::MAX, false, true));
        assert_eq!((port.needs_meter(), port.uses_efci(), port.marks_efci(Cells(9))), (false, false, false));
        assert_eq!((port.next_deadline(), port.metric_names().len()), (Time::NEVER, 0));
    }

    #[test]
    fn efci_works_beside_any_algorithm() {
        let efci = Some(EfciConfig { high: Cells(127), low: Cells(100) });
        let algorithm = SwitchAlgorithmConfig::Erica(Arc::default());
        let mut port = PortControl::new(
            &PortControlConfig { efci, algorithm, ..PortControlConfig::default() },
            CellRate::new(100_000.0),
        );
        assert!(port.uses_efci() && port.needs_meter());
        assert_eq!([128, 101, 100].map(|queue| port.marks_efci(Cells(queue))), [true, true, false]);
    }

    #[test]
    fn the_check_reaches_every_part() {
        let check = |efci, algorithm| {
            PortControlConfig { efci, algorithm, ..PortControlConfig::default() }
                .check()
                .map_err(|error| error.name)
        };
        let efci = EfciConfig { high: Cells(1), low: Cells(2) };
        assert_eq!(check(Some(efci), SwitchAlgorithmConfig::None), Err("low"));
        let relative_rate = RelativeRateConfig::new(Cells(0));
        assert_eq!(check(None, SwitchAlgorithmConfig::RelativeRate(relative_rate)), Err("threshold"));
        let erica = EricaConfig { delta: -0.1, ..EricaConfig::erica() };
        assert_eq!(check(None, SwitchAlgorithmConfig::Erica(Arc::new(erica))), Err("delta"));
        assert_eq!(check(None, SwitchAlgorithmConfig::None), Ok(()));
    }
}

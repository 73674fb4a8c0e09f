//! The built-in algorithms as somebody would write them who knows nothing of what may be told late: every question of
//! [`SwitchAlgorithm`] that has a default has it.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod sources;
pub mod threads;

use cellrate_proto::CellRate;
use cellrate_proto::switch::{
    AveragingInterval, Feedback, IntervalLoad, Meter, Metering, Promises, Slot, SwitchAlgorithm,
    SwitchAlgorithmConfig, VcAtPort,
};
use cellrate_proto::{Cells, Duration, Time};

/// One of them.
pub struct Plain(Box<dyn SwitchAlgorithm + Send>);

impl Promises for Plain {}

impl SwitchAlgorithm for Plain {
    fn metering(&self) -> Option<Metering> {
        self.0.metering()
    }

    fn on_connect(&mut self, slot: Slot, vc: &VcAtPort) {
        self.0.on_connect(slot, vc);
    }

    fn on_forward_rm(&mut self, now: Time, slot: Slot, ccr: CellRate, meter: &Meter) {
        self.0.on_forward_rm(now, slot, ccr, meter);
    }

    fn on_backward_rm(
        &mut self,
        now: Time,
        slot: Slot,
        queue: Cells,
        meter: &Meter,
        feedback: &mut Feedback,
    ) {
        self.0.on_backward_rm(now, slot, queue, meter, feedback);
    }

    fn on_link_rate(&mut self, link_rate: CellRate) {
        self.0.on_link_rate(link_rate);
    }

    fn on_interval_end(&mut self, load: &IntervalLoad, meter: &Meter) {
        self.0.on_interval_end(load, meter);
    }

    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.0.metrics(visit);
    }
}

/// Answers by the cells that had come in the interval when the last FRM passed: an FRM cannot be told of before them.
#[derive(Default)]
pub struct Counting {
    cells: u64,
    /// It promises what it does not keep: that claims do not hang on the cells before them.
    breaks_a_promise: bool,
}

impl Counting {
    /// Nothing counted yet.
    pub fn promising(breaks_a_promise: bool) -> Counting {
        Counting { cells: 0, breaks_a_promise }
    }
}

impl Promises for Counting {
    fn ignores_open_interval(&self) -> bool {
        self.breaks_a_promise
    }
}

impl SwitchAlgorithm for Counting {
    fn metering(&self) -> Option<Metering> {
        let interval = AveragingInterval::of_time(Duration::from_us(700));
        Some(Metering { interval, bidirectional: false, history: false })
    }

    fn on_connect(&mut self, _: Slot, _: &VcAtPort) {}

    fn on_forward_rm(&mut self, _: Time, _: Slot, _: CellRate, meter: &Meter) {
        self.cells = meter.abr_cells();
    }

    fn on_backward_rm(&mut self, _: Time, _: Slot, _: Cells, _: &Meter, feedback: &mut Feedback) {
        feedback.limit(CellRate::new(2_000.0 + 500.0 * (self.cells % 64) as f64));
    }

    fn on_interval_end(&mut self, _: &IntervalLoad, _: &Meter) {}

    fn metrics(&self, _: &mut dyn FnMut(&'static str, f64)) {}
}

/// The algorithm of `config`, if it has one, at the port of a line that takes `link_rate`.
pub fn plain(config: &SwitchAlgorithmConfig, link_rate: CellRate) -> Option<Box<dyn SwitchAlgorithm + Send>> {
    config.boxed(link_rate).map(|algorithm| -> Box<dyn SwitchAlgorithm + Send> { Box::new(Plain(algorithm)) })
}

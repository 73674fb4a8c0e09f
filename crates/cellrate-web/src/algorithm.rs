//! Switch algorithms written in JavaScript: `web/src/algorithm.ts` says what they are, here they are called.

use std::cell::RefCell;
use std::collections::BTreeSet;

use cellrate_engine::plugins::AlgorithmPort;
use cellrate_proto::switch::{
    AveragingInterval, Feedback, IntervalLoad, Meter, Metering, Promises, RoundTrips, Slot, SwitchAlgorithm,
    VcAtPort,
};
use cellrate_proto::{CellRate, Cells, Duration, Time};
use cellrate_scenario::{CustomAlgorithm, CustomParameter, least_interval};
use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// One algorithm at one port, adapted: it checks what its author's object gives.
    pub type Adapted;

    #[wasm_bindgen(method, getter)]
    fn interval_s(this: &Adapted) -> Option<f64>;
    #[wasm_bindgen(method, getter)]
    fn interval_cells(this: &Adapted) -> Option<u32>;
    #[wasm_bindgen(method, getter)]
    fn counts_vcs(this: &Adapted) -> bool;
    #[wasm_bindgen(method, catch)]
    fn on_connect(this: &Adapted, vc: u32, pcr: f64, mcr: f64, weight: f64) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    fn on_forward_rm(this: &Adapted, now: f64, vc: u32, ccr: f64, running: Box<[f64]>)
    -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    fn on_link_rate(this: &Adapted, link_rate: f64) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    fn on_interval_end(this: &Adapted, load: Box<[f64]>, vc_cells: Box<[f64]>) -> Result<(), JsValue>;
    /// ER at most (negative: as it is), CI, NI.
    #[wasm_bindgen(method, catch)]
    fn on_backward_rm(
        this: &Adapted,
        now: f64,
        vc: u32,
        queue: f64,
        running: Box<[f64]>,
    ) -> Result<Box<[f64]>, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn figures(this: &Adapted) -> Result<Box<[f64]>, JsValue>;

    /// Function that makes them: called with the name, the port, its link rate [cells/s], parameters as JSON text and
    /// names of figures.
    pub type Maker;

    #[wasm_bindgen(method, catch)]
    fn make(
        this: &Maker,
        name: &str,
        port: &str,
        link_rate: f64,
        parameters: &str,
        figures: Vec<String>,
    ) -> Result<Adapted, JsValue>;
}

thread_local! {
    // Values of JavaScript belong to one thread, algorithms may be sent to others: they hold numbers of places here.
    static MAKER: RefCell<Option<Maker>> = const { RefCell::new(None) };
    static ADAPTED: RefCell<Vec<Adapted>> = const { RefCell::new(Vec::new()) };
    static FAILURE: RefCell<Option<JsValue>> = const { RefCell::new(None) };
    static NAMES: RefCell<BTreeSet<&'static [&'static str]>> = const { RefCell::new(BTreeSet::new()) };
}

/// Forgets the algorithms of the last run, and what they threw; those of the next are made by `maker`.
pub fn begin(maker: Option<Maker>) {
    MAKER.set(maker);
    ADAPTED.with_borrow_mut(Vec::clear);
    FAILURE.take();
}

/// The first thing that an algorithm threw; nothing is called any more then.
pub fn failure() -> Option<JsValue> {
    FAILURE.with_borrow(Clone::clone)
}

/// The one that is made for a port, or one that does nothing if making it throws; none where the run has no maker.
pub fn make(custom: &CustomAlgorithm, port: AlgorithmPort<'_>) -> Option<Box<dyn SwitchAlgorithm + Send>> {
    let figures = interned(&custom.figures);
    let parameters = custom.parameters.iter().map(|(name, value)| {
        let value = match value {
            CustomParameter::Boolean(flag) => Value::from(*flag),
            CustomParameter::Integer(number) => Value::from(*number),
            CustomParameter::Number(number) => Value::from(*number),
            CustomParameter::Text(text) => Value::from(text.as_str()),
        };
        (name.clone(), value)
    });
    let parameters = Value::Object(Map::from_iter(parameters)).to_string();
    let link_rate = port.link_rate.as_cells_per_s();
    let made = MAKER.with_borrow(|maker| {
        let maker = maker.as_ref()?;
        Some(attempt(|| maker.make(&custom.name, port.name, link_rate, &parameters, custom.figures.clone())))
    })?;
    let (mut measured, mut place) = (metering(None, None, false), None);
    let least = least_interval(port.link_rate.interval());
    let short = |adapted: &Adapted| {
        adapted.interval_s().filter(|&interval_s| Duration::from_secs_f64(interval_s) < least)
    };
    if let Some(interval_s) = made.as_ref().and_then(short) {
        let (name, port) = (&custom.name, port.name);
        let message = format!(
            "the interval of the algorithm \"{name}\" of port {port} is {interval_s} s; it must be at least {least}"
        );
        FAILURE.set(Some(js_sys::Error::new(&message).into()));
    } else if let Some(adapted) = made {
        measured = metering(adapted.interval_s(), adapted.interval_cells(), adapted.counts_vcs());
        place = Some(ADAPTED.with_borrow_mut(|all| {
            all.push(adapted);
            all.len() - 1
        }));
    }
    Some(Box::new(JavaScriptAlgorithm {
        place,
        metering: measured,
        figures,
        connections: 0,
        round_trips: RoundTrips::default(),
    }))
}

/// How an algorithm has its port measured. Without any interval, too: who is not metered does not hear of FRMs.
fn metering(interval_s: Option<f64>, cells: Option<u32>, history: bool) -> Metering {
    let time = interval_s.map_or(Duration::FOREVER, Duration::from_secs_f64);
    Metering { interval: AveragingInterval { time, cells }, bidirectional: false, history }
}

/// Calls into JavaScript, unless something has gone wrong there; `None` if something has or does.
fn attempt<T>(call: impl FnOnce() -> Result<T, JsValue>) -> Option<T> {
    if FAILURE.with_borrow(Option::is_some) {
        return None;
    }
    match call() {
        Ok(value) => Some(value),
        Err(thrown) => {
            FAILURE.set(Some(thrown));
            None
        }
    }
}

/// One of them at one port.
struct JavaScriptAlgorithm {
    place: Option<usize>,
    metering: Metering,
    figures: &'static [&'static str],
    connections: u32,
    round_trips: RoundTrips,
}

impl JavaScriptAlgorithm {
    fn call<T>(&self, call: impl FnOnce(&Adapted) -> Result<T, JsValue>) -> Option<T> {
        let place = self.place?;
        ADAPTED.with_borrow(|all| attempt(|| call(&all[place])))
    }
}

/// Start \[s\], ABR cells, CBR and VBR cells, active connections, cells of one connection, since the interval began.
fn running(slot: Slot, meter: &Meter) -> Box<[f64]> {
    let counts = [meter.abr_cells(), meter.guaranteed_cells(), u64::from(meter.active()), meter.cells(slot)];
    let counts = counts.map(|count| count as f64);
    [&[meter.start().as_secs_f64()][..], &counts].concat().into()
}

impl Promises for JavaScriptAlgorithm {}

impl SwitchAlgorithm for JavaScriptAlgorithm {
    fn metering(&self) -> Option<Metering> {
        Some(self.metering)
    }

    fn on_connect(&mut self, slot: Slot, vc: &VcAtPort) {
        self.connections += 1;
        self.round_trips.connect(vc);
        let [pcr, mcr] = [vc.pcr, vc.mcr].map(CellRate::as_cells_per_s);
        self.call(|adapted| adapted.on_connect(slot.0, pcr, mcr, vc.weight));
    }

    fn on_forward_rm(&mut self, now: Time, slot: Slot, ccr: CellRate, meter: &Meter) {
        let (now, ccr) = (now.as_secs_f64(), ccr.as_cells_per_s());
        self.call(|adapted| adapted.on_forward_rm(now, slot.0, ccr, running(slot, meter)));
    }

    fn on_backward_rm(
        &mut self,
        now: Time,
        slot: Slot,
        queue: Cells,
        meter: &Meter,
        feedback: &mut Feedback,
    ) {
        let (now, queue) = (now.as_secs_f64(), queue.0 as f64);
        let answer = self.call(|adapted| adapted.on_backward_rm(now, slot.0, queue, running(slot, meter)));
        let Some(&[er, ci, ni]) = answer.as_deref() else { return };
        if er >= 0.0 {
            feedback.limit(CellRate::new(er));
        }
        if ci != 0.0 {
            feedback.indicate_congestion();
        }
        if ni != 0.0 {
            feedback.forbid_increase();
        }
    }

    fn on_link_rate(&mut self, link_rate: CellRate) {
        self.call(|adapted| adapted.on_link_rate(link_rate.as_cells_per_s()));
    }

    fn on_interval_end(&mut self, load: &IntervalLoad, meter: &Meter) {
        let counted = if self.metering.history { self.connections } else { 0 };
        let vc_cells = (0..counted).map(|slot| meter.previous_cells(Slot(slot)) as f64).collect();
        let round_trips = self.round_trips.of_last_interval(meter).filter(|_| self.metering.history);
        let mut told = vec![
            load.start.as_secs_f64(),
            load.end.as_secs_f64(),
            load.length().as_secs_f64(),
            load.abr_cells as f64,
            load.guaranteed_cells as f64,
            f64::from(load.active),
            load.abr_queue.0 as f64,
            round_trips.map_or(f64::NAN, |round_trips| round_trips.mean),
            round_trips.map_or(f64::NAN, |round_trips| round_trips.longest),
        ];
        told.extend(load.others().terms().flat_map(|term| [term.part, term.first.as_cells_per_s()]));
        self.call(|adapted| adapted.on_interval_end(told.as_slice().into(), vc_cells));
    }

    fn metrics(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let values = self.call(Adapted::figures);
        for (name, value) in self.figures.iter().zip(values.unwrap_or_default()) {
            visit(name, value);
        }
    }
}

/// Names that stay for as long as the page does: the same ones take room once.
fn interned(names: &[String]) -> &'static [&'static str] {
    NAMES.with_borrow_mut(|known| {
        let found = known.iter().find(|known| known.iter().eq(names.iter())).copied();
        found.unwrap_or_else(|| {
            let leaked = names.iter().map(|name| &*name.clone().leak()).collect::<Vec<&'static str>>().leak();
            known.insert(leaked);
            leaked
        })
    })
}

//! A run in steps, and what it tells.

use std::sync::Arc;

use cellrate_engine::plugins::Plugins;
use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Every, FlowQuantity, PortQuantity, Probe, Quantity, Scenario, Sender};
use cellrate_sim::{Passing, RunError, Steps, Traveller, series_of};
use js_sys::{Float64Array, Object, Reflect, Uint32Array};
use serde_json::json;
use wasm_bindgen::prelude::*;

use crate::algorithm::{self, Maker};
use crate::setup::Setup;

/// A run of a scenario that goes on when it is told to.
#[wasm_bindgen]
pub struct Run {
    steps: Option<Steps>,
    /// How many values of each series have been given.
    given: Vec<usize>,
    /// Series of the scenario; what is recorded for the picture comes behind them.
    own: usize,
    pictured: String,
}

/// Error of a run as JSON text.
pub(crate) fn thrown(error: &RunError) -> JsValue {
    JsValue::from_str(&json!({ "message": error.to_string() }).to_string())
}

/// Most ABR connections whose ACRs are recorded for the picture, which tells them of a link that few connections cross.
const MOST_RATES: usize = 400;

/// Series that a picture of the network needs beside those of the scenario: queue and utilization of each port that
/// carries cells; ACR of each ABR connection, where there are no more than [`MOST_RATES`].
fn picture(scenario: &Scenario, every: Duration) -> Vec<Probe> {
    let every = Every::Interval(every);
    let ports = cellrate_sim::tap::ports(scenario).into_iter().flat_map(|step| {
        [PortQuantity::Queue, PortQuantity::Utilization]
            .map(|quantity| Probe { quantity: Quantity::Port { quantity, port: step.port() }, every })
    });
    let is_abr = |flow: &cellrate_scenario::FlowIndex| {
        !flow.is_backward() && matches!(scenario.flow(*flow).sender, Sender::Abr(_))
    };
    let senders: Vec<_> = scenario.flows().filter(is_abr).take(MOST_RATES + 1).collect();
    let few = if senders.len() > MOST_RATES { &[] } else { &senders[..] };
    let rates = few.iter().map(|&flow| {
        let quantity = FlowQuantity::Acr;
        Probe { quantity: Quantity::Flow { quantity, flow }, every }
    });
    ports.chain(rates).collect()
}

#[wasm_bindgen]
impl Run {
    /// Begins a run. Where `picture_s` is above 0, what a picture of the network needs is recorded at that interval,
    /// too; no figure of the summary changes, but for the number of events. If `follow`, steps tell which cells left
    /// which ports from network time `follow_from_s` on.
    ///
    /// # Errors
    /// What keeps it from running, as JSON text; what an algorithm throws when it is made.
    #[wasm_bindgen(constructor)]
    pub fn new(
        setup: &Setup,
        picture_s: f64,
        follow: bool,
        follow_from_s: f64,
        maker: Option<Maker>,
    ) -> Result<Run, JsValue> {
        let mut scenario = setup.scenario()?;
        let own = scenario.probes.len();
        if picture_s > 0.0 {
            let probes = picture(&scenario, Duration::from_secs_f64(picture_s));
            scenario.probes.extend(probes);
        }
        let pictured: Vec<_> = series_of(&scenario).split_off(own);
        algorithm::begin(maker);
        let plugins = Plugins { algorithms: &algorithm::make, ..Plugins::default() };
        let given_values = vec![0; scenario.probes.len()];
        let mut steps = Steps::new(Arc::new(scenario), plugins, follow).map_err(|error| thrown(&error))?;
        if follow {
            steps.follow_from(Time::ZERO + Duration::from_secs_f64(follow_from_s));
        }
        if let Some(failure) = algorithm::failure() {
            return Err(failure);
        }
        Ok(Run { steps: Some(steps), given: given_values, own, pictured: json!(pictured).to_string() })
    }

    /// Series recorded for the picture, as JSON text: probe, entity and unit of each. They are numbered behind those of
    /// the scenario.
    #[wasm_bindgen(getter)]
    pub fn pictured(&self) -> String {
        self.pictured.clone()
    }

    /// How many series the scenario has.
    #[wasm_bindgen(getter)]
    pub fn own(&self) -> usize {
        self.own
    }

    /// How far it has got \[s\].
    #[wasm_bindgen(getter)]
    pub fn now(&self) -> f64 {
        self.steps.as_ref().map_or(f64::INFINITY, |steps| steps.now().as_secs_f64())
    }

    /// Whether nothing is left to run.
    #[wasm_bindgen(getter)]
    pub fn is_over(&self) -> bool {
        self.steps.as_ref().is_none_or(Steps::is_over)
    }

    /// Goes on until `until_s` or a little further, and gives what has come: `now` \[s\]; `counts` and `samples` of
    /// series, see [`Packed`]; `at` \[s\], `ports` and `cells` of cells that have left ports.
    ///
    /// # Errors
    /// What an algorithm throws.
    pub fn advance(&mut self, until_s: f64) -> Result<Object, JsValue> {
        let Some(steps) = &mut self.steps else { return Err(JsValue::from_str("the run has been ended")) };
        let step = steps.advance(Time::ZERO.saturating_add(Duration::from_secs_f64(until_s)));
        if let Some(failure) = algorithm::failure() {
            self.steps = None;
            return Err(failure);
        }
        let mut packed = Packed::default();
        for part in &step.recent {
            self.given[part.probe] += part.values.len();
            packed.push(part.probe, &part.times_ps, &part.values);
        }
        let told = packed.told()?;
        set(&told, "now", &JsValue::from_f64(step.now.as_secs_f64()))?;
        let at: Vec<f64> = step.passing.iter().map(|passing| passing.at.as_secs_f64()).collect();
        let ports: Vec<u32> = step.passing.iter().map(|passing| passing.port.0).collect();
        let cells: Vec<u32> = step.passing.iter().map(word).collect();
        set(&told, "at", &Float64Array::from(&at[..]))?;
        set(&told, "ports", &Uint32Array::from(&ports[..]))?;
        set(&told, "cells", &Uint32Array::from(&cells[..]))?;
        Ok(told)
    }

    /// Runs what is left, and gives the `summary` as JSON text and `counts` and `samples` of what series have beyond
    /// what has been told.
    ///
    /// # Errors
    /// What an algorithm throws; a defect of the simulator.
    pub fn finish(&mut self) -> Result<Object, JsValue> {
        let Some(steps) = self.steps.take() else { return Err(JsValue::from_str("the run has been ended")) };
        let result = steps.finish().map_err(|error| thrown(&error))?;
        if let Some(failure) = algorithm::failure() {
            return Err(failure);
        }
        let mut packed = Packed::default();
        for (probe, series) in result.series.iter().enumerate() {
            let known = self.given[probe];
            if series.values.len() > known {
                packed.push(probe, &series.times_ps[known..], &series.values[known..]);
            }
        }
        let summary =
            serde_json::to_string(&result.summary).map_err(|error| JsValue::from_str(&error.to_string()))?;
        let told = packed.told()?;
        set(&told, "summary", &JsValue::from_str(&summary))?;
        Ok(told)
    }
}

fn set(told: &Object, name: &str, value: &JsValue) -> Result<(), JsValue> {
    Reflect::set(told, &JsValue::from_str(name), value).map(drop)
}

/// New samples of all series in two arrays. A pair of arrays for each series would be hundreds of buffers to hand over
/// in each message of the worker, which took a quarter of its time.
#[derive(Default)]
struct Packed {
    /// Number of each series and how many samples it has here.
    counts: Vec<u32>,
    /// The series one behind the other: all instants \[s\] of one, then its values.
    samples: Vec<f64>,
}

impl Packed {
    fn push(&mut self, probe: usize, times_ps: &[u64], values: &[f64]) {
        self.counts.extend([probe as u32, values.len() as u32]);
        self.samples.extend(times_ps.iter().map(|&ps| Time::from_ps(ps).as_secs_f64()));
        self.samples.extend(values);
    }

    fn told(&self) -> Result<Object, JsValue> {
        let told = Object::new();
        set(&told, "counts", &Uint32Array::from(&self.counts[..]))?;
        set(&told, "samples", &Float64Array::from(&self.samples[..]))?;
        Ok(told)
    }
}

/// Cells are told apart by the lowest three bits of a word: data 0, with EFCI 1; forward RM 2; OAM 3; backward RM 4,
/// with CI 1 more, with NI 2 more. The fourth bit says that the line lost it; the direction that it goes in is above.
fn word(passing: &Passing) -> u32 {
    let kind = match passing.cell {
        Traveller::Data { efci } => u32::from(efci),
        Traveller::ForwardRm => 2,
        Traveller::Oam => 3,
        Traveller::BackwardRm { ci, ni } => 4 | u32::from(ci) | u32::from(ni) << 1,
    };
    passing.flow.0 << 4 | u32::from(passing.lost) << 3 | kind
}

//! A scenario as it is written, checked and described before a run.

use cellrate_engine::names::port_name;
use cellrate_engine::plugins::wanted;
use cellrate_engine::topology::Topology;
use cellrate_scenario::fair::{Bottleneck, FairShare, max_min, max_min_over_time};
use cellrate_scenario::{Document, Scenario, ScenarioError};
use cellrate_sim::series_of;
use serde_json::json;
use wasm_bindgen::prelude::*;

/// A scenario document.
#[wasm_bindgen]
pub struct Setup {
    document: Document,
}

/// Error of a scenario as JSON text: file, line, column, width, key, message, remedy, and the whole as a terminal shows
/// it.
fn thrown(error: &ScenarioError) -> JsValue {
    let told = json!({
        "file": error.file(),
        "line": error.line(),
        "column": error.column(),
        "width": error.width(),
        "key": error.key(),
        "message": error.message(),
        "remedy": error.remedy(),
        "text": error.to_string(),
    });
    JsValue::from_str(&told.to_string())
}

#[wasm_bindgen]
impl Setup {
    /// Reads a scenario; `file` is the name that errors give.
    ///
    /// # Errors
    /// What is wrong with it, as JSON text.
    pub fn parse(text: &str, file: &str) -> Result<Setup, JsValue> {
        let document = Document::parse(text, file).map_err(|error| thrown(&error))?;
        Ok(Setup { document })
    }

    /// Gives the key at a dotted path a value, as `--set` does.
    ///
    /// # Errors
    /// What is wrong with path or value, as JSON text.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), JsValue> {
        self.document.set(path, value).map_err(|error| thrown(&error))
    }

    /// Points of the sweep as JSON text: lists of pairs of path and value. One empty list where there is no sweep.
    ///
    /// # Errors
    /// What is wrong with the sweep, as JSON text.
    pub fn points(&self) -> Result<String, JsValue> {
        let points = self.document.points().map_err(|error| thrown(&error))?;
        Ok(json!(points.into_iter().map(|point| point.set).collect::<Vec<_>>()).to_string())
    }

    /// Becomes the point of its sweep at that place.
    ///
    /// # Errors
    /// What is wrong with the sweep, as JSON text; there is no such point.
    pub fn take_point(&mut self, place: usize) -> Result<(), JsValue> {
        let mut points = self.document.points().map_err(|error| thrown(&error))?;
        if place >= points.len() {
            return Err(JsValue::from_str(&format!(
                "the sweep has {} points, not {}",
                points.len(),
                place + 1
            )));
        }
        self.document = points.swap_remove(place).document;
        Ok(())
    }

    /// The document as TOML, settings applied, comments not.
    pub fn to_toml(&self) -> String {
        self.document.to_toml()
    }

    /// The document as JSON text.
    pub fn to_json(&self) -> String {
        self.document.to_json().to_string()
    }

    /// Description of the run as JSON text: name, purpose, duration, seed, hash, network, series, max-min fair rates
    /// (none where a port's MCRs exceed what it has), and what is not built in.
    ///
    /// # Errors
    /// What does not fit together, as JSON text.
    pub fn describe(&self) -> Result<String, JsValue> {
        let scenario = self.scenario()?;
        let names = series_of(&scenario).into_iter().zip(&scenario.probes);
        let series: Vec<_> = names
            .map(|((probe, entity, unit), from)| {
                let interval = from.every.interval().map(|interval| interval.as_secs_f64());
                json!({ "probe": probe, "entity": entity, "unit": unit, "every_s": interval })
            })
            .collect();
        let fair = max_min(&scenario, None).unwrap_or_default();
        let spans = max_min_over_time(&scenario, None).unwrap_or_default();
        let rate_in = |shares: &[FairShare], flow| {
            shares.iter().find(|share| share.flow == flow).map(|share| share.rate.as_cells_per_s())
        };
        let levels: Vec<_> = fair
            .into_iter()
            .map(|share| {
                let port = match share.bottleneck {
                    Bottleneck::Port(port) | Bottleneck::Shaping(port) => Some(port_name(&scenario, port)),
                    Bottleneck::PeakCellRate => None,
                };
                let entity = cellrate_engine::names::flow_name(&scenario, share.flow);
                let mut steps: Vec<_> = spans
                    .iter()
                    .map(|(at, shares)| (at.as_secs_f64(), rate_in(shares, share.flow)))
                    .collect();
                // Where others come and go elsewhere, nothing changes here.
                steps.dedup_by_key(|&mut (_, rate)| rate);
                json!({ "entity": entity, "rate": share.rate.as_cells_per_s(), "steps": steps, "port": port })
            })
            .collect();
        let customs: Vec<_> = wanted(&scenario, |_| true)
            .into_iter()
            .map(|custom| json!({ "kind": custom.kind.to_string(), "name": custom.name, "owner": custom.owner }))
            .collect();
        let told = json!({
            "name": scenario.name,
            "purpose": scenario.purpose,
            "duration_s": scenario.duration.as_secs_f64(),
            "seed": scenario.seed,
            "hash": self.document.hash(),
            "topology": Topology::of(&scenario),
            "series": series,
            "levels": levels,
            "customs": customs,
        });
        Ok(told.to_string())
    }
}

impl Setup {
    /// The scenario, checked for a run in simulated time.
    pub(crate) fn scenario(&self) -> Result<Scenario, JsValue> {
        self.document.resolve_for_simulation().map_err(|error| thrown(&error))
    }
}

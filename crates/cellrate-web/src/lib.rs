//! The simulator for a page in a browser: scenarios are read and checked, runs go on in steps. Texts that have
//! structure cross as JSON, columns as typed arrays. Nothing here decides anything: what a scenario says is
//! `cellrate_scenario`'s to know, and what happens `cellrate_sim`'s.

mod algorithm;
mod explain;
mod run;
mod setup;

use wasm_bindgen::prelude::*;

pub use explain::Explained;
pub use run::Run;
pub use setup::Setup;

/// The JSON Schema of scenarios, as JSON text.
#[wasm_bindgen]
pub fn schema() -> String {
    cellrate_scenario::schema().to_string()
}

/// The version of cellrate that this was built from.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

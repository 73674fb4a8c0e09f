//! Why a source has its ACR, for the panels of the page.

use std::ops::ControlFlow;
use std::sync::Arc;

use cellrate_engine::plugins::Plugins;
use cellrate_proto::{Duration, Time};
use cellrate_sim::{Explaining, explainable};
use wasm_bindgen::prelude::*;

use crate::algorithm::{self, Maker};
use crate::run::thrown;
use crate::setup::Setup;

/// Steps of ACR that are kept, so that earlier instants are answered without another run: some 10 MB.
const MOST: usize = 10_000;

/// A run that is repeated to explain the ACR of one source. It goes on as far as it is asked.
#[wasm_bindgen]
pub struct Explained {
    explaining: Explaining,
}

fn instant(at_s: f64) -> Time {
    Time::ZERO.saturating_add(Duration::from_secs_f64(at_s))
}

#[wasm_bindgen]
impl Explained {
    /// Begins to explain the source of the direction `vc`; `maker` as for a run.
    ///
    /// # Errors
    /// What keeps it from running, as JSON text; what an algorithm throws when it is made; no ABR source is called so.
    #[wasm_bindgen(constructor)]
    pub fn new(setup: &Setup, vc: &str, maker: Option<Maker>) -> Result<Explained, JsValue> {
        let scenario = Arc::new(setup.scenario()?);
        let Some((_, flow)) = explainable(&scenario).into_iter().find(|(name, _)| name == vc) else {
            return Err(JsValue::from_str(&format!("no ABR source is called {vc}")));
        };
        algorithm::begin(maker);
        let plugins = Plugins { algorithms: &algorithm::make, ..Plugins::default() };
        let begun = Explaining::begin(&scenario, plugins, flow, MOST);
        if let Some(failure) = algorithm::failure() {
            return Err(failure);
        }
        Ok(Explained { explaining: begun.map_err(|error| thrown(&error))? })
    }

    /// Whether nothing can come any more that belongs to an answer for `at_s`.
    pub fn reached(&self, at_s: f64) -> bool {
        self.explaining.is_over() || self.explaining.now() > instant(at_s)
    }

    /// How far it has got \[s\].
    #[wasm_bindgen(getter)]
    pub fn now(&self) -> f64 {
        self.explaining.now().as_secs_f64()
    }

    /// Goes on until `until_s` and a little further.
    ///
    /// # Errors
    /// What an algorithm throws.
    pub fn advance(&mut self, until_s: f64) -> Result<(), JsValue> {
        let went = self.explaining.advance(instant(until_s), &mut |_| ControlFlow::Continue(()));
        match algorithm::failure() {
            Some(failure) => Err(failure),
            None => went.map_err(|error| thrown(&error)),
        }
    }

    /// Whether the steps that an answer for `at_s` needs are still kept; else it has to be begun again.
    pub fn covers(&self, at_s: f64) -> bool {
        self.explaining.covers(instant(at_s))
    }

    /// Lines about the last step of ACR up to `at_s`, which has been reached.
    pub fn words(&self, at_s: f64) -> Vec<String> {
        self.explaining.words(instant(at_s))
    }
}

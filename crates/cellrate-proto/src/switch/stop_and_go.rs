//! Stop & Go: sources that know two rates only, PCR and MCR (paper stop-and-go, section 2).
//!
//! Half of it is the port, which says stop or go by one threshold; the other half is a parameter vector (the paper's
//! table 1) under which a source that obeys the standard's rules has no third rate: [`StopAndGo::check_source`].

use alloc::vec::Vec;

use super::built_in::{BuiltIn, Form};
use super::{Feedback, Meter, Promises, Slot, SwitchAlgorithm, VcAtPort};
use crate::declaration::{Shape, Table, Values, words};
use crate::parameters::{AbrParameters, ParameterError, PowerOfTwo, in_range};
use crate::units::{CellRate, Cells, Duration, Time};

words! {
    /// How a port says stop.
    #[derive(Default)]
    pub enum StopAndGoForm {
        /// CI := NI := 1 (the paper's; default).
        #[default]
        RelativeRate = "relative-rate",
        /// ER := MCR of the connection to stop it, PCR to let it go; CI and NI stay as they came. The paper leaves this
        /// derivation for further study.
        ExplicitRate = "explicit-rate",
    }
}

/// When a port says stop, and how.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct StopAndGoConfig {
    /// Sources are to stop while the ABR queue is at or above this.
    #[key(holds(threshold > Cells::ZERO, "at least 1 cell"))]
    pub threshold: Cells,
    /// How they are told: by CI and NI, or by ER, which becomes MCR to stop and PCR to go.
    #[key(default = "relative-rate")]
    pub form: StopAndGoForm,
}

impl BuiltIn for StopAndGo {
    type Config = StopAndGoConfig;

    const FORMS: &'static [Form] = &[Form {
        title: "Stop & Go",
        shape: Shape {
            name: "stop-and-go",
            about: "Sources send at PCR or at MCR (paper stop-and-go). The ABR connections through such a port have RIF, RDF and CDF 1, Nrm 32, and ICR PCR or MCR: these are the defaults of such connections, with ICR = PCR where TBE / FRTT is at least PCR and ICR = MCR otherwise, and any other value is an error.",
            keys: StopAndGoConfig::KEYS,
        },
        figures: &[],
    }];
    const HANDS_OUT_RATES: bool = false;

    fn at_port(config: &StopAndGoConfig, _link_rate: CellRate) -> StopAndGo {
        StopAndGo::new(*config)
    }

    fn read<V: Values>(_form: &Form, values: &V) -> Result<StopAndGoConfig, V::Error> {
        StopAndGoConfig::read(values)
    }

    fn check(config: &StopAndGoConfig) -> Result<(), ParameterError> {
        config.check()
    }
}

/// The algorithm.
#[derive(Clone, Debug)]
pub struct StopAndGo {
    config: StopAndGoConfig,
    /// PCR and MCR by slot; the explicit-rate form needs them.
    rates: Vec<(CellRate, CellRate)>,
}

impl StopAndGo {
    /// Stops and lets go by `config`.
    pub const fn new(config: StopAndGoConfig) -> StopAndGo {
        StopAndGo { config, rates: Vec::new() }
    }

    /// Gives the parameters of table 1 their fixed values (RIF = RDF = CDF = 1; Nrm = 32 is the default, and Mrm and
    /// TCR are constants of the standard), except those that are `given`.
    pub fn fix(parameters: &mut AbrParameters, given: impl Fn(&str) -> bool) {
        if !given("rif") {
            parameters.rif = PowerOfTwo::ONE;
        }
        if !given("rdf") {
            parameters.rdf = PowerOfTwo::ONE;
        }
        if !given("cdf") {
            parameters.cdf = Some(PowerOfTwo::ONE);
        }
    }

    /// ICR by the paper's rule: PCR where TBE / FRTT >= PCR, so that what is sent before the first feedback stays
    /// within TBE; MCR otherwise.
    pub fn initial_rate(parameters: &AbrParameters) -> CellRate {
        let exposed = parameters.pcr.as_cells_per_s() * parameters.frtt.as_secs_f64();
        let covered = parameters.frtt == Duration::ZERO || parameters.tbe.0 as f64 >= exposed;
        if covered { parameters.pcr } else { parameters.mcr }
    }

    /// Says which parameter first departs from table 1, and so would let a source send at a rate between MCR and PCR.
    pub fn check_source(parameters: &AbrParameters) -> Result<(), ParameterError> {
        const ONE: &str = "1 with Stop & Go (paper stop-and-go, table 1), so that a source knows no rate between MCR and PCR";
        let one = |name, factor: f64| in_range(name, factor, "", factor == 1.0, ONE);
        one("rif", parameters.rif.value())?;
        one("rdf", parameters.rdf.value())?;
        one("cdf", parameters.cdf.map_or(0.0, PowerOfTwo::value))?;
        let nrm = f64::from(parameters.nrm);
        in_range(
            "nrm",
            nrm,
            "cells",
            parameters.nrm == 32,
            "32 with Stop & Go (paper stop-and-go, table 1)",
        )?;
        let two_rates = parameters.icr == parameters.pcr || parameters.icr == parameters.mcr;
        let icr = parameters.icr.as_cells_per_s();
        in_range("icr", icr, "cells/s", two_rates, "PCR or MCR with Stop & Go (paper stop-and-go, table 1)")
    }
}

impl SwitchAlgorithm for StopAndGo {
    fn on_connect(&mut self, _slot: Slot, vc: &VcAtPort) {
        self.rates.push((vc.pcr, vc.mcr));
    }

    fn on_backward_rm(&mut self, _: Time, slot: Slot, queue: Cells, _: &Meter, feedback: &mut Feedback) {
        let stop = queue >= self.config.threshold;
        match self.config.form {
            StopAndGoForm::RelativeRate if stop => {
                feedback.indicate_congestion();
                feedback.forbid_increase();
            }
            StopAndGoForm::RelativeRate => {}
            StopAndGoForm::ExplicitRate => {
                let (pcr, mcr) = self.rates[slot.0 as usize];
                feedback.limit(if stop { mcr } else { pcr });
            }
        }
    }
}

impl Promises for StopAndGo {
    fn ignores_open_interval(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_code::RateCode;
    use crate::switch::{PortControl, PortControlConfig, SwitchAlgorithmConfig};

    const PCR: CellRate = CellRate::new(117_925.0);
    const MCR: CellRate = CellRate::new(2_358.0);

    /// The answer of a port with threshold 250 to the second of two connections, which is the one with `PCR` and `MCR`.
    fn answer(form: StopAndGoForm, queue: u64, came: Feedback) -> Feedback {
        let algorithm = SwitchAlgorithmConfig::StopAndGo(StopAndGoConfig { threshold: Cells(250), form });
        let config = PortControlConfig { algorithm, ..PortControlConfig::default() };
        assert_eq!(config.check(), Ok(()));
        let mut port = PortControl::new(&config, CellRate::new(353_773.0));
        port.connect(&VcAtPort {
            pcr: CellRate::new(9_000.0),
            mcr: CellRate::ZERO,
            weight: 1.0,
            round_trip: Duration::ZERO,
        });
        let slot = port.connect(&VcAtPort { pcr: PCR, mcr: MCR, weight: 1.0, round_trip: Duration::ZERO });
        assert!(!port.needs_meter());
        let mut feedback = came;
        port.on_backward_rm(Time::ZERO, slot, Cells(queue), &mut feedback);
        feedback
    }

    #[test]
    fn the_relative_form_sets_both_bits_from_the_threshold_on() {
        let came = Feedback::new(RateCode::MAX, false, false);
        let form = StopAndGoForm::RelativeRate;
        assert_eq!(answer(form, 249, came), came);
        assert_eq!(answer(form, 250, came), Feedback::new(RateCode::MAX, true, true));
        // What another switch has said stays said.
        let stopped = Feedback::new(RateCode::MAX, true, true);
        assert_eq!(answer(form, 0, stopped), stopped);
    }

    #[test]
    fn the_explicit_form_allows_the_two_rates_of_the_connection() {
        let came = Feedback::new(RateCode::MAX, false, true);
        let form = StopAndGoForm::ExplicitRate;
        assert_eq!(answer(form, 249, came), Feedback::new(RateCode::floor(PCR), false, true));
        assert_eq!(answer(form, 250, came), Feedback::new(RateCode::floor(MCR), false, true));
        let lower = Feedback::new(RateCode::floor(CellRate::new(3_000.0)), false, false);
        assert_eq!(answer(form, 249, lower), lower, "ER only ever falls");
    }

    fn table_1() -> AbrParameters {
        let mut parameters = AbrParameters::new(PCR);
        parameters.mcr = MCR;
        StopAndGo::fix(&mut parameters, |_| false);
        parameters
    }

    #[test]
    fn the_fixed_vector_passes_and_every_departure_from_it_is_named() {
        assert_eq!(StopAndGo::check_source(&table_1()), Ok(()));
        let refused = |change: fn(&mut AbrParameters)| {
            let mut parameters = table_1();
            change(&mut parameters);
            StopAndGo::check_source(&parameters).map_err(|error| error.name)
        };
        const HALF: PowerOfTwo = PowerOfTwo::from_negative_exponent(1).expect("it is at most 15");
        assert_eq!(refused(|p| p.rif = HALF), Err("rif"));
        assert_eq!(refused(|p| p.rdf = HALF), Err("rdf"));
        assert_eq!(refused(|p| p.cdf = None), Err("cdf"));
        assert_eq!(refused(|p| p.nrm = 16), Err("nrm"));
        assert_eq!(refused(|p| p.icr = CellRate::new(50_000.0)), Err("icr"));
        assert_eq!(refused(|p| p.icr = p.mcr), Ok(()));
    }

    #[test]
    fn the_initial_rate_is_pcr_while_tbe_covers_a_round_trip_of_it() {
        // 500 cells in 4.24 ms are 117,924.53 cells/s, just below PCR; in 4.2399 ms they are just above it.
        let rate = |tbe: u64, frtt: Duration| {
            StopAndGo::initial_rate(&AbrParameters { tbe: Cells(tbe), frtt, ..table_1() })
        };
        assert_eq!(rate(500, Duration::from_ns(4_240_000)), MCR);
        assert_eq!(rate(500, Duration::from_ns(4_239_900)), PCR);
        assert_eq!(rate(0, Duration::ZERO), PCR);
    }

    #[test]
    fn a_threshold_of_zero_is_refused() {
        let config =
            |threshold| StopAndGoConfig { threshold: Cells(threshold), form: StopAndGoForm::default() };
        assert_eq!(config(0).check().map_err(|error| error.name), Err("threshold"));
        assert_eq!(config(1).check(), Ok(()));
    }
}

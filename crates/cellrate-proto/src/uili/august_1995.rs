//! Rule 5 of the draft of August 1995 (paper uili, section 3).

use alloc::format;

use super::built_in::BuiltIn;
use super::rule_5b::Rule5b;
use super::{BackwardRmContext, ForwardRmContext, UiliPolicy};
use crate::declaration::{Key, Kind, Range, Shape, Table, Values, key};
use crate::parameters::{AbrParameters, ParameterError, PowerOfTwo, in_range};
use crate::units::CellRate;

/// Parameters of [`August1995`].
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct August1995Config {
    /// A forward RM cell is late when it comes more than tof times nrm/ACR after the last.
    #[key(default = "2", range = Range::AT_LEAST_ONE)]
    pub tof: f64,
    /// Prohibit no increase: the next backward RM cell may raise ACR again.
    #[key(default = "false")]
    pub pni: bool,
    /// [`DecreasePerTime`].
    #[key(flatten)]
    pub tdf: DecreasePerTime,
}

impl BuiltIn for August1995 {
    type Config = August1995Config;

    const SHAPE: Shape = Shape {
        name: "august-1995",
        about: "Rule 5 of the draft of August 1995 (paper uili, section 3).",
        keys: August1995Config::KEYS,
    };

    fn for_source(config: &August1995Config, parameters: &AbrParameters) -> August1995 {
        August1995::new(config, parameters)
    }
}

/// TDF, the share of ACR that is lost per second since the last FRM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DecreasePerTime {
    /// TDFF, as signalling carries it [`None` for 0, or 2^-15 to 1]: TDF = TDFF * RDF * (the smallest power of two not
    /// below PCR, in cells/s).
    ///
    /// The draft divides by an RDF that is a number like 512; it is the reciprocal of today's, so today's multiplies.
    /// With TDFF = 1/8, RDF = 1/512 and PCR = 366,792 cells/s it is 1/8 * 524,288 / 512 = 128 per second.
    Derived(Option<PowerOfTwo>),
    /// TDF itself [1/s, 0 and more].
    PerSecond(f64),
}

impl DecreasePerTime {
    /// The two ways to say it.
    pub const KEYS: &'static [Key] = &[
        key(
            "tdff",
            Kind::Or(&[Kind::PowerOfTwo, Kind::Ratio(Range::closed(0.0, 0.0))]),
            "1/8, unless tdf is given",
            "ACR loses tdff times abr.rdf times (the smallest power of two not below pcr, in cells/s) per second since the last forward RM cell: a power of two from 1/32768 to 1, or 0.",
        ),
        key(
            "tdf",
            Kind::Ratio(Range::NOT_NEGATIVE),
            "from tdff",
            "Share of ACR itself that is lost per second since the last forward RM cell.",
        ),
    ];

    /// Derived from TDFF = 1/8.
    pub const fn new() -> DecreasePerTime {
        DecreasePerTime::Derived(PowerOfTwo::from_negative_exponent(3))
    }

    /// TDF or TDFF, whichever `values` have.
    ///
    /// # Errors
    /// Both are given, or a TDFF that is neither 0 nor a power of two.
    pub fn read<V: Values>(values: &V) -> Result<DecreasePerTime, V::Error> {
        match (values.ratio("tdf")?, values.ratio("tdff")?) {
            (Some(_), Some(_)) => Err(values.refused(
                "tdf",
                "the policy has both tdf and tdff".into(),
                "Write one of them".into(),
            )),
            (Some(tdf), None) => Ok(DecreasePerTime::PerSecond(tdf)),
            (None, Some(0.0)) => Ok(DecreasePerTime::Derived(None)),
            (None, Some(tdff)) => match PowerOfTwo::exact(tdff) {
                Some(tdff) => Ok(DecreasePerTime::Derived(Some(tdff))),
                None => {
                    let message = format!("tdff is {tdff}");
                    Err(values.refused(
                        "tdff",
                        message,
                        "It must be a power of two from 1/32768 to 1, or 0".into(),
                    ))
                }
            },
            (None, None) => Ok(DecreasePerTime::new()),
        }
    }

    /// Refuses a negative TDF.
    ///
    /// # Errors
    /// TDF, with what is allowed.
    pub fn check(&self) -> Result<(), ParameterError> {
        match *self {
            DecreasePerTime::Derived(_) => Ok(()),
            DecreasePerTime::PerSecond(tdf) => {
                in_range("tdf", tdf, "1/s", tdf >= 0.0 && tdf.is_finite(), "0 or more per second")
            }
        }
    }

    /// TDF [1/s] of a connection with `parameters`.
    pub fn per_second(&self, parameters: &AbrParameters) -> f64 {
        match *self {
            DecreasePerTime::PerSecond(tdf) => tdf,
            DecreasePerTime::Derived(tdff) => {
                let mut power = 1.0;
                while power < parameters.pcr.as_cells_per_s() {
                    power *= 2.0;
                }
                tdff.map_or(0.0, PowerOfTwo::value) * parameters.rdf.value() * power
            }
        }
    }
}

/// Before an FRM that is late, T > TOF * Nrm / ACR, with ACR > ICR:
///
/// ```text
/// ACR := max(ICR, ACR * (1 - T * TDF))   T: time since the last FRM         (rule 5a)
/// the next BRM may not raise ACR, unless PNI                                (rule 5b)
/// ```
///
/// Its faults are why it has successors: the floor ICR is below the rate of a source that sends faster than ICR
/// (section 5.2.3), T is that of the old rate when ACR has just risen (section 4.1), and rule 5b keeps a short burst
/// from ever seeing its rate (section 4.2).
#[derive(Clone, Debug)]
pub struct August1995 {
    rule_5b: Rule5b,
    /// An FRM is late after as many cells: TOF * Nrm.
    late: f64,
    /// The part of ACR that is lost per second: TDF [1/s].
    tdf: f64,
}

impl August1995 {
    /// For a source with `parameters`.
    pub fn new(config: &August1995Config, parameters: &AbrParameters) -> August1995 {
        August1995 {
            rule_5b: Rule5b::new(config.pni),
            late: config.tof * f64::from(parameters.nrm),
            tdf: config.tdf.per_second(parameters),
        }
    }
}

impl UiliPolicy for August1995 {
    fn on_forward_rm(&mut self, context: &ForwardRmContext) -> CellRate {
        let ForwardRmContext { acr, icr, elapsed, .. } = *context;
        if acr.cells_in(elapsed) <= self.late || acr <= icr {
            return acr;
        }
        self.rule_5b.on_trigger();
        (acr * (1.0 - elapsed.as_secs_f64() * self.tdf).max(0.0)).max(icr)
    }

    fn on_backward_rm(&mut self, _context: &BackwardRmContext) -> bool {
        self.rule_5b.on_backward_rm()
    }
}

impl Default for DecreasePerTime {
    fn default() -> DecreasePerTime {
        DecreasePerTime::new()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ICR, backward, forward, parameters};
    use super::*;
    use crate::units::Duration;

    fn policy() -> August1995 {
        August1995::new(&August1995Config::default(), &parameters())
    }

    #[test]
    fn the_derived_tdf_of_an_oc3_connection_is_128_per_second() {
        let tdf = |pcr| {
            August1995Config::default()
                .tdf
                .per_second(&AbrParameters { pcr: CellRate::new(pcr), ..parameters() })
        };
        assert_eq!(tdf(366_792.0), 128.0);
        assert_eq!(tdf(524_288.0), 128.0);
        assert_eq!(tdf(524_289.0), 256.0);
        assert_eq!(DecreasePerTime::Derived(None).per_second(&parameters()), 0.0);
    }

    #[test]
    fn a_late_frm_costs_the_share_t_times_tdf() {
        // 64,000 cells/s: TOF * Nrm / ACR = 1 ms. 1.953125 ms * 128/s = 1/4.
        let mut policy = policy();
        let acr = policy.on_forward_rm(&forward(64_000.0, 32, Duration::from_ns(1_953_125)));
        assert_eq!(acr, CellRate::new(48_000.0));
        assert!(!policy.on_backward_rm(&backward(48_000.0, 90_000.0)));
        assert!(policy.on_backward_rm(&backward(48_000.0, 90_000.0)));
    }

    #[test]
    fn an_frm_that_is_just_in_time_costs_nothing() {
        let mut policy = policy();
        let acr = CellRate::new(64_000.0);
        assert_eq!(policy.on_forward_rm(&forward(64_000.0, 32, Duration::from_ms(1))), acr);
        assert!(policy.on_backward_rm(&backward(64_000.0, 90_000.0)));
        assert!(policy.on_forward_rm(&forward(64_000.0, 32, Duration::from_ps(1_000_000_001))) < acr);
        assert!(!policy.on_backward_rm(&backward(64_000.0, 90_000.0)));
    }

    #[test]
    fn the_floor_is_icr_even_below_the_rate_of_the_source() {
        // 10 ms at TDF 128/s: everything. The source sends 32 cells in 10 ms, 3200 cells/s; ICR is 2000.
        let mut policy = policy();
        let context = forward(64_000.0, 32, Duration::from_ms(10));
        assert_eq!(policy.on_forward_rm(&context), CellRate::new(ICR));
        assert!(context.source_rate() > CellRate::new(ICR));
    }

    #[test]
    fn at_icr_it_does_not_trigger() {
        let mut policy = policy();
        assert_eq!(policy.on_forward_rm(&forward(ICR, 2, Duration::from_secs(1))), CellRate::new(ICR));
        assert!(policy.on_backward_rm(&backward(ICR, 90_000.0)));
    }

    #[test]
    fn rule_5b_alone_is_left_when_tdf_is_zero() {
        let config = August1995Config { tdf: DecreasePerTime::Derived(None), ..August1995Config::default() };
        let mut policy = August1995::new(&config, &parameters());
        assert_eq!(
            policy.on_forward_rm(&forward(64_000.0, 32, Duration::from_ms(9))),
            CellRate::new(64_000.0)
        );
        assert!(!policy.on_backward_rm(&backward(64_000.0, 90_000.0)));
    }

    #[test]
    fn parameters_outside_their_range_are_refused() {
        let refused = |config: August1995Config| config.check().map_err(|error| error.name);
        let default = August1995Config::default();
        assert_eq!(refused(August1995Config { tof: 0.5, ..default }), Err("tof"));
        assert_eq!(
            refused(August1995Config { tdf: DecreasePerTime::PerSecond(-1.0), ..default }),
            Err("tdf")
        );
        assert_eq!(refused(August1995Config { tdf: DecreasePerTime::PerSecond(0.0), ..default }), Ok(()));
        assert_eq!(refused(default), Ok(()));
    }
}

//! The ABR parameters of a connection: unit, range and default of each, stated once (paper abr-parameters, table 1; TM
//! 4.0, table 5-5). Checks and their messages follow from the table of bounds below.

use alloc::borrow::Cow;
use core::fmt;

use crate::units::{CellRate, Cells, Duration};

/// A factor that signalling carries as a power of two: 2^-k, exactly.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PowerOfTwo {
    negative_exponent: u8,
}

impl PowerOfTwo {
    /// 1.
    pub const ONE: PowerOfTwo = PowerOfTwo { negative_exponent: 0 };

    /// 2^-k for k from 0 to 15, `None` otherwise.
    pub const fn from_negative_exponent(k: u8) -> Option<PowerOfTwo> {
        if k <= 15 { Some(PowerOfTwo { negative_exponent: k }) } else { None }
    }

    /// The power of two that `factor` is, exactly; `None` when it is none from 1/32768 to 1.
    pub fn exact(factor: f64) -> Option<PowerOfTwo> {
        (0..=15).map(|k| PowerOfTwo { negative_exponent: k }).find(|power| power.value() == factor)
    }

    /// k of 2^-k: the code that signalling carries.
    pub const fn negative_exponent(self) -> u8 {
        self.negative_exponent
    }

    /// The factor itself, from 1/32768 to 1.
    pub fn value(self) -> f64 {
        1.0 / f64::from(1_u32 << self.negative_exponent)
    }
}

impl fmt::Debug for PowerOfTwo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for PowerOfTwo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.negative_exponent {
            0 => f.write_str("1"),
            k => write!(f, "1/{}", 1_u32 << k),
        }
    }
}

/// TCR: the highest rate of out-of-rate FRMs, a constant of the standard [cells/s].
pub const TCR: f64 = 10.0;
/// Mrm: in-rate cells that must lie between two FRMs sent because of Trm, a constant of the standard \[cells\].
pub const MRM: u32 = 2;
/// The largest rate that signalling can carry: 24 bits [cells/s].
pub const MAX_RATE: f64 = 16_777_215.0;
/// The largest rate that an RM cell can carry: 2^31 * (1 + 511/512), that of [`RateCode::MAX`](crate::RateCode::MAX)
/// [cells/s]. It is 1.8 Tb/s.
pub const MAX_RM_CELL_RATE: f64 = 4_290_772_992.0;
/// The largest TBE that signalling can carry: 24 bits \[cells\].
pub const MAX_TBE: u64 = 16_777_215;
/// The longest FRTT that signalling can carry: 24 bits of microseconds.
pub const MAX_FRTT: Duration = Duration::from_us(16_777_215);

/// Everything one direction of an ABR connection agreed on at set-up.
///
/// [`AbrParameters::new`] gives every parameter but PCR its default; set fields, then [`check`](AbrParameters::check).
#[derive(Clone, Debug, PartialEq)]
pub struct AbrParameters {
    /// PCR, the peak cell rate [cells/s, 1 to 4,290,772,992; to 16,777,215 where it is signalled]. No default.
    pub pcr: CellRate,
    /// MCR, the minimum cell rate [cells/s, 0 to PCR]. Default 0.
    pub mcr: CellRate,
    /// ICR, the initial cell rate [cells/s, MCR to PCR], before TBE limits it. Default PCR.
    pub icr: CellRate,
    /// Nrm, in-rate cells per FRM [cells; a power of two from 2 to 256]. Default 32.
    pub nrm: u32,
    /// Trm, the longest time between FRMs while cells flow [100 ms * 2^k, k = -7 to 0]. Default 100 ms.
    pub trm: Duration,
    /// RIF, the largest increase per BRM as a fraction of PCR [2^-15 to 1]. Default 1/16.
    pub rif: PowerOfTwo,
    /// RDF, the decrease on CI as a fraction of ACR [2^-15 to 1]. Default 1/16 (TM 4.0).
    pub rdf: PowerOfTwo,
    /// ADTF, the idle time after which ACR falls to ICR [10 ms to 10.23 s in steps of 10 ms]. Default 500 ms.
    pub adtf: Duration,
    /// TBE, transient buffer exposure [cells, 0 to 16,777,215]. Default 16,777,215.
    pub tbe: Cells,
    /// CRM, FRMs without a BRM before rule 6 acts \[cells\]. Default `None`: ceil(TBE / Nrm).
    pub crm: Option<u64>,
    /// CDF, the decrease of rule 6 as a fraction of ACR [`None` for 0, which disables the rule, or 2^-6 to 1].
    /// Default 1/16.
    pub cdf: Option<PowerOfTwo>,
    /// FRTT, the fixed round-trip time of the path [0 to 16.777215 s]. Default 0.
    pub frtt: Duration,
}

impl AbrParameters {
    /// The defaults of the standard for a connection of peak rate `pcr`.
    pub fn new(pcr: CellRate) -> AbrParameters {
        let sixteenth = PowerOfTwo { negative_exponent: 4 };
        AbrParameters {
            pcr,
            mcr: CellRate::ZERO,
            icr: pcr,
            nrm: 32,
            trm: Duration::from_ms(100),
            rif: sixteenth,
            rdf: sixteenth,
            adtf: Duration::from_ms(500),
            tbe: Cells(MAX_TBE),
            crm: None,
            cdf: Some(sixteenth),
            frtt: Duration::ZERO,
        }
    }

    /// The CRM in force: as set, or ceil(TBE / Nrm) (paper abr-parameters, section 6.1.1), and never below 1.
    pub fn effective_crm(&self) -> u64 {
        self.crm.unwrap_or(self.tbe.0.div_ceil(u64::from(self.nrm))).max(1)
    }

    /// Whether so many FRMs without a BRM are the [CRM in force](AbrParameters::effective_crm) or more.
    #[inline]
    pub fn is_crm_reached(&self, frms: u64) -> bool {
        // Without the division: sources ask at every FRM.
        let enough =
            self.crm.map_or_else(|| frms.saturating_mul(self.nrm.into()) >= self.tbe.0, |crm| frms >= crm);
        enough && frms > 0
    }

    /// The rate that the source starts with: min(ICR, TBE / FRTT), and never below MCR (paper abr-parameters, section
    /// 6.1.2).
    pub fn effective_icr(&self) -> CellRate {
        if self.frtt == Duration::ZERO {
            return self.icr;
        }
        self.icr.min(CellRate::new(self.tbe.0 as f64 / self.frtt.as_secs_f64())).max(self.mcr)
    }

    /// Says which parameter is out of its range first, in the order of the fields.
    pub fn check(&self) -> Result<(), ParameterError> {
        let rate = |name, rate: CellRate, lowest: f64, highest: f64, allowed| {
            let value = rate.as_cells_per_s();
            in_range(name, value, "cells/s", (lowest..=highest).contains(&value), allowed)
        };
        let pcr = self.pcr.as_cells_per_s();
        // Below 1 cell/s there is no rate code but 0 to ask for.
        rate(
            "pcr",
            self.pcr,
            1.0,
            MAX_RM_CELL_RATE,
            "from 1 to 4290772992 cells/s, the most that an RM cell carries",
        )?;
        rate("mcr", self.mcr, 0.0, pcr, "from 0 to PCR")?;
        rate("icr", self.icr, self.mcr.as_cells_per_s(), pcr, "from MCR to PCR")?;
        let nrm = self.nrm.is_power_of_two() && (2..=256).contains(&self.nrm);
        in_range("nrm", f64::from(self.nrm), "cells", nrm, "a power of two from 2 to 256")?;
        let trm = (0..=7).any(|k| self.trm.as_ps() == Duration::from_ms(100).as_ps() >> k);
        in_range("trm", self.trm.as_secs_f64(), "s", trm, "100 ms times a power of two from 2^-7 to 1")?;
        let step = Duration::from_ms(10);
        let adtf =
            self.adtf.as_ps().is_multiple_of(step.as_ps()) && (1..=1023).contains(&self.adtf.div_floor(step));
        in_range("adtf", self.adtf.as_secs_f64(), "s", adtf, "from 10 ms to 10.23 s in steps of 10 ms")?;
        in_range("tbe", self.tbe.0 as f64, "cells", self.tbe.0 <= MAX_TBE, "from 0 to 16777215 cells")?;
        let cdf = self.cdf.is_none_or(|cdf| cdf.negative_exponent <= 6);
        let cdf_value = self.cdf.map_or(0.0, PowerOfTwo::value);
        in_range("cdf", cdf_value, "", cdf, "0 or a power of two from 1/64 to 1")?;
        in_range("frtt", self.frtt.as_secs_f64(), "s", self.frtt <= MAX_FRTT, "at most 16.777215 s")
    }

    /// Says which parameter is out of its range first, or, if none is, which one signalling cannot carry: a PCR above
    /// 24 bits. Such a connection can be had in a simulation, and leaves the standard.
    pub fn check_signalled(&self) -> Result<(), ParameterError> {
        self.check()?;
        let pcr = self.pcr.as_cells_per_s();
        in_range("pcr", pcr, "cells/s", pcr <= MAX_RATE, "at most 16777215 cells/s to be signalled")
    }
}

/// A parameter outside its range: which, what was given, and what is allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterError {
    /// The parameter, in the standard's symbol, lower case.
    pub name: &'static str,
    /// Value that was given, in `unit`.
    pub value: f64,
    /// The unit of `value`; empty for a plain number.
    pub unit: &'static str,
    /// The range, as a phrase.
    pub allowed: Cow<'static, str>,
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParameterError { name, value, unit, allowed } = self;
        let space = if unit.is_empty() { "" } else { " " };
        write!(f, "{name} is {value}{space}{unit}; it must be {allowed}")
    }
}

impl core::error::Error for ParameterError {}

pub(crate) fn in_range(
    name: &'static str,
    value: f64,
    unit: &'static str,
    holds: bool,
    allowed: &'static str,
) -> Result<(), ParameterError> {
    if holds { Ok(()) } else { Err(ParameterError { name, value, unit, allowed: allowed.into() }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn oc3() -> AbrParameters {
        AbrParameters::new(CellRate::new(366_792.0))
    }

    fn refused(change: impl FnOnce(&mut AbrParameters)) -> &'static str {
        let mut parameters = oc3();
        change(&mut parameters);
        parameters.check().expect_err("out of range").name
    }

    #[test]
    fn defaults_are_in_range() {
        assert_eq!(oc3().check(), Ok(()));
    }

    #[test]
    fn a_rate_may_be_more_than_signalling_carries_and_no_more_than_an_rm_cell_does() {
        assert_eq!(MAX_RM_CELL_RATE, crate::RateCode::MAX.rate().as_cells_per_s());
        let (most, more) = (CellRate::new(MAX_RATE), CellRate::new(MAX_RATE + 1.0));
        assert_eq!(AbrParameters::new(most).check_signalled(), Ok(()));
        assert_eq!(AbrParameters::new(more).check(), Ok(()));
        assert_eq!(AbrParameters::new(more).check_signalled().map_err(|error| error.name), Err("pcr"));
        assert_eq!(AbrParameters::new(CellRate::new(MAX_RM_CELL_RATE)).check(), Ok(()));
    }

    #[test]
    fn every_parameter_is_refused_just_outside_its_range() {
        assert_eq!(refused(|p| (p.pcr, p.icr) = (CellRate::new(0.99), CellRate::ZERO)), "pcr");
        assert_eq!(refused(|p| p.pcr = CellRate::new(MAX_RM_CELL_RATE + 1.0)), "pcr");
        assert_eq!(refused(|p| p.mcr = CellRate::new(366_793.0)), "mcr");
        assert_eq!(refused(|p| p.icr = CellRate::new(366_793.0)), "icr");
        assert_eq!(refused(|p| (p.mcr, p.icr) = (CellRate::new(2.0), CellRate::new(1.0))), "icr");
        assert_eq!(refused(|p| p.nrm = 1), "nrm");
        assert_eq!(refused(|p| p.nrm = 33), "nrm");
        assert_eq!(refused(|p| p.nrm = 512), "nrm");
        assert_eq!(refused(|p| p.trm = Duration::from_ms(99)), "trm");
        assert_eq!(refused(|p| p.trm = Duration::from_ms(200)), "trm");
        assert_eq!(refused(|p| p.adtf = Duration::from_ms(5)), "adtf");
        assert_eq!(refused(|p| p.adtf = Duration::from_ms(10_240)), "adtf");
        assert_eq!(refused(|p| p.tbe = Cells(MAX_TBE + 1)), "tbe");
        assert_eq!(refused(|p| p.cdf = PowerOfTwo::from_negative_exponent(7)), "cdf");
        assert_eq!(refused(|p| p.frtt = Duration::from_secs(17)), "frtt");
    }

    #[test]
    fn every_parameter_is_accepted_at_the_ends_of_its_range() {
        for nrm in [2, 256] {
            for trm in [Duration::from_ps(100_000_000_000 >> 7), Duration::from_ms(100)] {
                for adtf in [Duration::from_ms(10), Duration::from_ms(10_230)] {
                    for cdf in [None, PowerOfTwo::from_negative_exponent(6), Some(PowerOfTwo::ONE)] {
                        let parameters = AbrParameters { nrm, trm, adtf, cdf, frtt: MAX_FRTT, ..oc3() };
                        assert_eq!(parameters.check(), Ok(()), "{parameters:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_error_names_parameter_value_and_range() {
        let error = AbrParameters { nrm: 33, ..oc3() }.check().unwrap_err();
        assert_eq!(error.to_string(), "nrm is 33 cells; it must be a power of two from 2 to 256");
    }

    #[test]
    fn crm_follows_from_tbe_and_nrm_rounded_up() {
        // Paper abr-parameters, section 6.1.1: CRM = ceil(TBE / Nrm). 1025 / 32 = 32.03 -> 33.
        assert_eq!(AbrParameters { tbe: Cells(1024), ..oc3() }.effective_crm(), 32);
        assert_eq!(AbrParameters { tbe: Cells(1025), ..oc3() }.effective_crm(), 33);
        assert_eq!(AbrParameters { tbe: Cells(1025), crm: Some(7), ..oc3() }.effective_crm(), 7);
        assert_eq!(AbrParameters { tbe: Cells(0), ..oc3() }.effective_crm(), 1);
    }

    #[test]
    fn crm_is_reached_by_as_many_frms() {
        for (tbe, crm) in
            [(0, None), (1, None), (32, None), (1024, None), (1025, None), (9, Some(0)), (9, Some(7))]
        {
            let parameters = AbrParameters { tbe: Cells(tbe), crm, ..oc3() };
            let reached = (0..40).map(|frms| parameters.is_crm_reached(frms));
            assert!(
                reached.eq((0..40).map(|frms| frms >= parameters.effective_crm())),
                "TBE {tbe}, CRM {crm:?}"
            );
        }
        let endless = AbrParameters { nrm: 256, ..oc3() };
        assert!(endless.is_crm_reached(u64::MAX));
    }

    #[test]
    fn icr_is_limited_by_tbe_over_frtt() {
        // 512 cells / 30 ms = 17066.7 cells/s.
        let parameters = AbrParameters { tbe: Cells(512), frtt: Duration::from_ms(30), ..oc3() };
        assert!((parameters.effective_icr().as_cells_per_s() - 17_066.666).abs() < 0.001);
        assert_eq!(AbrParameters { frtt: Duration::from_ms(30), ..oc3() }.effective_icr(), oc3().pcr);
        let with_mcr = AbrParameters { mcr: CellRate::new(20_000.0), ..parameters };
        assert_eq!(with_mcr.effective_icr(), CellRate::new(20_000.0));
    }

    #[test]
    fn powers_of_two_are_exact() {
        assert_eq!(PowerOfTwo::exact(1.0 / 512.0).map(PowerOfTwo::negative_exponent), Some(9));
        assert_eq!(PowerOfTwo::exact(0.3), None);
        assert_eq!(PowerOfTwo::exact(2.0), None);
        assert_eq!(PowerOfTwo::exact(1.0 / 512.0).unwrap().to_string(), "1/512");
    }
}

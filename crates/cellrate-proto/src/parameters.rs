//! The ABR parameters of a connection: key, unit, range and default of each, stated once (paper abr-parameters, table
//! 1; TM 4.0, table 5-5). Reader, checks and reference follow from the struct.

use crate::declaration::{Kind, PowerOfTwoOrZero, SpanOrZero, Steps, Table, words};
pub use crate::declaration::{ParameterError, in_range};
pub use crate::power_of_two::PowerOfTwo;
use crate::units::{CellRate, Cells, Duration};

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

words! {
    /// How the RM values of a direction travel forward.
    #[derive(Default)]
    pub enum RmPlacement {
        /// In cells of their own, FRMs (TM 4.0; default).
        #[default]
        OwnCells = "own-cells",
        /// In data cells, beside their data: a departure from TM 4.0, after the header of RCP and XCP.
        InBand = "in-band",
    }
}

/// Everything one direction of an ABR connection agreed on at set-up. Unit, range and default of each parameter are
/// those of paper abr-parameters, table 1, and TM 4.0, table 5-5.
///
/// [`AbrParameters::new`] gives every parameter but PCR its default; set fields, then [`check`](AbrParameters::check).
#[derive(Clone, Debug, PartialEq, Table)]
pub struct AbrParameters {
    /// Peak cell rate, 1 to 4290772992 cells/s; more than 16777215 cannot be signalled, and results say so.
    #[key(
        argument,
        default = "the smallest link rate of the path",
        // Below 1 cell/s there is no rate code but 0 to ask for.
        holds(
            (1.0..=MAX_RM_CELL_RATE).contains(&pcr.as_cells_per_s()),
            "from 1 to 4290772992 cells/s, the most that an RM cell carries"
        )
    )]
    pub pcr: CellRate,
    /// Minimum cell rate, at most pcr.
    #[key(default = "0 cells/s", holds((CellRate::ZERO..=pcr).contains(&mcr), "from 0 to PCR"))]
    pub mcr: CellRate,
    /// Initial cell rate, from mcr to pcr.
    ///
    /// TBE may [limit](AbrParameters::effective_icr) it further.
    #[key(default = "pcr", or = pcr, holds((mcr..=pcr).contains(&icr), "from MCR to PCR"))]
    pub icr: CellRate,
    /// In-rate cells per forward RM cell: a power of two from 2 to 256, or 1 with rm = "in-band". With 2, backward RM
    /// cells take every other place, and hardly any data are sent.
    #[key(
        default = "32",
        kind = Kind::Integer(1, 256),
        unit = "cells",
        steps = NRM,
        holds(
            NRM.contains(nrm.into()) || nrm == 1 && rm == RmPlacement::InBand,
            "a power of two from 2 to 256, or 1 with rm = \"in-band\""
        )
    )]
    pub nrm: u32,
    /// How RM values travel forward: in cells of their own, or in every nrm-th data cell, which costs no cell; then
    /// the source sends a forward RM cell only where nothing else waits that could carry them.
    #[key(default = "own-cells")]
    pub rm: RmPlacement,
    /// Longest time between forward RM cells while cells flow: 100 ms times a power of two from 2^-7 to 1.
    #[key(
        default = "100 ms",
        steps = TRM,
        holds(TRM.contains(trm.as_secs_f64()), "100 ms times a power of two from 2^-7 to 1")
    )]
    pub trm: Duration,
    /// Largest increase per backward RM cell, as a fraction of pcr: a power of two from 1/32768 to 1.
    #[key(default = "1/16", steps = FACTOR)]
    pub rif: PowerOfTwo,
    /// Decrease on congestion indication, as a fraction of the allowed cell rate: a power of two from 1/32768 to 1.
    ///
    /// The default is that of TM 4.0.
    #[key(default = "1/16", steps = FACTOR)]
    pub rdf: PowerOfTwo,
    /// Idle time after which the allowed cell rate falls to icr: 10 ms to 10.23 s in steps of 10 ms.
    #[key(
        default = "500 ms",
        steps = ADTF,
        holds(ADTF.contains(adtf.as_secs_f64()), "from 10 ms to 10.23 s in steps of 10 ms")
    )]
    pub adtf: Duration,
    /// Transient buffer exposure, at most 16777215 cells.
    #[key(
        default = "16777215 cells",
        or = Cells(MAX_TBE),
        holds(tbe.0 <= MAX_TBE, "from 0 to 16777215 cells")
    )]
    pub tbe: Cells,
    /// Number of forward RM cells without a backward one after which rule 6 acts.
    ///
    /// [`effective_crm`](AbrParameters::effective_crm) is the one in force.
    #[key(default = "tbe / nrm, rounded up")]
    pub crm: Option<u32>,
    /// Decrease of rule 6 as a fraction of the allowed cell rate: a power of two from 1/64 to 1, or 0, which disables
    /// the rule.
    ///
    /// `None` is 0.
    #[key(
        default = "1/16",
        as = PowerOfTwoOrZero,
        steps = CDF,
        holds(
            CDF.contains(cdf.map_or(0.0, PowerOfTwo::value)),
            "0 or a power of two from 1/64 to 1"
        )
    )]
    pub cdf: Option<PowerOfTwo>,
    /// Fixed round-trip time, at most 16.777215 s.
    ///
    /// 0 where nothing says what it is.
    #[key(
        default = "twice the delays of the path's links",
        or = Duration::ZERO,
        as = SpanOrZero,
        holds(frtt <= MAX_FRTT, "at most 16.777215 s")
    )]
    pub frtt: Duration,
}

// What signalling carries of those that have only so many values.
const FACTOR: Steps = Steps::powers_to_one(15);
const CDF: Steps = Steps { zero: true, ..Steps::powers_to_one(6) };
const NRM: Steps = Steps { unit: "", scale: 1.0, first: 2.0, count: 8, doubling: true, zero: false };
const TRM: Steps = Steps { unit: "ms", scale: 1e3, first: 0.78125, count: 8, doubling: true, zero: false };
const ADTF: Steps = Steps { unit: "ms", scale: 1e3, first: 10.0, count: 1023, doubling: false, zero: false };

impl AbrParameters {
    /// The CRM in force: as set, or ceil(TBE / Nrm) (paper abr-parameters, section 6.1.1), and never below 1.
    pub fn effective_crm(&self) -> u64 {
        self.crm.map_or(self.tbe.0.div_ceil(self.nrm.into()), u64::from).max(1)
    }

    /// Whether so many FRMs without a BRM are the [CRM in force](AbrParameters::effective_crm) or more.
    #[inline]
    pub fn is_crm_reached(&self, frms: u64) -> bool {
        // Without the division: sources ask at every FRM.
        let enough = match self.crm {
            Some(crm) => frms >= crm.into(),
            None => frms.saturating_mul(self.nrm.into()) >= self.tbe.0,
        };
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

    /// Whether RM values travel in data cells.
    #[inline]
    pub fn is_in_band(&self) -> bool {
        self.rm == RmPlacement::InBand
    }

    /// The part of the in-rate cells that carry data, where no other direction has cells turned around among them: all
    /// but the FRMs.
    pub fn data_share(&self) -> f64 {
        if self.is_in_band() { 1.0 } else { 1.0 - 1.0 / f64::from(self.nrm) }
    }

    /// Says which parameter is out of its range first, or, if none is, which one signalling cannot carry: a PCR above
    /// 24 bits, or an Nrm of 1. Such a connection can be had in a simulation, and leaves the standard.
    pub fn check_signalled(&self) -> Result<(), ParameterError> {
        self.check()?;
        let nrm = f64::from(self.nrm);
        in_range("nrm", nrm, "cells", NRM.contains(nrm), "a power of two from 2 to 256 to be signalled")?;
        let pcr = self.pcr.as_cells_per_s();
        in_range("pcr", pcr, "cells/s", pcr <= MAX_RATE, "at most 16777215 cells/s to be signalled")
    }
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
        assert_eq!(refused(|p| (p.nrm, p.rm) = (3, RmPlacement::InBand)), "nrm");
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
        assert_eq!(
            error.to_string(),
            "nrm is 33 cells; it must be a power of two from 2 to 256, or 1 with rm = \"in-band\""
        );
    }

    #[test]
    fn values_in_every_data_cell_are_for_data_cells_alone_and_cannot_be_signalled() {
        let in_band = AbrParameters { nrm: 1, rm: RmPlacement::InBand, ..oc3() };
        assert_eq!((in_band.check(), in_band.data_share(), oc3().data_share()), (Ok(()), 1.0, 31.0 / 32.0));
        assert_eq!(in_band.check_signalled().map_err(|error| error.name), Err("nrm"));
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
}

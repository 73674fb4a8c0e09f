//! ABR parameters as call set-up carries them: integers of 24, 10, 4 and 3 bits (paper abr-parameters, table 1 for
//! units and ranges; the widths are those of the ABR set-up and ABR additional parameters of UNI Signalling 4.0,
//! af-sig-0061).
//!
//! Rounding is to the side that asks for less: rates and TBE down, FRTT up. What is an exact power of two or a multiple
//! of its step is carried exactly, and anything else is refused, because it would come out as another value.
//!
//! Codes: RIF and RDF are the exponent k of 2^-k; the 3-bit codes count upwards from the smallest value that the
//! parameter can have. The paper gives ranges but no codes: which end is zero is a choice made here.

use crate::AbrParameters;
use crate::parameters::{MAX_RATE, ParameterError, PowerOfTwo, in_range};
use crate::units::{CellRate, Cells, Duration};

/// One direction's parameters as integers. CRM is not among them: both ends compute it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signalled {
    /// PCR [cells/s, 1 to 2^24 - 1], rounded down.
    pub pcr: u32,
    /// MCR [cells/s, 0 to 2^24 - 1], rounded down.
    pub mcr: u32,
    /// ICR [cells/s, 0 to 2^24 - 1], rounded down.
    pub icr: u32,
    /// TBE [cells, 0 to 2^24 - 1], exact.
    pub tbe: u32,
    /// FRTT [us, 0 to 2^24 - 1], rounded up.
    pub frtt: u32,
    /// k of RIF = 2^-k [0 to 15].
    pub rif: u8,
    /// k of RDF = 2^-k [0 to 15].
    pub rdf: u8,
    /// The four parameters that may be left out.
    pub additional: Additional,
}

/// The additional parameters: each is there or not, and what is not there has its default at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Additional {
    /// c of Nrm = 2^(c+1) cells [0 to 7].
    pub nrm: Option<u8>,
    /// c of Trm = 100 ms * 2^(c-7) [0 to 7].
    pub trm: Option<u8>,
    /// ADTF in steps of 10 ms [1 to 1023].
    pub adtf: Option<u16>,
    /// c of CDF = 2^(c-7), and 0 for CDF = 0 [0 to 7].
    pub cdf: Option<u8>,
}

impl Additional {
    /// The 32-bit record: from the most significant bit four flags (Nrm, Trm, ADTF, CDF present), Nrm 3, Trm 3, ADTF
    /// 10, CDF 3, nine spare bits of 0. A parameter that is not there is carried as 0.
    pub fn to_record(self) -> u32 {
        let flag = |there: bool, bit: u32| u32::from(there) << bit;
        flag(self.nrm.is_some(), 31)
            | flag(self.trm.is_some(), 30)
            | flag(self.adtf.is_some(), 29)
            | flag(self.cdf.is_some(), 28)
            | u32::from(self.nrm.unwrap_or(0) & 7) << 25
            | u32::from(self.trm.unwrap_or(0) & 7) << 22
            | u32::from(self.adtf.unwrap_or(0) & 0x3ff) << 12
            | u32::from(self.cdf.unwrap_or(0) & 7) << 9
    }

    /// Reads a record; spare bits, and codes of parameters that are not there, are ignored.
    pub fn from_record(record: u32) -> Additional {
        let there = |bit: u32| record >> bit & 1 == 1;
        let field = |shift: u32, mask: u32| record >> shift & mask;
        Additional {
            nrm: there(31).then_some(field(25, 7) as u8),
            trm: there(30).then_some(field(22, 7) as u8),
            adtf: there(29).then_some(field(12, 0x3ff) as u16),
            cdf: there(28).then_some(field(9, 7) as u8),
        }
    }
}

impl Signalled {
    /// The codes of `parameters`, all four additional ones present.
    ///
    /// # Errors
    /// The first parameter out of range; or a PCR below 1 cell/s, which would be carried as 0, or above 24 bits.
    pub fn encode(parameters: &AbrParameters) -> Result<Signalled, ParameterError> {
        parameters.check_signalled()?;
        let pcr = parameters.pcr.as_cells_per_s();
        in_range("pcr", pcr, "cells/s", pcr >= 1.0, "at least 1 cell/s to be signalled")?;
        let microseconds = parameters.frtt.div_ceil(Duration::from_us(1));
        Ok(Signalled {
            pcr: whole(parameters.pcr),
            mcr: whole(parameters.mcr),
            icr: whole(parameters.icr),
            tbe: parameters.tbe.0 as u32,
            frtt: microseconds as u32,
            rif: parameters.rif.negative_exponent(),
            rdf: parameters.rdf.negative_exponent(),
            additional: Additional {
                nrm: Some(nrm_code(parameters.nrm)),
                trm: Some(trm_code(parameters.trm)),
                adtf: Some(parameters.adtf.div_floor(ADTF_STEP) as u16),
                cdf: Some(cdf_code(parameters.cdf)),
            },
        })
    }

    /// The parameters that the codes stand for; what is not there has the default of [`AbrParameters::new`].
    ///
    /// # Errors
    /// The first code that stands for nothing in range.
    pub fn decode(&self) -> Result<AbrParameters, ParameterError> {
        let power = |name, k: u8| {
            let power = PowerOfTwo::from_negative_exponent(k);
            in_range(name, f64::from(k), "", power.is_some(), "a code from 0 to 15")?;
            Ok(power.unwrap_or(PowerOfTwo::ONE))
        };
        let code = |name, code: Option<u8>| {
            in_range(
                name,
                f64::from(code.unwrap_or(0)),
                "",
                code.is_none_or(|code| code <= 7),
                "a code from 0 to 7",
            )
        };
        code("nrm", self.additional.nrm)?;
        code("trm", self.additional.trm)?;
        code("cdf", self.additional.cdf)?;
        let mut parameters = AbrParameters::new(CellRate::new(f64::from(self.pcr)));
        parameters.mcr = CellRate::new(f64::from(self.mcr));
        parameters.icr = CellRate::new(f64::from(self.icr));
        parameters.tbe = Cells(u64::from(self.tbe));
        parameters.frtt = Duration::from_us(u64::from(self.frtt));
        parameters.rif = power("rif", self.rif)?;
        parameters.rdf = power("rdf", self.rdf)?;
        if let Some(code) = self.additional.nrm {
            parameters.nrm = 2 << code;
        }
        if let Some(code) = self.additional.trm {
            parameters.trm = trm_from_code(code);
        }
        if let Some(steps) = self.additional.adtf {
            parameters.adtf = ADTF_STEP.saturating_mul(u64::from(steps));
        }
        if let Some(code) = self.additional.cdf {
            parameters.cdf = if code == 0 { None } else { PowerOfTwo::from_negative_exponent(7 - code) };
        }
        parameters.check_signalled()?;
        Ok(parameters)
    }
}

const ADTF_STEP: Duration = Duration::from_ms(10);

/// A rate as signalling carries it, rounded down; above the range, the largest there is.
fn whole(rate: CellRate) -> u32 {
    rate.as_cells_per_s().min(MAX_RATE) as u32
}

/// `rate` rounded down to whole cells/s, as signalling would carry it.
pub(crate) fn carried(rate: CellRate) -> CellRate {
    CellRate::new(f64::from(whole(rate)))
}

fn nrm_code(nrm: u32) -> u8 {
    (nrm.trailing_zeros() - 1) as u8
}

fn trm_code(trm: Duration) -> u8 {
    (0..=7).find(|code| trm_from_code(*code) >= trm).unwrap_or(7)
}

fn trm_from_code(code: u8) -> Duration {
    Duration::from_ps(Duration::from_ms(100).as_ps() >> (7 - code))
}

fn cdf_code(cdf: Option<PowerOfTwo>) -> u8 {
    cdf.map_or(0, |cdf| 7 - cdf.negative_exponent())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any parameters in range.
    pub(crate) fn any_parameters() -> impl Strategy<Value = AbrParameters> {
        let rates = (1.0..=MAX_RATE, 0.0..=1.0_f64, 0.0..=1.0_f64);
        let codes = (0..=15_u8, 0..=15_u8, 0..=7_u8, 0..=7_u8, 0..=7_u8, 1..=1023_u64);
        (rates, codes, 0..=16_777_215_u64, 0..=16_777_215_000_000_u64).prop_map(
            |((pcr, mcr, icr), (rif, rdf, nrm, trm, cdf, adtf), tbe, frtt)| {
                let power = |k| PowerOfTwo::from_negative_exponent(k).unwrap();
                let mut parameters = AbrParameters::new(CellRate::new(pcr));
                parameters.mcr = CellRate::new(pcr * mcr);
                parameters.icr = CellRate::new(pcr * mcr + (pcr - pcr * mcr) * icr).min(parameters.pcr);
                (parameters.rif, parameters.rdf) = (power(rif), power(rdf));
                parameters.nrm = 2 << nrm;
                parameters.trm = Duration::from_ps(100_000_000_000 >> trm);
                parameters.cdf = (cdf < 7).then(|| power(cdf));
                parameters.adtf = Duration::from_ms(10 * adtf);
                parameters.tbe = Cells(tbe);
                parameters.frtt = Duration::from_ps(frtt);
                parameters
            },
        )
    }

    #[test]
    fn the_defaults_at_155_mbps_by_hand() {
        // 155.52e6 / 424 = 366,792.45 cells/s; 1/16 = 2^-4; 32 = 2^(4+1); 100 ms = 100 * 2^(7-7); 500 / 10; 2^(3-7).
        let mut parameters = AbrParameters::new(CellRate::new(155.52e6 / 424.0));
        parameters.frtt = Duration::from_ps(30_000_000_001);
        let code = Signalled::encode(&parameters).unwrap();
        assert_eq!((code.pcr, code.mcr, code.icr), (366_792, 0, 366_792));
        assert_eq!((code.tbe, code.frtt, code.rif, code.rdf), (0xff_ffff, 30_001, 4, 4));
        assert_eq!(code.additional, Additional { nrm: Some(4), trm: Some(7), adtf: Some(50), cdf: Some(3) });
        // 1111 | 100 | 111 | 00 0011 0010 | 011 | 0 0000 0000
        assert_eq!(code.additional.to_record(), 0xf9c3_2600);
    }

    #[test]
    fn every_code_of_the_additional_parameters_comes_back() {
        for code in 0..=7 {
            assert_eq!(nrm_code(2 << code), code);
            assert_eq!(trm_code(trm_from_code(code)), code);
        }
        assert_eq!(trm_from_code(0), Duration::from_us(781) + Duration::from_ns(250));
        assert_eq!(cdf_code(None), 0);
        assert_eq!(cdf_code(PowerOfTwo::from_negative_exponent(6)), 1);
        assert_eq!(cdf_code(Some(PowerOfTwo::ONE)), 7);
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let asked = AbrParameters { nrm: 256, cdf: None, ..AbrParameters::new(CellRate::new(1000.0)) };
        let code = Signalled { additional: Additional::default(), ..Signalled::encode(&asked).unwrap() };
        assert_eq!(code.additional.to_record(), 0);
        assert_eq!(code.decode().unwrap(), AbrParameters::new(CellRate::new(1000.0)));
    }

    #[test]
    fn what_cannot_be_carried_is_refused() {
        let below_one = AbrParameters::new(CellRate::new(0.99));
        assert_eq!(Signalled::encode(&below_one).unwrap_err().name, "pcr");
        let above = AbrParameters::new(CellRate::new(MAX_RATE + 1.0));
        assert_eq!(
            Signalled::encode(&above).unwrap_err().allowed,
            "at most 16777215 cells/s to be signalled"
        );
        let good = Signalled::encode(&AbrParameters::new(CellRate::new(1.0))).unwrap();
        assert_eq!(Signalled { rif: 16, ..good }.decode().unwrap_err().name, "rif");
        assert_eq!(Signalled { pcr: 0, icr: 0, ..good }.decode().unwrap_err().name, "pcr");
        assert_eq!(Signalled { frtt: 1 << 24, ..good }.decode().unwrap_err().name, "frtt");
        let no_adtf = Additional { adtf: Some(0), ..good.additional };
        assert_eq!(Signalled { additional: no_adtf, ..good }.decode().unwrap_err().name, "adtf");
        let no_nrm = Additional { nrm: Some(8), ..good.additional };
        assert_eq!(Signalled { additional: no_nrm, ..good }.decode().unwrap_err().name, "nrm");
    }

    proptest! {
        #[test]
        fn what_is_carried_is_never_more_than_was_meant_and_is_carried_exactly_again(asked in any_parameters()) {
            let code = Signalled::encode(&asked).unwrap();
            let told = code.decode().unwrap();
            prop_assert!(told.pcr <= asked.pcr && told.mcr <= asked.mcr && told.icr <= asked.icr);
            prop_assert!(asked.pcr.as_cells_per_s() - told.pcr.as_cells_per_s() < 1.0);
            prop_assert!(told.frtt >= asked.frtt && told.frtt < asked.frtt + Duration::from_us(1));
            let rest = |p: &AbrParameters| (p.nrm, p.trm, p.rif, p.rdf, p.adtf, p.tbe, p.cdf);
            prop_assert_eq!(rest(&told), rest(&asked));
            prop_assert_eq!(Signalled::encode(&told).unwrap(), code);
        }

        #[test]
        fn any_record_reads_and_is_written_back_but_for_what_is_spare_or_absent(record: u32) {
            let read = Additional::from_record(record);
            prop_assert_eq!(Additional::from_record(read.to_record()), read);
            prop_assert_eq!(read.to_record() >> 28, record >> 28);
        }

        #[test]
        fn no_codes_decode_to_anything_out_of_range(
            words in proptest::array::uniform5(0..1_u32 << 25), rif: u8, rdf: u8, record: u32,
        ) {
            let [pcr, mcr, icr, tbe, frtt] = words;
            let code = Signalled { pcr, mcr, icr, tbe, frtt, rif, rdf, additional: Additional::from_record(record) };
            if let Ok(parameters) = code.decode() {
                prop_assert_eq!(parameters.check(), Ok(()));
            }
        }
    }
}

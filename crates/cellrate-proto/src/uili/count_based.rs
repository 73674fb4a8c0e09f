//! The count based policy (Jain, Kalyanaraman, Goyal, Fahmy, Lu, AF-TM 95-1660; paper uili, section 5.2).

use super::built_in::BuiltIn;
use super::{BackwardRmContext, ForwardRmContext, UiliPolicy};
use crate::declaration::{Range, Shape, Table};
use crate::parameters::{AbrParameters, MAX_RATE};
use crate::units::CellRate;

/// Parameters of [`CountBased`].
///
/// Cells leave in whole slots or, here, whole picoseconds, and SR falls short of ACR by rounding alone; with
/// delta = 0 a source that uses all it has would never be allowed more. ACR/512, its default, is one step of a rate
/// code: what no RM cell can tell from ACR is ACR. A source on a slotted line sets the rate of one slot in Nrm.
/// PR5 is off by default (section 5.2.4), because TDF is small; TDF = 0 disables the policy.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct CountBasedConfig {
    /// Share of ACR that is lost each time.
    #[key(default = "1/8", range = Range::FRACTION)]
    pub tdf: f64,
    /// How far ACR may exceed the rate of the source, at most 16777215 cells/s.
    #[key(default = "10 Mbps", holds(headroom.as_cells_per_s() <= MAX_RATE, "from 0 to 16777215 cells/s"))]
    pub headroom: CellRate,
    /// The first forward RM cell after an increase lowers nothing.
    #[key(default = "false")]
    pub pr5: bool,
    /// Slot granularity: ACR up to this above the rate of the source counts as used, at most 16777215 cells/s.
    #[key(default = "ACR/512", holds(delta.is_none_or(|delta| delta.as_cells_per_s() <= MAX_RATE), "from 0 to 16777215 cells/s"))]
    pub delta: Option<CellRate>,
}

impl BuiltIn for CountBased {
    type Config = CountBasedConfig;

    const SHAPE: Shape = Shape {
        name: "count-based",
        about: "Regions A to D with a headroom (paper uili, section 5.2).",
        keys: CountBasedConfig::KEYS,
    };

    fn for_source(config: &CountBasedConfig, _parameters: &AbrParameters) -> CountBased {
        CountBased::new(config)
    }
}

impl CountBasedConfig {
    /// The region that a source of this ACR and SR is in.
    pub fn region(&self, acr: CellRate, source_rate: CellRate) -> Region {
        let delta = self.delta.unwrap_or(acr * (1.0 / 512.0));
        if source_rate > acr + delta {
            Region::D
        } else if acr <= source_rate + delta {
            Region::C
        } else if acr <= source_rate + self.headroom {
            Region::B
        } else {
            Region::A
        }
    }
}

/// Where ACR stands against SR (section 5.2.5, Fig. 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// ACR > SR + headroom: ACR is retained.
    A,
    /// SR < ACR <= SR + headroom: the hysteresis zone.
    B,
    /// ACR = SR, within delta.
    C,
    /// ACR < SR: ACR has just fallen, and SR is a mixture of old and new.
    D,
}

/// ```text
/// at an FRM:  ACR_ok := (ACR <= SR + delta  or  TDF = 0)
///             unless PR5:  if ACR > SR + headroom:  ACR := max(SR + headroom, ACR * (1 - TDF))
///             PR5 := false
/// at a BRM:   if CI = NI = 0 and ACR_ok:  PR5 := (ACR < ER), and the increase is followed
///             otherwise it is not
/// ```
///
/// This is the pseudo code of section 5.2.7, whose actions by region are Table 1. Where text and code differ the code
/// is followed: PR5 is kept, not cleared, by a BRM that asks for no increase or may not be followed. A headroom below
/// delta leaves no region B, and region A then begins at SR + delta.
#[derive(Clone, Debug)]
pub struct CountBased {
    /// ACR_ok, whether ACR was used when the last FRM left.
    acr_ok: bool,
    /// PR5, whether the network has just raised ACR.
    pr5: bool,
    config: CountBasedConfig,
}

impl CountBased {
    /// ACR_ok, PR5 clear.
    pub fn new(config: &CountBasedConfig) -> CountBased {
        CountBased { acr_ok: true, pr5: false, config: *config }
    }
}

impl UiliPolicy for CountBased {
    fn on_forward_rm(&mut self, context: &ForwardRmContext) -> CellRate {
        let CountBasedConfig { tdf, headroom, .. } = self.config;
        let source_rate = context.source_rate();
        let region = self.config.region(context.acr, source_rate);
        self.acr_ok = matches!(region, Region::C | Region::D) || tdf == 0.0;
        let spared = core::mem::take(&mut self.pr5);
        if region == Region::A && !spared {
            (context.acr * (1.0 - tdf)).max(source_rate + headroom)
        } else {
            context.acr
        }
    }

    fn on_backward_rm(&mut self, context: &BackwardRmContext) -> bool {
        if context.increase && self.acr_ok {
            self.pr5 = self.config.pr5 && context.acr < context.er;
        }
        self.acr_ok
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{backward, forward};
    use super::*;
    use crate::units::Duration;

    const CONFIG: CountBasedConfig =
        CountBasedConfig { tdf: 0.125, headroom: CellRate::new(2_000.0), pr5: false, delta: None };

    /// SR = 32 cells in 4 ms = 8000 cells/s.
    fn frm(acr: f64) -> ForwardRmContext {
        forward(acr, 32, Duration::from_ms(4))
    }

    /// ACRs in the four regions with SR = 8000 and a headroom of 2000, and what Table 1 says of each.
    const TABLE_1: [(Region, f64, bool, bool); 4] = [
        // region, ACR, UILI is triggered, increase on BRM
        (Region::A, 16_000.0, true, false),
        (Region::B, 9_000.0, false, false),
        (Region::C, 8_000.0, false, true),
        (Region::D, 7_000.0, false, true),
    ];

    #[test]
    fn table_1_trigger_and_increase() {
        for (region, acr, triggers, increases) in TABLE_1 {
            let mut policy = CountBased::new(&CONFIG);
            assert_eq!(CONFIG.region(CellRate::new(acr), CellRate::new(8_000.0)), region);
            assert_eq!(policy.on_forward_rm(&frm(acr)) < CellRate::new(acr), triggers, "{region:?}");
            assert_eq!(policy.on_backward_rm(&backward(acr, 64_000.0)), increases, "{region:?}");
            // Until the next FRM every BRM gets the same answer: the zone is hysteresis, not rule 5b.
            assert_eq!(policy.on_backward_rm(&backward(acr, 64_000.0)), increases, "{region:?}");
        }
    }

    #[test]
    fn table_1_region_a_does_not_trigger_with_pr5() {
        let mut policy = CountBased::new(&CountBasedConfig { pr5: true, ..CONFIG });
        // ACR 8000 is used, and the network raises it to 16,000: the next FRM is spared, the one after is not.
        policy.on_forward_rm(&frm(8_000.0));
        assert!(policy.on_backward_rm(&backward(8_000.0, 16_000.0)));
        assert_eq!(policy.on_forward_rm(&frm(16_000.0)), CellRate::new(16_000.0));
        assert!(!policy.on_backward_rm(&backward(16_000.0, 20_000.0)));
        assert_eq!(policy.on_forward_rm(&frm(16_000.0)), CellRate::new(14_000.0));
    }

    #[test]
    fn pr5_is_set_only_by_an_increase_that_is_one() {
        for (er, asks, spared) in [(16_000.0, true, true), (8_000.0, true, false), (16_000.0, false, false)] {
            let mut policy = CountBased::new(&CountBasedConfig { pr5: true, ..CONFIG });
            policy.on_forward_rm(&frm(8_000.0));
            policy.on_backward_rm(&BackwardRmContext { increase: asks, ..backward(8_000.0, er) });
            assert_eq!(
                policy.on_forward_rm(&frm(16_000.0)) == CellRate::new(16_000.0),
                spared,
                "{er} {asks}"
            );
        }
    }

    #[test]
    fn the_edge_between_a_and_b() {
        let mut policy = CountBased::new(&CONFIG);
        assert_eq!(policy.on_forward_rm(&frm(10_000.0)), CellRate::new(10_000.0));
        assert_eq!(policy.on_forward_rm(&frm(10_000.5)), CellRate::new(10_000.0));
    }

    #[test]
    fn a_step_is_tdf_of_acr_and_the_last_ends_at_the_headroom() {
        // 16,000 -> 14,000 -> 12,250 -> 10,718.75 -> 10,000.
        let mut policy = CountBased::new(&CONFIG);
        let mut acr = 16_000.0;
        for expected in [14_000.0, 12_250.0, 10_718.75, 10_000.0, 10_000.0] {
            acr = policy.on_forward_rm(&frm(acr)).as_cells_per_s();
            assert_eq!(acr, expected);
        }
    }

    #[test]
    fn rounding_of_the_spacing_alone_is_region_c_and_a_rate_code_step_more_is_b() {
        // ACR/512 of 8000 is 15.6: SR = 7984.4 is used, SR = 7984.3 is not.
        let region =
            |config: CountBasedConfig, rate| config.region(CellRate::new(8_000.0), CellRate::new(rate));
        assert_eq!(region(CONFIG, 7_984.4), Region::C);
        assert_eq!(region(CONFIG, 7_984.3), Region::B);
        let exact = CountBasedConfig { delta: Some(CellRate::ZERO), ..CONFIG };
        assert_eq!(region(exact, 8_000.0), Region::C);
        assert_eq!(region(exact, 7_999.999), Region::B);
        assert_eq!(region(exact, 8_000.001), Region::D);
    }

    #[test]
    fn tdf_zero_disables_it() {
        let mut policy = CountBased::new(&CountBasedConfig { tdf: 0.0, ..CONFIG });
        assert_eq!(policy.on_forward_rm(&frm(64_000.0)), CellRate::new(64_000.0));
        assert!(policy.on_backward_rm(&backward(64_000.0, 70_000.0)));
    }

    #[test]
    fn parameters_outside_their_range_are_refused() {
        let refused = |config: CountBasedConfig| config.check().map_err(|error| error.name);
        let too_fast = CellRate::new(16_777_216.0);
        assert_eq!(refused(CountBasedConfig { tdf: 1.01, ..CONFIG }), Err("tdf"));
        assert_eq!(refused(CountBasedConfig { headroom: too_fast, ..CONFIG }), Err("headroom"));
        assert_eq!(refused(CountBasedConfig { delta: Some(too_fast), ..CONFIG }), Err("delta"));
        assert_eq!(refused(CountBasedConfig::default()), Ok(()));
    }
}

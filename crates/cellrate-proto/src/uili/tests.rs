//! Helpers and properties of all policies, and the two cases of section 4.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::parameters::PowerOfTwo;
use crate::units::Cells;
use crate::{Direction, Emission, RateCode, RmCell, Source};

/// ICR of [`parameters`] [cells/s].
pub(super) const ICR: f64 = 2_000.0;

/// An OC-3 connection with RDF = 1/512, ICR = 2000 cells/s, and what paper uili sets to keep other rules quiet.
pub(super) fn parameters() -> AbrParameters {
    AbrParameters {
        icr: CellRate::new(ICR),
        rif: PowerOfTwo::ONE,
        rdf: PowerOfTwo::from_negative_exponent(9).unwrap(),
        tbe: Cells(4_096),
        frtt: Duration::from_ms(30),
        cdf: None,
        ..AbrParameters::new(CellRate::new(366_792.0))
    }
}

/// An FRM is due, `elapsed` after the last, with `cells` since then.
pub(super) fn forward(acr: f64, cells: u32, elapsed: Duration) -> ForwardRmContext {
    ForwardRmContext {
        now: Time::ZERO + Duration::from_secs(10),
        acr: CellRate::new(acr),
        decreased: false,
        icr: CellRate::new(ICR),
        cells,
        elapsed,
    }
}

/// A BRM has come that asks for an increase to `er`.
pub(super) fn backward(acr: f64, er: f64) -> BackwardRmContext {
    BackwardRmContext {
        now: Time::ZERO + Duration::from_secs(10),
        acr: CellRate::new(acr),
        er: CellRate::new(er),
        increase: true,
    }
}

fn august(pni: bool) -> UiliConfig {
    UiliConfig::August1995(August1995Config { pni, ..August1995Config::default() })
}

/// The policies that came after August 1995, each as the paper has it.
fn successors() -> [(&'static str, UiliConfig); 6] {
    let multiple = TimeBasedFloor::IcrOrMultiple { tof: 2.0 };
    [
        ("baseline", UiliConfig::Baseline(BaselineConfig::default())),
        ("count based", UiliConfig::CountBased(CountBasedConfig::default())),
        ("count based, PR5", UiliConfig::CountBased(CountBasedConfig { pr5: true, ..Default::default() })),
        ("time based (a)", UiliConfig::TimeBased(TimeBasedConfig { floor: multiple, ..Default::default() })),
        ("time based (b)", UiliConfig::TimeBased(TimeBasedConfig::default())),
        ("joint", UiliConfig::Joint(JointConfig::default())),
    ]
}

fn every_policy() -> Vec<UiliConfig> {
    let mut all = Vec::from(successors().map(|(_, config)| config));
    all.extend([august(false), august(true), UiliConfig::None]);
    // Each as it is declared, with defaults, and with other values.
    let mut draws = [0.0, 0.3, 0.9, 0.6, 0.8].into_iter().cycle();
    for shape in SHAPES {
        all.push(UiliConfig::drawn(shape, &mut || 0.0));
        all.push(UiliConfig::drawn(shape, &mut || draws.next().unwrap_or_default()));
    }
    let floor = BaselineFloor::SourceRatePlusIcr;
    all.push(UiliConfig::Baseline(BaselineConfig { tdf: 1.0, floor, pni: true }));
    all
}

fn brm(er: f64) -> RmCell {
    RmCell {
        direction: Direction::Backward,
        backward_notification: false,
        congestion_indication: false,
        no_increase: false,
        explicit_rate: RateCode::floor(CellRate::new(er)),
        current_cell_rate: RateCode::ZERO,
        minimum_cell_rate: RateCode::ZERO,
        out_of_rate: false,
    }
}

/// The source sends the next cell of a backlog.
fn send(source: &mut Source, now: Time) -> (Time, Emission) {
    let at = source.next_transmission(now, |from| from);
    (at, source.transmit(at, true).expect("data waits"))
}

/// Section 4.1: the source starts from a low ICR, always has data, and a BRM that grants 100,000 cells/s arrives just
/// before each FRM. The mean rate over 40 FRMs [cells/s].
fn worst_case(config: &UiliConfig) -> f64 {
    let mut source = Source::new(parameters(), config);
    let (mut now, _) = send(&mut source, Time::ZERO);
    for _ in 0..40 {
        for _ in 0..31 {
            now = send(&mut source, now).0;
        }
        source.on_backward_rm(now, &brm(100_000.0));
        let (at, emission) = send(&mut source, now);
        assert!(matches!(emission, Emission::ForwardRm(_)));
        now = at;
    }
    40.0 * 32.0 / now.as_secs_f64()
}

#[test]
fn in_the_worst_case_of_section_4_1_august_1995_never_leaves_icr() {
    for pni in [false, true] {
        let rate = worst_case(&august(pni));
        // The 32nd cell of each round leaves early, at the rate that is about to be lost: 32 cells in 31 spacings.
        assert!((ICR..1.05 * ICR).contains(&rate), "PNI {pni}: {rate}");
    }
}

#[test]
fn in_the_worst_case_of_section_4_1_its_successors_ramp_up() {
    for (name, config) in successors() {
        let rate = worst_case(&config);
        assert!(rate > 10.0 * ICR, "{name}: {rate}");
    }
    assert!(worst_case(&UiliConfig::None) > 10.0 * ICR);
}

/// Section 4.2: a ping-pong application sends 64 cells, is silent for 20 ms, and so on; BRMs come back 1 ms after their
/// FRMs and grant 100,000 cells/s. The mean time of a burst, over the last 20 of 30 [s].
fn ping_pong(config: &UiliConfig) -> f64 {
    let mut source = Source::new(parameters(), config);
    let mut returning: Vec<Time> = Vec::new();
    let mut now = Time::ZERO;
    let mut total = 0.0;
    for burst in 0..30 {
        let start = now;
        let mut left = 64;
        while left > 0 {
            let next = source.next_transmission(now, |from| from);
            if let Some(&back) = returning.first()
                && back <= next
            {
                now = back;
                returning.remove(0);
                source.on_backward_rm(now, &brm(100_000.0));
                continue;
            }
            now = next;
            match source.transmit(now, true) {
                Some(Emission::ForwardRm(_)) => returning.push(now + Duration::from_ms(1)),
                Some(_) => left -= 1,
                None => unreachable!("data waits and it is time"),
            }
        }
        if burst >= 10 {
            total += now.since(start).as_secs_f64();
        }
        for back in returning.drain(..) {
            source.on_backward_rm(back.max(now), &brm(100_000.0));
        }
        now += Duration::from_ms(20);
    }
    total / 20.0
}

#[test]
fn ping_pong_traffic_of_section_4_2_suffers_under_august_1995_and_less_without_rule_5b() {
    // At 100,000 cells/s the 66 cells take 0.65 ms; at ICR the 32 after an FRM take 16 ms.
    let unhindered = ping_pong(&UiliConfig::None);
    assert!(unhindered < 0.0007, "{unhindered}");
    let both = ping_pong(&august(false));
    let without_5b = ping_pong(&august(true));
    assert!(both > 0.010, "{both}");
    assert!(without_5b < both, "{without_5b} against {both}");
}

#[test]
fn ping_pong_traffic_of_section_4_2_is_quick_under_the_successors() {
    let august = ping_pong(&august(false));
    for (name, config) in successors() {
        let span = ping_pong(&config);
        assert!(span < 0.5 * august, "{name}: {span} against {august}");
    }
}

#[test]
fn an_frm_that_trm_called_for_counts_the_cells_that_were_sent() {
    // 5 cells in 100 ms: 50 cells/s, where Nrm/T would say 320.
    let rate = forward(1_000.0, 5, Duration::from_ms(100)).source_rate().as_cells_per_s();
    assert!((rate - 50.0).abs() < 1e-9, "{rate}");
}

#[test]
fn the_check_reaches_every_policy() {
    let tof = UiliConfig::August1995(August1995Config { tof: 0.0, ..Default::default() });
    let rdf = UiliConfig::April1995(April1995Config { rdf: Some(0.0), ..Default::default() });
    let february = UiliConfig::February1995(February1995Config { tof: 0, ..Default::default() });
    let baseline = UiliConfig::Baseline(BaselineConfig { tdf: 2.0, ..Default::default() });
    let count = UiliConfig::CountBased(CountBasedConfig { tdf: 2.0, ..Default::default() });
    let time = UiliConfig::TimeBased(TimeBasedConfig { addf: 0.0, ..Default::default() });
    let joint = UiliConfig::Joint(JointConfig { tdf: f64::NAN, pni: false });
    let names = [tof, rdf, february, baseline, count, time, joint].map(|c| c.check().unwrap_err().name);
    assert_eq!(names, ["tof", "rdf", "tof", "tdf", "tdf", "addf", "tdf"]);
    assert!(every_policy().iter().all(|config| config.check().is_ok()));
}

/// The rate below which `config` does not lower an ACR that is above it.
fn floor(config: &UiliConfig, context: &ForwardRmContext) -> CellRate {
    let (rate, icr) = (context.source_rate(), context.icr);
    match config {
        UiliConfig::None => context.acr,
        UiliConfig::February1995(_) | UiliConfig::April1995(_) => CellRate::ZERO,
        UiliConfig::August1995(_) => icr,
        UiliConfig::Baseline(BaselineConfig { floor: BaselineFloor::Icr, .. }) => icr,
        UiliConfig::Baseline(_) | UiliConfig::Joint(_) => rate + icr,
        UiliConfig::CountBased(config) => rate + config.headroom,
        UiliConfig::TimeBased(config) => match config.floor {
            TimeBasedFloor::IcrOrMultiple { tof } => icr.max(rate * tof),
            TimeBasedFloor::IcrPlusSourceRate => icr + rate,
        },
    }
}

proptest! {
    #[test]
    fn no_policy_raises_acr_or_goes_below_its_floor(
        steps in prop::collection::vec((0.0..4e5_f64, 1_u32..64, 1_u64..200_000, any::<[bool; 3]>(), 0.0..4e5_f64), 1..50),
    ) {
        for config in every_policy() {
            let mut policy = Uili::new(&config, &parameters());
            let mut now = Time::ZERO;
            for &(acr, cells, us, [decreased, brm, increase], er) in &steps {
                let elapsed = Duration::from_us(us);
                now += elapsed;
                let context = ForwardRmContext { now, decreased, ..forward(acr, cells, elapsed) };
                let after = policy.on_forward_rm(&context);
                prop_assert!(after <= context.acr, "{config:?}: {context:?} -> {after:?}");
                prop_assert!(after >= context.acr.min(floor(&config, &context)), "{config:?}: {context:?} -> {after:?}");
                if brm {
                    let context = BackwardRmContext { now, increase, ..backward(acr, er) };
                    policy.on_backward_rm(&context);
                }
            }
        }
    }

    /// Whatever arrives and whenever there is data, ACR stays within MCR and PCR and a BRM that asks for a decrease
    /// gets it.
    #[test]
    fn acr_stays_between_mcr_and_pcr_and_every_decrease_is_obeyed(
        mcr in 0.0..1_500.0_f64,
        steps in prop::collection::vec((any::<bool>(), 0_u64..30_000, any::<[bool; 2]>(), 0.0..4e5_f64), 1..300),
    ) {
        let mcr = CellRate::new(mcr);
        let parameters = AbrParameters { mcr, ..parameters() };
        for config in every_policy() {
            let mut source = Source::new(parameters.clone(), &config);
            let mut now = Time::ZERO;
            for &(sends, us, [ci, ni], er) in &steps {
                if sends {
                    now = source.next_transmission(now, |from| from).min(now + Duration::from_us(us));
                    source.transmit(now, true);
                } else {
                    now += Duration::from_us(us);
                    let before = source.acr();
                    let rm = RmCell { congestion_indication: ci, no_increase: ni, ..brm(er) };
                    source.on_backward_rm(now, &rm);
                    prop_assert!(source.acr() <= rm.explicit_rate.rate().max(mcr), "{config:?}");
                    prop_assert!(source.acr() <= before || !(ci || ni), "{config:?}");
                }
                prop_assert!(source.acr() >= mcr && source.acr() <= parameters.pcr, "{config:?}: {:?}", source.acr());
            }
        }
    }
}

//! Treatment of a connection's cells by a switch (TM 4.0, 5.10.6), seen from the ends.

use std::sync::Arc;

use cellrate_proto::switch::{
    AveragingInterval, BecnConfig, BecnIndication, EfciConfig, EricaConfig, Feedback, PortControl,
    PortControlConfig, RelativeRateConfig, SwitchAlgorithmConfig, VcAtPort,
};
use cellrate_proto::{AbrParameters, CellRate, Cells, Direction, Duration, RateCode, RmCell, Time};

use crate::world::{Cell, FAR, NEAR, World, ms, parameters};

const PCR: f64 = 131_072.0;

fn world(config: PortControlConfig, queue: u64) -> World {
    config.check().expect("in range");
    let parameters = AbrParameters { icr: CellRate::new(65_536.0), ..parameters(PCR) };
    World::new(&parameters, Duration::from_us(100)).with_switch(&config, PCR, queue)
}

fn marking() -> PortControlConfig {
    PortControlConfig { efci: Some(EfciConfig::single(Cells(100))), ..PortControlConfig::default() }
}

fn relative() -> PortControlConfig {
    let algorithm = SwitchAlgorithmConfig::RelativeRate(RelativeRateConfig::new(Cells(100)));
    PortControlConfig { algorithm, ..PortControlConfig::default() }
}

fn explicit() -> PortControlConfig {
    let interval = AveragingInterval::of_time(Duration::from_ms(1));
    let algorithm = SwitchAlgorithmConfig::Erica(Arc::new(EricaConfig { interval, ..EricaConfig::erica() }));
    PortControlConfig { algorithm, ..PortControlConfig::default() }
}

fn backward(cells: Vec<RmCell>) -> Vec<RmCell> {
    cells.into_iter().filter(|rm| rm.direction == Direction::Backward).collect()
}

#[test]
fn switch_efci_marks_data_cells_and_the_destination_tells_the_source() {
    // Above the threshold of 100 cells ACR falls by RDF = 1/16 at each BRM, at the threshold it does not.
    for (queue, marked) in [(100, false), (101, true)] {
        let mut world = world(marking(), queue);
        world.ends[NEAR].data = 200;
        world.run_until_idle();
        let data = |efci| Cell::Data { efci };
        let seen = world.ends[FAR].received.iter().filter(|(_, cell)| *cell == data(marked)).count();
        assert_eq!(seen, 200, "queue {queue}");
        let brms = backward(world.rm_received(NEAR));
        assert!(!brms[0].congestion_indication, "no data cell came before the first FRM");
        assert!(brms.len() >= 3 && brms[1..3].iter().all(|rm| rm.congestion_indication == marked));
        assert_eq!(world.ends[NEAR].source.acr() < CellRate::new(70_000.0), marked);
    }
}

#[test]
fn switch_efci_leaves_rm_cells_alone() {
    let mut world = world(marking(), 101);
    (world.ends[NEAR].data, world.ends[FAR].data) = (100, 100);
    world.run_until_idle();
    // What the far end got as FRMs is what the near end sent.
    let sent: Vec<Cell> =
        world.ends[NEAR].sent.iter().map(|s| s.1).filter(|cell| matches!(cell, Cell::Rm(_))).collect();
    let received: Vec<Cell> = world.rm_received(FAR).into_iter().map(Cell::Rm).collect();
    assert_eq!(received, sent);
}

#[test]
fn switch_relative_rate_sets_ci_and_ni_from_its_threshold_on() {
    for (queue, congested) in [(99, false), (100, true)] {
        let mut world = world(relative(), queue);
        world.ends[NEAR].data = 100;
        world.run_until_idle();
        let brms = backward(world.rm_received(NEAR));
        assert!(brms.len() >= 3);
        for rm in brms {
            assert_eq!((rm.congestion_indication, rm.no_increase), (congested, congested), "queue {queue}");
            assert_eq!(rm.explicit_rate, RateCode::floor(CellRate::new(PCR)));
        }
        // 65,536 + 131,072 / 16 at each BRM, or 65,536 * 15/16.
        assert_eq!(world.ends[NEAR].source.acr() > CellRate::new(65_536.0), !congested);
    }
}

#[test]
fn switch_explicit_rate_lowers_er_to_the_share_it_computes() {
    // Target 0.9 of 131,072 = 117,964.8 cells/s for one greedy connection: it ends within 10 % of that, and below PCR.
    let mut world = world(explicit(), 0);
    world.ends[NEAR].data = 100_000;
    world.run_until(ms(500));
    let acr = world.ends[NEAR].source.acr().as_cells_per_s();
    assert!((0.9 * 117_964.8..=1.1 * 117_964.8).contains(&acr), "{acr}");
    assert!(acr < PCR);
}

#[test]
fn switch_feedback_never_raises_er_and_never_clears_a_bit() {
    // Every algorithm, idle and congested, on every combination of bits and on ER from 0 to the largest code.
    for config in [PortControlConfig::default(), marking(), relative(), explicit()] {
        let mut port = PortControl::new(&config, CellRate::new(PCR));
        let vc = VcAtPort {
            pcr: CellRate::new(PCR),
            mcr: CellRate::ZERO,
            weight: 1.0,
            round_trip: Duration::ZERO,
        };
        let slot = port.connect(&vc);
        for step in 0..400_u64 {
            let now = Time::ZERO + Duration::from_us(100 * step);
            let queue = Cells(step * 7 % 400);
            if port.interval_due(now) {
                port.end_intervals(now, |_| queue);
            }
            (0..step % 40).for_each(|_| port.on_abr_cell(now, slot));
            let er = RateCode::from_bits((step * 82 % 0x8000) as u16);
            let (ci, ni) = (step & 1 > 0, step & 2 > 0);
            let mut feedback = Feedback::new(er, ci, ni);
            port.on_backward_rm(now, slot, queue, &mut feedback);
            assert!(feedback.explicit_rate() <= er);
            assert!(feedback.congestion_indication() >= ci && feedback.no_increase() >= ni);
        }
    }
}

#[test]
fn switch_feedback_limits_keep_the_lowest() {
    let code = |rate| RateCode::floor(CellRate::new(rate));
    let mut feedback = Feedback::new(code(1_024.0), true, false);
    feedback.limit(CellRate::new(2_048.0));
    assert_eq!(feedback, Feedback::new(code(1_024.0), true, false));
    feedback.limit(CellRate::new(512.9));
    feedback.forbid_increase();
    assert_eq!(feedback, Feedback::new(code(512.0), true, true));
}

#[test]
fn switch_keeps_the_rm_cells_of_a_connection_in_order() {
    // ACR, and with it CCR, changes at every BRM: the CCRs that the far end sees, and those that come back, are those
    // that were sent, in the same order and each once.
    let mut world = world(relative(), 0);
    world.ends[NEAR].data = 200;
    world.run_until_idle();
    let ccr = |rm: &RmCell| rm.current_cell_rate.rate().as_cells_per_s();
    let is_frm = |cell: Cell| match cell {
        Cell::Rm(rm) if rm.direction == Direction::Forward => Some(ccr(&rm)),
        _ => None,
    };
    let sent: Vec<f64> = world.ends[NEAR].sent.iter().filter_map(|&(_, cell)| is_frm(cell)).collect();
    let passed: Vec<f64> = world.ends[FAR].received.iter().filter_map(|&(_, cell)| is_frm(cell)).collect();
    let back: Vec<f64> = backward(world.rm_received(NEAR)).iter().map(ccr).collect();
    assert_eq!((&passed, &back), (&sent, &sent));
    assert!(sent.len() >= 6 && sent.windows(2).filter(|pair| pair[0] < pair[1]).count() >= 3, "{sent:?}");
}

/// A port that ERICA gives 117,964.8 cells/s, shared by two.
fn originating(indication: BecnIndication) -> (PortControl, [cellrate_proto::switch::Slot; 2]) {
    let becn = Some(BecnConfig { threshold: Cells(100), indication });
    let config = PortControlConfig { becn, ..explicit() };
    assert_eq!(config.check(), Ok(()));
    let mut port = PortControl::new(&config, CellRate::new(PCR));
    let vc = VcAtPort {
        pcr: CellRate::new(PCR),
        mcr: CellRate::new(1_024.0),
        weight: 1.0,
        round_trip: Duration::ZERO,
    };
    let slots = [(); 2].map(|()| port.connect(&vc));
    for slot in slots {
        port.on_abr_cell(Time::ZERO, slot);
        port.on_forward_rm(Time::ZERO, slot, CellRate::new(PCR));
        (0..200).for_each(|_| port.on_abr_cell(Time::ZERO, slot));
    }
    port.end_intervals(ms(1), |_| Cells(400));
    (port, slots)
}

#[test]
fn switch_originates_brms_that_say_bn_and_ci_or_ni_ten_a_second_per_connection() {
    for (indication, ci) in [(BecnIndication::Congestion, true), (BecnIndication::NoIncrease, false)] {
        let (mut port, slots) = originating(indication);
        assert_eq!(port.originate(ms(1), slots[0], Cells(99)), None);
        let mut told = 0;
        // Cells of both come every 10 ms for a second: each is told at 1 ms, 101 ms and so on.
        for at in (1..1_000).step_by(10) {
            for slot in slots {
                let Some(brm) = port.originate(ms(at), slot, Cells(100)) else { continue };
                assert_eq!(at % 100, 1);
                assert_eq!((brm.direction, brm.backward_notification), (Direction::Backward, true));
                assert_eq!((brm.congestion_indication, brm.no_increase), (ci, !ci));
                assert_eq!((brm.current_cell_rate, brm.out_of_rate), (RateCode::ZERO, true));
                assert_eq!(brm.minimum_cell_rate, RateCode::floor(CellRate::new(1_024.0)));
                told += 1;
            }
        }
        assert_eq!((told, port.originated()), (20, 20));
    }
}

/// The overload is 402 cells in 1 ms where 117.9648 are to be, so each gets FairShare, half of the capacity.
#[test]
fn switch_algorithm_answers_the_brms_that_the_port_originates() {
    let (mut port, slots) = originating(BecnIndication::NoIncrease);
    let brm = port.originate(ms(1), slots[0], Cells(400)).expect("the queue is long");
    assert_eq!(brm.explicit_rate, RateCode::floor(CellRate::new(117_964.8 / 2.0)));
    let mut source = cellrate_proto::Source::new(
        AbrParameters { icr: CellRate::new(PCR), ..parameters(PCR) },
        &cellrate_proto::uili::UiliConfig::None,
    );
    // Before anything else has come back: the source obeys, and no answer to its FRMs is counted.
    source.on_backward_rm(ms(1), &brm);
    assert_eq!(source.acr(), brm.explicit_rate.rate());
}

#[test]
fn switch_without_becn_originates_nothing() {
    let mut port = PortControl::new(&explicit(), CellRate::new(PCR));
    let slot = port.connect(&VcAtPort {
        pcr: CellRate::new(PCR),
        mcr: CellRate::ZERO,
        weight: 1.0,
        round_trip: Duration::ZERO,
    });
    assert!(!port.originates());
    assert_eq!((port.originate(ms(1), slot, Cells(1_000_000)), port.originated()), (None, 0));
}

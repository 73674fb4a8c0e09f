//! Source rules 1 to 13 (TM 4.0, 5.10.4), and rescheduling.
//!
//! Rates are powers of two times a small fraction wherever an RM cell carries them, so that they have an exact code.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cellrate_proto::parameters::PowerOfTwo;
use cellrate_proto::uili::{
    BackwardRmContext, BaselineConfig, ForwardRmContext, Uili, UiliConfig, UiliPolicy,
};
use cellrate_proto::{
    AbrParameters, CellRate, Cells, Direction, Duration, Emission, RateCode, RmCell, Source, Time,
};

use crate::world::{
    Busy, FAR, NEAR, World, brm, frm, just_after, just_before, letter, ms, parameters, power, source, us,
};

const PCR: f64 = 131_072.0;
const HALF: f64 = 65_536.0;

fn rate(cells_per_s: f64) -> CellRate {
    CellRate::new(cells_per_s)
}

/// A busy source that has sent its first FRM and then learnt that it may send at `acr`.
fn at_acr(acr: f64, parameters: &AbrParameters) -> Busy {
    let parameters = AbrParameters { rif: PowerOfTwo::ONE, ..parameters.clone() };
    let mut busy = Busy::new(&parameters);
    busy.cell();
    busy.source.on_backward_rm(busy.now, &brm(acr));
    assert_eq!(busy.source.acr(), rate(acr));
    busy
}

// Rule 1.

#[test]
fn source_rule_1_in_rate_cells_leave_one_interval_apart() {
    // 1 / 100,000 cells/s = 10 us.
    let mut busy = Busy::new(&parameters(100_000.0));
    for n in 0..100 {
        assert_eq!(busy.source.next_transmission(busy.now, |from| from), us(10 * n));
        if n > 0 {
            assert_eq!(busy.source.transmit(just_before(us(10 * n)), true), None);
        }
        busy.cell();
    }
}

#[test]
fn source_rule_1_an_interval_that_is_no_whole_picosecond_is_rounded_up() {
    // 1 / 3 cells/s = 333,333,333,333.3 ps.
    let mut busy = Busy::new(&parameters(3.0));
    assert_eq!(busy.cell().0, Time::ZERO);
    let opportunity = busy.source.in_rate_opportunity();
    assert_eq!(opportunity, Time::from_ps(333_333_333_334));
    assert_eq!(busy.source.transmit(opportunity, true), Some(Emission::Data));
}

#[test]
fn source_rule_1_a_late_cell_does_not_let_the_next_one_leave_early() {
    // 10 us apart; the second cell finds data only at 25 us, so that the third may leave at 35 us, not at 30.
    let mut source = source(&parameters(100_000.0));
    source.transmit(Time::ZERO, true);
    assert_eq!(source.transmit(us(25), true), Some(Emission::Data));
    assert_eq!(source.next_transmission(us(25), |from| from), us(35));
}

#[test]
fn source_rule_1_acr_stays_between_mcr_and_pcr() {
    let parameters = AbrParameters { mcr: rate(1_024.0), rif: PowerOfTwo::ONE, ..parameters(PCR) };
    let mut busy = Busy::new(&parameters);
    busy.cell();
    busy.source.on_backward_rm(busy.now, &brm(0.0));
    assert_eq!(busy.source.acr(), rate(1_024.0));
    busy.source.on_backward_rm(busy.now, &brm(4.0 * PCR));
    assert_eq!(busy.source.acr(), rate(PCR));
}

// Rule 2.

#[test]
fn source_rule_2_acr_begins_at_icr_limited_by_tbe_over_frtt() {
    assert_eq!(source(&AbrParameters { icr: rate(HALF), ..parameters(PCR) }).acr(), rate(HALF));
    // 512 cells / 31.25 ms = 16,384 cells/s.
    let exposed = AbrParameters { tbe: Cells(512), frtt: Duration::from_us(31_250), ..parameters(PCR) };
    assert_eq!(source(&exposed).acr(), rate(16_384.0));
    assert_eq!(source(&AbrParameters { mcr: rate(20_000.0), ..exposed }).acr(), rate(20_000.0));
}

#[test]
fn source_rule_2_the_first_in_rate_cell_is_an_frm() {
    assert_eq!(Busy::new(&parameters(PCR)).cells(2), "FD");
    // Even where only a turned-around cell waits.
    let mut reverse = source(&parameters(PCR));
    reverse.turn_around(brm(1.0));
    let first = reverse.transmit(Time::ZERO, false).expect("the BRM waits");
    assert_eq!(letter(&first), 'F');
    assert_eq!(reverse.transmit(reverse.in_rate_opportunity(), false), Some(Emission::BackwardRm(brm(1.0))));
}

#[test]
fn source_rule_2_no_brm_lifts_acr_above_icr_before_the_first_cell() {
    let parameters = AbrParameters { icr: rate(HALF), rif: PowerOfTwo::ONE, ..parameters(PCR) };
    let early = RmCell { backward_notification: true, ..brm(PCR) };
    let mut source = source(&parameters);
    source.on_backward_rm(Time::ZERO, &early);
    assert_eq!(source.acr(), rate(HALF));
    // One that lowers it is obeyed, and ICR is the limit of what it may win back.
    source.on_backward_rm(Time::ZERO, &RmCell { no_increase: true, ..brm(1_024.0) });
    assert_eq!(source.acr(), rate(1_024.0));
    source.on_backward_rm(Time::ZERO, &early);
    assert_eq!(source.acr(), rate(HALF));
    // Once a cell has left, PCR is the limit.
    source.transmit(Time::ZERO, true);
    source.on_backward_rm(Time::ZERO, &early);
    assert_eq!(source.acr(), rate(PCR));
}

#[test]
fn source_rule_2_an_out_of_rate_frm_is_a_first_cell_too() {
    let mut source = source(&AbrParameters { icr: rate(0.0), rif: PowerOfTwo::ONE, ..parameters(PCR) });
    assert_eq!(source.transmit(Time::ZERO, true).as_ref().map(letter), Some('f'));
    source.on_backward_rm(ms(1), &brm(PCR));
    assert_eq!(source.acr(), rate(PCR));
    assert_eq!(source.transmit(ms(1), true).as_ref().map(letter), Some('F'));
}

// Rule 3.

#[test]
fn source_rule_3a_an_frm_follows_nrm_minus_1_cells() {
    let period = format!("F{}", "D".repeat(31));
    assert_eq!(Busy::new(&parameters(PCR)).cells(96), period.repeat(3));
}

#[test]
fn source_rule_3a_holds_at_both_ends_of_nrm() {
    let at = |nrm| Busy::new(&AbrParameters { nrm, ..parameters(PCR) });
    assert_eq!(at(2).cells(8), "FDFDFDFD");
    assert_eq!(at(256).cells(513), format!("F{}", "D".repeat(255)).repeat(2) + "F");
}

#[test]
fn source_rule_3a_an_frm_follows_mrm_cells_once_trm_has_passed() {
    // F at 0, D at 1 ms and 2 ms: Mrm = 2 cells. At Trm = 100 ms an FRM is due, one picosecond sooner it is not.
    let [mut early, mut late] = [0, 1].map(|_| {
        let mut source = source(&parameters(PCR));
        for (at, due) in [(ms(0), 'F'), (ms(1), 'D'), (ms(2), 'D')] {
            assert_eq!(source.transmit(at, true).as_ref().map(letter), Some(due));
        }
        source
    });
    assert_eq!(early.transmit(just_before(ms(100)), true), Some(Emission::Data));
    assert_eq!(late.transmit(ms(100), true).as_ref().map(letter), Some('F'));
}

#[test]
fn source_rule_3a_trm_does_not_count_before_mrm_cells() {
    // One cell since the FRM, Trm long over: data first, and only then, with two cells, the FRM.
    let mut source = source(&parameters(PCR));
    let letters: String = [0, 1, 1_000, 1_001]
        .map(|at| letter(&source.transmit(ms(at), true).expect("data waits")))
        .iter()
        .collect();
    assert_eq!(letters, "FDDF");
}

#[test]
fn source_rule_3a_at_a_low_rate_every_third_cell_is_an_frm() {
    // 25 cells/s: 40 ms apart. F at 0, D at 40 and 80 ms, and at 120 ms >= Trm the next F.
    let mut busy = Busy::new(&parameters(25.0));
    assert_eq!(busy.cells(7), "FDDFDDF");
    assert_eq!(busy.now, ms(240));
    // 31.25 cells/s: 32 ms apart. At 96 ms Trm has not passed: D, and the F at 128 ms.
    assert_eq!(Busy::new(&parameters(31.25)).cells(9), "FDDDFDDDF");
}

#[test]
fn source_rule_3b_one_waiting_brm_goes_before_data_between_two_frms() {
    let mut busy = Busy::new(&AbrParameters { nrm: 8, ..parameters(PCR) });
    let mut story = String::new();
    for _ in 0..16 {
        busy.source.turn_around(brm(HALF));
        story += &busy.cells(1);
    }
    assert_eq!(story, "FBDDDDDDFBDDDDDD");
}

#[test]
fn source_rule_3b_a_second_brm_waits_for_a_gap_in_the_data() {
    let mut source = source(&parameters(100_000.0));
    source.transmit(us(0), true);
    source.turn_around(brm(1_024.0));
    assert_eq!(source.transmit(us(10), true), Some(Emission::BackwardRm(brm(1_024.0))));
    source.turn_around(brm(2_048.0));
    assert_eq!(source.transmit(us(20), true), Some(Emission::Data));
    assert!(source.has_waiting_brm());
    assert_eq!(source.transmit(us(30), false), Some(Emission::BackwardRm(brm(2_048.0))));
    assert!(!source.has_waiting_brm());
}

#[test]
fn source_rule_3b_where_no_data_waits_every_brm_leaves_and_frms_stay_due() {
    // A direction that carries BRMs only: its FRMs come by rule 3 a all the same.
    let mut source = source(&AbrParameters { nrm: 4, ..parameters(100_000.0) });
    let mut story = String::new();
    for n in 0..8 {
        source.turn_around(brm(1_024.0));
        story.push(letter(&source.transmit(us(10 * n), false).expect("a BRM waits")));
    }
    assert_eq!(story, "FBBBFBBB");
}

#[test]
fn source_rule_3b_an_frm_that_is_due_goes_before_a_waiting_brm() {
    let mut busy = Busy::new(&AbrParameters { nrm: 4, ..parameters(PCR) });
    busy.cells(4);
    busy.source.turn_around(brm(HALF));
    assert_eq!(busy.cells(3), "FBD");
}

#[test]
fn source_rule_3c_data_goes_when_neither_rm_cell_has_a_turn() {
    let mut source = source(&parameters(100_000.0));
    source.transmit(us(0), true);
    assert_eq!(source.transmit(us(10), true), Some(Emission::Data));
    assert_eq!(source.transmit(us(20), false), None);
    assert_eq!(source.next_transmission(us(20), |_| Time::NEVER), Time::NEVER);
    assert_eq!(source.next_transmission(us(20), |from| from.max(us(35))), us(35));
}

#[test]
fn source_rule_3_an_idle_source_is_silent_even_when_an_frm_is_due() {
    let mut world = World::new(&AbrParameters { nrm: 4, ..parameters(100_000.0) }, Duration::from_us(100));
    world.ends[NEAR].data = 3;
    world.run_until(us(99));
    // After four in-rate cells an FRM is due at 40 us, but nothing waits.
    assert_eq!(world.story(NEAR), "FDDD");
    // The far end answers at 100 us with its first FRM (rule 2) and the BRM. The near end turns that FRM around, for
    // which its own FRM goes first; the far end answers that one, and no FRM is due any more on either side.
    world.run_until_idle();
    assert_eq!((world.story(NEAR), world.story(FAR)), (String::from("FDDDFB"), String::from("FBB")));
    world.run_until(ms(10_000));
    assert_eq!(world.ends[NEAR].sent.len(), 6);
}

#[test]
fn source_rule_3_with_nrm_2_two_ends_keep_each_other_awake() {
    // Every second cell is an FRM, every FRM asks for a BRM, and every BRM makes an FRM due: without any data, F and B
    // go round for ever, two cells a round trip each way. That is the letter of rules 3 a and 3 b.
    let mut world = World::new(&AbrParameters { nrm: 2, ..parameters(100_000.0) }, Duration::from_us(100));
    world.ends[NEAR].data = 1;
    world.run_until(ms(10));
    let story = world.story(NEAR);
    assert_eq!(story, format!("FD{}", "FB".repeat(49)) + &story[100..]);
    assert!((96..=102).contains(&story.len()), "{}", story.len());
}

// Rule 4.

#[test]
fn source_rule_4_in_rate_cells_have_clp_0() {
    let mut busy = Busy::new(&AbrParameters { nrm: 4, ..parameters(PCR) });
    let mut rm_cells = 0;
    for _ in 0..64 {
        busy.source.turn_around(RmCell { out_of_rate: true, ..brm(HALF) });
        if let (_, Emission::ForwardRm(rm) | Emission::BackwardRm(rm)) = busy.cell() {
            assert!(!rm.out_of_rate, "{rm:?}");
            rm_cells += 1;
        }
    }
    assert_eq!(rm_cells, 32);
}

// Rule 5.

/// ACR = PCR, twice ICR; the FRM left at 0 and the next cell is an FRM.
fn above_icr() -> Busy {
    let parameters = AbrParameters { icr: rate(HALF), nrm: 2, ..parameters(PCR) };
    let mut busy = at_acr(PCR, &parameters);
    assert_eq!(busy.cells(1), "D");
    busy
}

fn frm_at(busy: &mut Busy, at: Time) -> RmCell {
    match busy.source.transmit(at, true) {
        Some(Emission::ForwardRm(rm)) => rm,
        other => panic!("an FRM is due, not {other:?}"),
    }
}

#[test]
fn source_rule_5_acr_falls_to_icr_after_more_than_adtf() {
    let [mut exactly, mut later] = [0, 1].map(|_| above_icr());
    assert_eq!(frm_at(&mut exactly, ms(500)).current_cell_rate.rate(), rate(PCR));
    assert_eq!((exactly.source.acr(), exactly.source.statistics().idle_resets), (rate(PCR), 0));
    assert_eq!(frm_at(&mut later, just_after(ms(500))).current_cell_rate.rate(), rate(HALF));
    assert_eq!((later.source.acr(), later.source.statistics().idle_resets), (rate(HALF), 1));
}

#[test]
fn source_rule_5_acr_at_or_below_icr_stays() {
    for acr in [HALF, 1_024.0] {
        let mut busy = at_acr(acr, &AbrParameters { icr: rate(HALF), nrm: 2, ..parameters(PCR) });
        busy.cells(1);
        assert_eq!(frm_at(&mut busy, ms(9_000)).current_cell_rate.rate(), rate(acr));
        assert_eq!(busy.source.statistics().idle_resets, 0);
    }
}

#[test]
fn source_rule_5_acts_at_an_frm_only() {
    // Nrm = 32: the cell after a long silence is data (no two cells since the FRM), at the old ACR; so is the next.
    let mut busy = at_acr(PCR, &AbrParameters { icr: rate(HALF), ..parameters(PCR) });
    for at in [ms(600), ms(601)] {
        assert_eq!(busy.source.transmit(at, true), Some(Emission::Data));
        assert_eq!(busy.source.acr(), rate(PCR));
    }
    assert_eq!(frm_at(&mut busy, ms(602)).current_cell_rate.rate(), rate(HALF));
}

#[test]
fn source_rule_5_an_out_of_rate_frm_does_not_restart_adtf() {
    // ICR = 1, ACR = 5 cells/s: D at 200 ms, an out-of-rate FRM at 300 ms; at 600 ms the last in-rate FRM is 600 ms
    // old.
    let mut busy = at_acr(5.0, &AbrParameters { icr: rate(1.0), nrm: 2, ..parameters(PCR) });
    assert_eq!(busy.source.transmit(ms(200), true), Some(Emission::Data));
    assert_eq!(busy.source.transmit(ms(300), true).as_ref().map(letter), Some('f'));
    assert_eq!(frm_at(&mut busy, ms(600)).current_cell_rate.rate(), rate(1.0));
}

// Rule 6.

/// CRM = 4, CDF = 1/16.
fn crm_4() -> AbrParameters {
    AbrParameters { icr: rate(HALF), crm: Some(4), ..parameters(PCR) }
}

fn ccr_of_next_frms(busy: &mut Busy, n: usize) -> Vec<f64> {
    (0..n).map(|_| busy.next_frm().1.current_cell_rate.rate().as_cells_per_s()).collect()
}

#[test]
fn source_rule_6_acr_falls_by_cdf_at_each_frm_after_crm_without_a_brm() {
    // 65,536 * 15/16 = 61,440; * 15/16 = 57,600; * 15/16 = 54,000, coded 2^15 * (1 + 331/512) = 53,952.
    let mut busy = Busy::new(&crm_4());
    let ccr = ccr_of_next_frms(&mut busy, 7);
    assert_eq!(ccr, [HALF, HALF, HALF, HALF, 61_440.0, 57_600.0, 53_952.0]);
    assert_eq!(busy.source.acr(), rate(54_000.0));
    assert_eq!(busy.source.statistics().cutoff_decreases, 3);
}

#[test]
fn source_rule_6_a_brm_after_crm_minus_1_or_crm_frms_comes_in_time() {
    for frms in [3, 4] {
        let mut busy = Busy::new(&crm_4());
        ccr_of_next_frms(&mut busy, frms);
        busy.source.on_backward_rm(busy.now, &RmCell { no_increase: true, ..brm(PCR) });
        // The count starts again: four more FRMs at full rate, and the fifth is cut.
        assert_eq!(ccr_of_next_frms(&mut busy, 5), [HALF, HALF, HALF, HALF, 61_440.0], "after {frms}");
    }
}

#[test]
fn source_rule_6_a_brm_ends_a_run_of_decreases() {
    let mut busy = Busy::new(&crm_4());
    ccr_of_next_frms(&mut busy, 5);
    busy.source.on_backward_rm(busy.now, &RmCell { no_increase: true, ..brm(PCR) });
    assert_eq!(ccr_of_next_frms(&mut busy, 5), [61_440.0, 61_440.0, 61_440.0, 61_440.0, 57_600.0]);
}

#[test]
fn source_rule_6_a_brm_with_bn_1_is_obeyed_but_does_not_restart_the_count() {
    let mut busy = Busy::new(&crm_4());
    ccr_of_next_frms(&mut busy, 4);
    // ER = 32,768 holds at once; the fifth FRM is cut all the same: 32,768 * 15/16 = 30,720.
    busy.source.on_backward_rm(
        busy.now,
        &RmCell { backward_notification: true, no_increase: true, ..brm(32_768.0) },
    );
    assert_eq!(busy.source.acr(), rate(32_768.0));
    assert_eq!(ccr_of_next_frms(&mut busy, 1), [30_720.0]);
}

#[test]
fn source_rule_6_without_cdf_acr_stays() {
    let mut busy = Busy::new(&AbrParameters { cdf: None, ..crm_4() });
    assert_eq!(ccr_of_next_frms(&mut busy, 12), [HALF; 12]);
    assert_eq!(busy.source.statistics().cutoff_decreases, 0);
}

#[test]
fn source_rule_6_mcr_is_the_floor() {
    // 61,440 is cut to 57,600, below MCR = 60,000.
    let mut busy = Busy::new(&AbrParameters { mcr: rate(60_000.0), ..crm_4() });
    busy.source.on_backward_rm(Time::ZERO, &brm(HALF));
    ccr_of_next_frms(&mut busy, 5);
    assert_eq!(busy.source.acr(), rate(61_440.0));
    busy.next_frm();
    assert_eq!(busy.source.acr(), rate(60_000.0));
    busy.next_frm();
    assert_eq!(busy.source.acr(), rate(60_000.0));
}

#[test]
fn source_rule_6_with_cdf_1_acr_falls_to_mcr_at_once_and_to_zero_without_one() {
    let cdf = Some(PowerOfTwo::ONE);
    let mut guaranteed = Busy::new(&AbrParameters { cdf, mcr: rate(1_024.0), ..crm_4() });
    assert_eq!(ccr_of_next_frms(&mut guaranteed, 5)[4], 1_024.0);
    let mut busy = Busy::new(&AbrParameters { cdf, ..crm_4() });
    assert_eq!(ccr_of_next_frms(&mut busy, 5)[4], 0.0);
    assert_eq!(busy.source.in_rate_opportunity(), Time::NEVER);
    assert_eq!(busy.cells(3), "fff");
}

#[test]
fn source_rule_6_out_of_rate_frms_are_not_counted() {
    // CRM = 4 and ACR = 0: one in-rate FRM, then out-of-rate ones only. ACR = 64 returns with the BRM of a switch,
    // which does not restart the count: FRMs 2, 3 and 4 carry 64, the fifth 64 * 15/16 = 60.
    let mut busy = at_acr(0.0, &AbrParameters { rif: PowerOfTwo::ONE, ..crm_4() });
    assert_eq!(busy.cells(8), "ffffffff");
    busy.source.on_backward_rm(busy.now, &RmCell { backward_notification: true, ..brm(64.0) });
    assert_eq!(busy.source.statistics().cutoff_decreases, 0);
    // The BRM of at_acr came after the first FRM: four more FRMs are counted from it.
    assert_eq!(ccr_of_next_frms(&mut busy, 5), [64.0, 64.0, 64.0, 64.0, 60.0]);
}

#[test]
fn source_rule_6_protects_a_network_whose_way_back_is_cut() {
    let mut world = World::new(&crm_4(), Duration::from_us(50));
    world.ends[NEAR].data = u64::MAX;
    world.run_until(ms(20));
    assert_eq!(world.ends[NEAR].source.statistics().cutoff_decreases, 0);
    let before = world.ends[NEAR].source.acr();
    world.cut(FAR, true);
    world.run_until(ms(40));
    assert!(world.ends[NEAR].source.acr() < before * 0.5, "{}", world.ends[NEAR].source.acr());
    world.cut(FAR, false);
    world.run_until(ms(100));
    assert_eq!(world.ends[NEAR].source.acr(), rate(PCR));
}

// Rules 5, 6 and 7 together.

#[test]
fn source_rules_5_6_7_act_in_this_order() {
    // ACR = PCR = 131,072; ICR = 65,536; more than ADTF idle and CRM = 1 FRM without an answer. Rule 5 gives 65,536,
    // rule 6 then 65,536 * 15/16 = 61,440. The other way round it would be 131,072 * 15/16 = 122,880, and then 65,536.
    let mut busy = at_acr(PCR, &AbrParameters { icr: rate(HALF), crm: Some(1), nrm: 2, ..parameters(PCR) });
    assert_eq!(busy.cells(2), "DF");
    assert_eq!(busy.source.acr(), rate(PCR));
    assert_eq!(busy.cells(1), "D");
    let frm = frm_at(&mut busy, ms(600));
    assert_eq!(frm.current_cell_rate.rate(), rate(61_440.0));
    assert_eq!(busy.source.acr(), rate(61_440.0));
}

#[test]
fn source_rule_7_ccr_is_the_acr_of_the_cells_after_the_frm() {
    // 80,000 cells/s: 12.5 us apart. Nrm = 4, CRM = 1, CDF = 1/2: the FRM of cell 4 leaves 12.5 us after cell 3, and
    // says 40,000 (coded 2^15 * (1 + 113/512) = 40,000 exactly); the cell after it comes 25 us later.
    let parameters = AbrParameters { nrm: 4, crm: Some(1), cdf: Some(power(1)), ..parameters(80_000.0) };
    let mut busy = Busy::new(&parameters);
    let (first, _) = busy.next_frm();
    let (at, frm) = busy.next_frm();
    assert_eq!(at.since(first), Duration::from_us(50));
    assert_eq!(frm.current_cell_rate.rate(), rate(40_000.0));
    let (next, _) = busy.cell();
    assert_eq!(next.since(at), Duration::from_us(25));
}

#[test]
fn source_rule_7_ccr_is_rounded_down_to_a_code() {
    let (_, frm) = Busy::new(&parameters(366_792.0)).next_frm();
    // 2^18 * (1 + 204/512) = 366,592; the next code is 367,104.
    assert_eq!(frm.current_cell_rate.rate(), rate(366_592.0));
}

// Rules 8 and 9.

/// ACR = 65,536, PCR = 131,072, RIF = 1/16, RDF = 1/4; MCR = 0.
fn half_of_pcr() -> AbrParameters {
    AbrParameters { icr: rate(HALF), rif: power(4), rdf: power(2), ..parameters(PCR) }
}

fn acr_after(parameters: &AbrParameters, rm: RmCell) -> f64 {
    let mut busy = Busy::new(parameters);
    busy.cell();
    busy.source.on_backward_rm(busy.now, &rm);
    busy.source.acr().as_cells_per_s()
}

#[test]
fn source_rule_8_ci_takes_rdf_off_acr() {
    // 65,536 * 3/4 = 49,152, with NI = 1 as with NI = 0.
    for no_increase in [false, true] {
        let rm = RmCell { congestion_indication: true, no_increase, ..brm(PCR) };
        assert_eq!(acr_after(&half_of_pcr(), rm), 49_152.0);
    }
}

#[test]
fn source_rule_8_ci_does_not_go_below_mcr() {
    let rm = RmCell { congestion_indication: true, ..brm(PCR) };
    assert_eq!(acr_after(&AbrParameters { mcr: rate(50_000.0), ..half_of_pcr() }, rm), 50_000.0);
    assert_eq!(acr_after(&AbrParameters { mcr: rate(49_000.0), ..half_of_pcr() }, rm), 49_152.0);
    assert_eq!(acr_after(&AbrParameters { rdf: PowerOfTwo::ONE, ..half_of_pcr() }, rm), 0.0);
}

#[test]
fn source_rule_8_without_ci_and_ni_acr_rises_by_rif_of_pcr() {
    // 65,536 + 131,072 / 16 = 73,728.
    assert_eq!(acr_after(&half_of_pcr(), brm(PCR)), 73_728.0);
    assert_eq!(acr_after(&AbrParameters { rif: PowerOfTwo::ONE, ..half_of_pcr() }, brm(PCR)), PCR);
}

#[test]
fn source_rule_8_with_ni_acr_does_not_rise() {
    assert_eq!(acr_after(&half_of_pcr(), RmCell { no_increase: true, ..brm(PCR) }), HALF);
}

#[test]
fn source_rule_8_an_out_of_rate_brm_counts_as_much() {
    assert_eq!(acr_after(&half_of_pcr(), RmCell { out_of_rate: true, ..brm(PCR) }), 73_728.0);
}

#[test]
fn source_rule_9_er_is_the_limit_and_mcr_the_floor() {
    let stay = |er| RmCell { no_increase: true, ..brm(er) };
    assert_eq!(acr_after(&half_of_pcr(), stay(HALF)), HALF);
    // The next code below 65,536 is 2^15 * (1 + 511/512) = 65,472.
    assert_eq!(acr_after(&half_of_pcr(), stay(65_535.0)), 65_472.0);
    assert_eq!(acr_after(&AbrParameters { mcr: rate(3_000.0), ..half_of_pcr() }, stay(2_048.0)), 3_000.0);
    assert_eq!(acr_after(&half_of_pcr(), stay(0.0)), 0.0);
}

#[test]
fn source_rules_8_and_9_act_in_this_order() {
    // CI = 1, ER = 57,344: rule 8 gives 49,152, which rule 9 leaves. The other way round: 57,344 * 3/4 = 43,008.
    let down = RmCell { congestion_indication: true, ..brm(57_344.0) };
    assert_eq!(acr_after(&half_of_pcr(), down), 49_152.0);
    // CI = NI = 0, ER = 66,560: rule 8 gives 73,728, rule 9 then 66,560. The other way round: 65,536 + 8,192 = 73,728.
    assert_eq!(acr_after(&half_of_pcr(), brm(66_560.0)), 66_560.0);
}

// Rule 10.

#[test]
fn source_rule_10_the_fields_of_an_frm() {
    let parameters = AbrParameters { mcr: rate(1_024.0), icr: rate(HALF), ..parameters(PCR) };
    let (_, rm) = Busy::new(&parameters).next_frm();
    let expected = RmCell {
        direction: Direction::Forward,
        backward_notification: false,
        congestion_indication: false,
        no_increase: false,
        explicit_rate: RateCode::floor(rate(PCR)),
        current_cell_rate: RateCode::floor(rate(HALF)),
        minimum_cell_rate: RateCode::floor(rate(1_024.0)),
        out_of_rate: false,
    };
    assert_eq!(rm, expected);
}

// Rule 11.

#[test]
fn source_rule_11_at_acr_0_an_out_of_rate_frm_leaves_every_100_ms() {
    let mut busy = Busy::new(&AbrParameters { icr: rate(0.0), ..parameters(PCR) });
    for n in 0..5 {
        let (at, emission) = busy.cell();
        assert_eq!(at, ms(100 * n));
        let Emission::ForwardRm(rm) = emission else { panic!("{emission:?}") };
        assert!(rm.out_of_rate);
        assert_eq!(rm.current_cell_rate, RateCode::ZERO);
        let soon = just_before(ms(100 * (n + 1)));
        assert_eq!(busy.source.transmit(soon, true), None);
    }
}

#[test]
fn source_rule_11_out_of_rate_frms_are_for_an_acr_below_tcr() {
    let cells = |acr| {
        let mut busy = at_acr(acr, &parameters(PCR));
        (busy.cells(4), busy.now)
    };
    // At TCR = 10 cells/s in-rate cells come as often: F at 0, then D, D, F, D every 100 ms.
    assert_eq!(cells(10.0), (String::from("DDFD"), ms(400)));
    // At 8 cells/s, 125 ms apart, both clocks run: f at 0 and 100, D at 125, f at 200 ms.
    assert_eq!(cells(8.0), (String::from("ffDf"), ms(200)));
    // Both sides of TCR: the code below 10 is 2^3 * (1 + 127/512) = 9.984375.
    let at_50_ms = |acr| at_acr(acr, &parameters(PCR)).source.transmit(ms(50), true).as_ref().map(letter);
    assert_eq!((at_50_ms(10.0), at_50_ms(9.984_375)), (None, Some('f')));
}

#[test]
fn source_rule_11_an_in_rate_cell_goes_first_when_both_may() {
    let mut busy = at_acr(8.0, &parameters(PCR));
    assert_eq!(busy.source.transmit(ms(125), true), Some(Emission::Data));
    assert_eq!(busy.source.transmit(ms(125), true).as_ref().map(letter), Some('f'));
    assert_eq!(busy.source.transmit(ms(125), true), None);
}

#[test]
fn source_rule_11_nothing_leaves_out_of_rate_while_nothing_waits() {
    let mut source = source(&AbrParameters { icr: rate(0.0), ..parameters(PCR) });
    assert_eq!(source.next_transmission(Time::ZERO, |_| Time::NEVER), Time::NEVER);
    assert_eq!(source.transmit(ms(500), false), None);
}

#[test]
fn source_rule_11_a_waiting_brm_calls_for_out_of_rate_frms_too() {
    // A direction without data and with ACR = 0: the BRM cannot leave in rate, but an FRM can ask for a rate.
    let mut source = source(&AbrParameters { icr: rate(0.0), ..parameters(PCR) });
    source.turn_around(brm(HALF));
    assert_eq!(source.next_transmission(ms(7), |_| Time::NEVER), ms(7));
    assert_eq!(source.transmit(ms(7), false).as_ref().map(letter), Some('f'));
    assert_eq!(source.next_transmission(ms(7), |_| Time::NEVER), ms(107));
    source.on_backward_rm(ms(8), &brm(1_024.0));
    assert_eq!(source.next_transmission(ms(8), |_| Time::NEVER), ms(8));
    assert_eq!(source.transmit(ms(8), false).as_ref().map(letter), Some('F'));
    let next = source.in_rate_opportunity();
    assert_eq!(source.transmit(next, false), Some(Emission::BackwardRm(brm(HALF))));
}

#[test]
fn source_rule_11_a_connection_at_rest_learns_that_capacity_has_come_back() {
    // Both directions begin at ACR = 0. The FRM at 0 is answered out of rate after 2 ms: ACR = 131,072 / 16 = 8,192.
    let mut world = World::new(&AbrParameters { icr: rate(0.0), ..parameters(PCR) }, Duration::from_ms(1));
    world.ends[NEAR].data = 5;
    world.run_until(just_before(ms(2)));
    assert_eq!((world.story(NEAR), world.story(FAR)), (String::from("f"), String::from("b")));
    world.run_until(ms(2));
    assert_eq!(world.ends[NEAR].source.acr(), rate(8_192.0));
    world.run_until_idle();
    assert!(world.story(NEAR).starts_with("fFDDDDD"), "{}", world.story(NEAR));
}

#[test]
fn source_rule_11_the_clock_saturates_at_the_end_of_time() {
    let mut source = source(&AbrParameters { icr: rate(0.0), ..parameters(PCR) });
    let late = just_before(just_before(Time::NEVER));
    assert_eq!(source.transmit(late, true).as_ref().map(letter), Some('f'));
    assert_eq!(source.next_transmission(late, |from| from), Time::NEVER);
}

// Rules 12 and 13.

#[test]
fn source_rule_12_data_cells_leave_unmarked() {
    use crate::world::Cell;
    use cellrate_proto::switch::{EfciConfig, PortControlConfig};
    // The switch marks every data cell; the source's own are unmarked even while marked ones come from the other end.
    let marking = PortControlConfig { efci: Some(EfciConfig::single(Cells(0))), ..Default::default() };
    let mut world = World::new(&parameters(PCR), Duration::from_us(50)).with_switch(&marking, PCR, 1);
    (world.ends[NEAR].data, world.ends[FAR].data) = (100, 100);
    world.run_until_idle();
    let data = |cells: &[crate::world::Stamped], efci| {
        cells.iter().filter(|(_, cell)| *cell == Cell::Data { efci }).count()
    };
    assert_eq!((data(&world.ends[NEAR].sent, false), data(&world.ends[FAR].sent, false)), (100, 100));
    assert_eq!((data(&world.ends[FAR].received, true), data(&world.ends[NEAR].received, false)), (100, 100));
}

#[test]
fn source_rule_13_without_a_policy_only_adtf_takes_rate_that_is_not_used() {
    // One cell every 40 ms at ACR = 131,072 uses a 5,000th of it; an FRM leaves every 120 ms, within ADTF.
    let mut busy = at_acr(PCR, &AbrParameters { icr: rate(HALF), crm: Some(1_000), ..parameters(PCR) });
    for n in 1..100 {
        busy.source.transmit(ms(40 * n), true);
    }
    assert_eq!((busy.source.acr(), busy.source.statistics().uili_decreases), (rate(PCR), 0));
}

#[test]
fn source_rule_13_a_policy_is_told_of_every_brm_whatever_it_asks_for() {
    /// Counts what it is told, and forbids what it is asked for.
    struct Counting(Arc<AtomicU32>);
    impl UiliPolicy for Counting {
        fn on_forward_rm(&mut self, context: &ForwardRmContext) -> CellRate {
            context.acr
        }
        fn on_backward_rm(&mut self, context: &BackwardRmContext) -> bool {
            let told = 1 + self.0.load(Relaxed);
            self.0.store(told, Relaxed);
            assert_eq!(context.increase, told == 4);
            false
        }
    }
    let told = Arc::new(AtomicU32::new(0));
    let parameters = AbrParameters { icr: rate(HALF), ..parameters(PCR) };
    let mut source = Source::under(parameters, Uili::Custom(Box::new(Counting(told.clone()))));
    for (ci, ni) in [(true, false), (false, true), (true, true), (false, false)] {
        source.on_backward_rm(ms(1), &RmCell { congestion_indication: ci, no_increase: ni, ..brm(PCR) });
    }
    assert_eq!(told.load(Relaxed), 4);
    // Twice down by 1/16, and no increase.
    assert_eq!(source.acr(), rate(HALF * 15.0 / 16.0 * 15.0 / 16.0));
}

#[test]
fn source_rule_13_the_prohibition_of_rule_5b_ends_with_a_brm_that_orders_a_decrease() {
    // Baseline, floor ICR: ACR = 65,536 of which next to nothing is used falls at the FRM, and the next BRM may not
    // raise it. That one has CI = 1, and the one after it raises ACR again.
    let icr = rate(1_024.0);
    let parameters = AbrParameters { icr, rif: PowerOfTwo::ONE, ..parameters(PCR) };
    let mut source = Source::new(parameters, &UiliConfig::Baseline(BaselineConfig::default()));
    source.transmit(Time::ZERO, true);
    source.on_backward_rm(ms(1), &brm(HALF));
    for n in 1..=4 {
        source.transmit(ms(100 * n), true);
    }
    assert_eq!(source.statistics().uili_decreases, 1);
    let lowered = source.acr();
    source.on_backward_rm(ms(401), &RmCell { congestion_indication: true, ..brm(PCR) });
    assert!(source.acr() < lowered);
    source.on_backward_rm(ms(402), &brm(HALF));
    assert_eq!(source.acr(), rate(HALF));
}

// Rescheduling (paper abr-parameters, section 5.1).

#[test]
fn rescheduling_a_rise_of_acr_moves_the_next_cell_forward() {
    // At 10 cells/s the cell after that of 0 ms is due at 100 ms. At 10 ms ACR becomes 50: due at 0 + 20 ms.
    let mut busy = at_acr(10.0, &parameters(PCR));
    assert_eq!(busy.source.in_rate_opportunity(), ms(100));
    busy.source.on_backward_rm(ms(10), &brm(50.0));
    assert_eq!(busy.source.next_transmission(ms(10), |from| from), ms(20));
    assert_eq!(busy.source.transmit(just_before(ms(20)), true), None);
    assert_eq!(busy.source.transmit(ms(20), true), Some(Emission::Data));
}

#[test]
fn rescheduling_a_cell_that_is_overdue_at_the_new_acr_leaves_at_once() {
    let mut busy = at_acr(10.0, &parameters(PCR));
    busy.source.on_backward_rm(ms(50), &brm(1_024.0));
    assert_eq!(busy.source.next_transmission(ms(50), |from| from), ms(50));
}

#[test]
fn rescheduling_a_fall_of_acr_moves_the_next_cell_back() {
    // At 1,000 cells/s (coded 1,000 = 2^9 * (1 + 488/512)) due at 1 ms, at 100 cells/s due at 10 ms.
    let mut busy = at_acr(1_000.0, &parameters(PCR));
    busy.source.on_backward_rm(us(500), &brm(100.0));
    assert_eq!(busy.source.next_transmission(us(500), |from| from), ms(10));
}

#[test]
fn a_request_for_er_is_what_the_far_end_returns() {
    // The whole loop at rest: FRM out, BRM back, ACR up by RIF * PCR to PCR.
    let mut world = World::new(&half_of_pcr(), Duration::from_us(100));
    world.ends[NEAR].data = 64;
    world.run_until_idle();
    let back: Vec<RmCell> =
        world.rm_received(NEAR).into_iter().filter(|rm| rm.direction == Direction::Backward).collect();
    assert_eq!(back[0], RmCell { direction: Direction::Backward, ..frm_of_half() });
    assert!(back.len() >= 3);
}

fn frm_of_half() -> RmCell {
    RmCell { explicit_rate: RateCode::floor(rate(PCR)), ..frm(HALF) }
}

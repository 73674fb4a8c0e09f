//! Destination rules 1 to 6 (TM 4.0, 5.10.5).

use cellrate_proto::destination::DestinationCongestion;
use cellrate_proto::{
    AbrParameters, CellRate, Destination, DestinationConfig, Direction, Duration, Emission, RateCode, RmCell,
    Source, Time,
};

use crate::world::{FAR, NEAR, World, brm, frm, just_before, ms, parameters, power, source};

const PCR: f64 = 131_072.0;

fn code(cells_per_s: f64) -> RateCode {
    RateCode::floor(CellRate::new(cells_per_s))
}

/// The turned-around cell of `frm` as it leaves in rate, from a source where nothing else waits.
fn turned(destination: &mut Destination, frm: &RmCell) -> RmCell {
    let mut reverse = started();
    assert_eq!(destination.on_forward_rm(frm, &mut reverse), None);
    leaves(&mut reverse)
}

/// A reverse source whose first FRM has left.
fn started() -> Source {
    let mut reverse = source(&parameters(PCR));
    assert!(matches!(reverse.transmit(Time::ZERO, true), Some(Emission::ForwardRm(_))));
    reverse
}

/// The BRM that waits, as it leaves; an FRM that is due goes before it.
fn leaves(reverse: &mut Source) -> RmCell {
    loop {
        match reverse.transmit(reverse.in_rate_opportunity(), false) {
            Some(Emission::BackwardRm(rm)) => return rm,
            Some(Emission::ForwardRm(_)) => {}
            other => panic!("a BRM waits, not {other:?}"),
        }
    }
}

// Rule 1.

#[test]
fn destination_rule_1_the_efci_of_the_last_data_cell_is_kept() {
    let mut destination = Destination::default();
    for efci in [true, false, true, true, false] {
        destination.on_data(efci);
        assert_eq!(destination.efci_state(), efci);
        let mut copy = destination.clone();
        assert_eq!(turned(&mut copy, &frm(PCR)).congestion_indication, efci);
    }
}

// Rule 2.

#[test]
fn destination_rule_2_dir_and_bn_change_and_all_else_is_kept() {
    for bits in 0..8_u8 {
        let came = RmCell {
            congestion_indication: bits & 1 > 0,
            no_increase: bits & 2 > 0,
            backward_notification: bits & 4 > 0,
            explicit_rate: code(50_000.0),
            current_cell_rate: code(30_000.0),
            minimum_cell_rate: code(10.0),
            ..frm(PCR)
        };
        let expected = RmCell { direction: Direction::Backward, backward_notification: false, ..came };
        assert_eq!(turned(&mut Destination::default(), &came), expected);
    }
}

#[test]
fn destination_rule_2_efci_sets_ci_once() {
    let mut destination = Destination::default();
    destination.on_data(true);
    assert!(turned(&mut destination, &frm(PCR)).congestion_indication);
    assert!(!destination.efci_state());
    assert!(!turned(&mut destination, &frm(PCR)).congestion_indication);
}

#[test]
fn destination_rule_2_efci_may_be_kept_until_a_data_cell_changes_it() {
    let mut destination =
        Destination::new(DestinationConfig { clear_efci_state: false, ..DestinationConfig::default() });
    destination.on_data(true);
    assert!(turned(&mut destination, &frm(PCR)).congestion_indication);
    assert!(turned(&mut destination, &frm(PCR)).congestion_indication);
    destination.on_data(false);
    assert!(!turned(&mut destination, &frm(PCR)).congestion_indication);
}

#[test]
fn destination_rule_2_congestion_of_its_own_only_adds_to_what_came() {
    let mut destination = Destination::default();
    destination.set_congestion(DestinationCongestion {
        congestion_indication: false,
        no_increase: true,
        explicit_rate: Some(CellRate::new(1_024.0)),
    });
    let brm = turned(&mut destination, &RmCell { congestion_indication: true, ..frm(PCR) });
    assert_eq!((brm.congestion_indication, brm.no_increase, brm.explicit_rate), (true, true, code(1_024.0)));
    // An ER that is lower already stays.
    assert_eq!(turned(&mut destination, &frm(512.0)).explicit_rate, code(512.0));
    destination.set_congestion(DestinationCongestion { congestion_indication: true, ..Default::default() });
    let brm = turned(&mut destination, &frm(PCR));
    assert_eq!((brm.congestion_indication, brm.no_increase, brm.explicit_rate), (true, false, code(PCR)));
}

// Rule 3.

#[test]
fn destination_rule_3_a_newer_frm_overwrites_the_cell_that_waits() {
    let (mut destination, mut reverse) = (Destination::default(), started());
    assert_eq!(destination.on_forward_rm(&frm(1_024.0), &mut reverse), None);
    assert_eq!(destination.on_forward_rm(&frm(2_048.0), &mut reverse), None);
    assert_eq!(leaves(&mut reverse), brm(2_048.0));
    assert!(!reverse.has_waiting_brm());
}

#[test]
fn destination_rule_3_the_newest_may_leave_out_of_rate_too() {
    let config = DestinationConfig { send_waiting_out_of_rate: true, ..DestinationConfig::default() };
    let (mut destination, mut reverse) = (Destination::new(config), started());
    assert_eq!(destination.on_forward_rm(&frm(1_024.0), &mut reverse), None);
    let at_once = destination.on_forward_rm(&frm(2_048.0), &mut reverse);
    assert_eq!(at_once, Some(RmCell { out_of_rate: true, ..brm(2_048.0) }));
    assert_eq!(leaves(&mut reverse), brm(2_048.0));
}

#[test]
fn destination_rule_3_an_efci_mark_goes_with_the_cell_that_is_overwritten() {
    let (mut destination, mut reverse) = (Destination::default(), started());
    destination.on_data(true);
    destination.on_forward_rm(&frm(1_024.0), &mut reverse);
    destination.on_forward_rm(&frm(1_024.0), &mut reverse);
    assert!(!leaves(&mut reverse).congestion_indication);
    // With a marked data cell in between, the newer one says it again.
    for _ in 0..2 {
        destination.on_data(true);
        destination.on_forward_rm(&frm(1_024.0), &mut reverse);
    }
    assert!(leaves(&mut reverse).congestion_indication);
}

// Rule 4.

#[test]
fn destination_rule_4_older_contents_never_follow_newer_ones() {
    // The far end sends 500 cells/s, data among them, and is asked more than 2,000 times a second. The near end's ACR,
    // and with it CCR, grows by 16 cells/s at each BRM.
    for send_waiting_out_of_rate in [false, true] {
        let config = DestinationConfig { send_waiting_out_of_rate, ..DestinationConfig::default() };
        let near = AbrParameters {
            nrm: 4,
            icr: CellRate::new(8_192.0),
            rif: power(10),
            crm: Some(1 << 20),
            ..parameters(16_384.0)
        };
        let mut world = World::with_destinations(&near, Duration::from_us(300), config);
        world.ends[FAR].source = source(&parameters(500.0));
        (world.ends[NEAR].data, world.ends[FAR].data) = (u64::MAX, 100);
        world.run_until(ms(250));
        let back: Vec<RmCell> =
            world.rm_received(NEAR).into_iter().filter(|rm| rm.direction == Direction::Backward).collect();
        assert!(back.iter().map(|rm| rm.current_cell_rate).is_sorted());
        let in_rate = back.iter().filter(|rm| !rm.out_of_rate).count();
        let asked = world.story(NEAR).chars().filter(|letter| *letter == 'F').count();
        assert!(in_rate > 3 && asked > 10 * in_rate, "{asked} FRMs, {in_rate} BRMs in rate");
        assert_eq!(back.len() > asked / 2, send_waiting_out_of_rate);
    }
    // The same with contents that can be told apart: 200 FRMs, numbered in CCR, in and out of rate, two to a turn.
    for send_waiting_out_of_rate in [false, true] {
        let config = DestinationConfig { send_waiting_out_of_rate, ..DestinationConfig::default() };
        let (mut destination, mut reverse) = (Destination::new(config), started());
        let mut left = Vec::new();
        for n in 0..200_u16 {
            let rm =
                RmCell { out_of_rate: n % 3 == 0, current_cell_rate: RateCode::from_bits(n), ..frm(PCR) };
            left.extend(destination.on_forward_rm(&rm, &mut reverse));
            if n % 2 == 0 && reverse.has_waiting_brm() {
                left.push(leaves(&mut reverse));
            }
        }
        let numbers: Vec<u16> = left.iter().map(|rm| rm.current_cell_rate.bits()).collect();
        assert!(numbers.is_sorted() && numbers.len() >= 100, "{numbers:?}");
    }
}

// Rule 5.

#[test]
fn destination_rule_5_a_brm_of_its_own_says_bn_and_leaves_out_of_rate() {
    let mut destination = Destination::default();
    assert_eq!(destination.originate(ms(0), CellRate::new(10.0)), None);
    destination.set_congestion(DestinationCongestion { no_increase: true, ..Default::default() });
    let expected = RmCell {
        direction: Direction::Backward,
        backward_notification: true,
        congestion_indication: false,
        no_increase: true,
        explicit_rate: RateCode::MAX,
        current_cell_rate: RateCode::ZERO,
        minimum_cell_rate: code(10.0),
        out_of_rate: true,
    };
    assert_eq!(destination.originate(ms(0), CellRate::new(10.0)), Some(expected));
}

#[test]
fn destination_rule_5_at_most_ten_a_second() {
    let mut destination = Destination::default();
    destination.set_congestion(DestinationCongestion { congestion_indication: true, ..Default::default() });
    for n in 0..5 {
        assert!(destination.originate(ms(100 * n), CellRate::ZERO).is_some());
        assert_eq!(destination.originate(ms(100 * n), CellRate::ZERO), None);
        assert_eq!(destination.originate(just_before(ms(100 * (n + 1))), CellRate::ZERO), None);
    }
}

#[test]
fn destination_rule_5_the_clock_saturates_at_the_end_of_time() {
    let mut destination = Destination::default();
    destination.set_congestion(DestinationCongestion { congestion_indication: true, ..Default::default() });
    let late = just_before(just_before(Time::NEVER));
    assert!(destination.originate(late, CellRate::ZERO).is_some());
    assert_eq!(destination.originate(just_before(Time::NEVER), CellRate::ZERO), None);
}

// Rule 6.

#[test]
fn destination_rule_6_an_out_of_rate_frm_is_answered_at_once_out_of_rate() {
    let (mut destination, mut reverse) = (Destination::default(), started());
    let tagged = RmCell { out_of_rate: true, ..frm(1_024.0) };
    let answer = destination.on_forward_rm(&tagged, &mut reverse);
    assert_eq!(answer, Some(RmCell { out_of_rate: true, ..brm(1_024.0) }));
    assert!(!reverse.has_waiting_brm());
}

#[test]
fn destination_rule_6_its_contents_replace_older_ones_that_wait() {
    let (mut destination, mut reverse) = (Destination::default(), started());
    destination.on_forward_rm(&frm(2_048.0), &mut reverse);
    let tagged = RmCell { out_of_rate: true, ..frm(1_024.0) };
    assert_eq!(
        destination.on_forward_rm(&tagged, &mut reverse),
        Some(RmCell { out_of_rate: true, ..brm(1_024.0) })
    );
    // In rate now: CLP = 0 (source rule 4).
    assert_eq!(leaves(&mut reverse), brm(1_024.0));
}

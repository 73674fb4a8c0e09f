//! RM values in data cells: what becomes of source rules 2, 3, 5 to 7 and 10.

use cellrate_proto::parameters::RmPlacement;
use cellrate_proto::{AbrParameters, CellRate, Duration, Emission, RmCell, Source, Time};

use crate::world::{Busy, brm, letter, ms, parameters, power, source};

/// PCR = ICR = 1,000 cells/s: cells 1 ms apart.
fn in_band(nrm: u32) -> AbrParameters {
    AbrParameters { nrm, rm: RmPlacement::InBand, ..parameters(1000.0) }
}

/// The next cells, where data wait or not, a letter each; `-` where nothing leaves.
fn story(source: &mut Source, waits: &[bool]) -> String {
    waits
        .iter()
        .map(|&waits| match source.transmit(source.in_rate_opportunity(), waits) {
            Some(emission) => letter(&emission),
            None => '-',
        })
        .collect()
}

#[test]
fn every_nrm_th_data_cell_carries_values_and_no_cell_is_an_frm() {
    assert_eq!(Busy::new(&in_band(4)).cells(9), "VDDDVDDDV");
    assert_eq!(Busy::new(&in_band(1)).cells(4), "VVVV");
    let mut frames = Source::reporting_frames(source(&in_band(4)));
    assert_eq!(story(&mut frames, &[true; 6]), "VDDDDD");
    frames.end_frame();
    assert_eq!(story(&mut frames, &[true, true]), "VD", "the next cell after a frame carries them");
    frames.end_frame();
    assert_eq!(story(&mut frames, &[false, false]), "F-", "or a cell of their own does");
}

#[test]
fn runs_of_data_cells_end_before_values_and_no_round_is_sent_whole() {
    let mut source = source(&in_band(4));
    assert_eq!(story(&mut source, &[true]), "V");
    assert_eq!(source.data_run(source.in_rate_opportunity()), 3);
    assert_eq!(story(&mut source, &[true; 3]), "DDD");
    let at = source.in_rate_opportunity();
    assert_eq!(
        (source.data_run(at), source.whole_rounds(at, ms(90)), source.transmit_data(at)),
        (0, 0, false)
    );
}

#[test]
fn a_waiting_brm_goes_before_data_once_between_two_cells_with_values() {
    for nrm in [1, 4] {
        let mut source = source(&in_band(nrm));
        source.turn_around(brm(500.0));
        assert_eq!(story(&mut source, &[true]), "V", "the first cell says what is asked for (rule 2)");
        assert_eq!(story(&mut source, &[true]), "B");
        source.turn_around(brm(500.0));
        let rest = story(&mut source, &[true; 6]);
        assert_eq!(rest, if nrm == 1 { "VBVVVV" } else { "DDVBDD" }, "Nrm {nrm}");
    }
}

#[test]
fn a_direction_without_data_sends_an_frm_at_first_and_after_trm_only() {
    let mut source = source(&in_band(1));
    let mut letters = String::new();
    for _ in 0..=102 {
        source.turn_around(brm(500.0));
        letters += &story(&mut source, &[false]);
    }
    // The cells are 1 ms apart, and Trm is 100 ms.
    assert_eq!(letters, format!("F{}FBB", "B".repeat(99)));
    assert_eq!(story(&mut source, &[false]), "-", "one that waits is overwritten by the next");
}

#[test]
fn the_values_are_those_of_an_frm_and_its_rules_act_where_they_leave() {
    let limits = AbrParameters { crm: Some(2), cdf: Some(power(1)), ..in_band(1) };
    let mut busy = Busy::new(&limits);
    let mut values = || match busy.cell() {
        (at, Emission::DataWithRm(rm)) => (at, rm),
        other => panic!("{other:?}"),
    };
    let (_, first) = values();
    let says = |rate: f64| {
        let frm = Source::new(AbrParameters::new(CellRate::new(1000.0)), &Default::default())
            .transmit(Time::ZERO, true);
        match frm {
            Some(Emission::ForwardRm(rm)) => {
                RmCell { current_cell_rate: cellrate_proto::RateCode::floor(CellRate::new(rate)), ..rm }
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(first, says(1000.0));
    assert_eq!(values(), (ms(1), says(1000.0)));
    // Two without an answer: rule 6 halves ACR at the third, and the one behind it keeps the new distance.
    assert_eq!(values(), (ms(2), says(500.0)));
    assert_eq!(values(), (ms(4), says(250.0)));
    assert_eq!(busy.source.statistics().cutoff_decreases, 2);
    // Rule 5: back to ICR after ADTF.
    let slow =
        AbrParameters { icr: CellRate::new(10.0), adtf: Duration::from_ms(10), rif: power(0), ..in_band(1) };
    let mut idle = source(&slow);
    assert_eq!(story(&mut idle, &[true]), "V");
    idle.on_backward_rm(ms(1), &brm(1000.0));
    assert_eq!(idle.acr(), CellRate::new(1000.0));
    assert!(matches!(idle.transmit(ms(20), true), Some(Emission::DataWithRm(_))));
    assert_eq!((idle.acr(), idle.statistics().idle_resets), (CellRate::new(10.0), 1));
}

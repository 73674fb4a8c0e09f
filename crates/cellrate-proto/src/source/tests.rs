//! The basics, by state; `tests/rules` holds every rule.

use super::*;

const TEN_US: Duration = Duration::from_us(10);

/// PCR = ICR = 100,000 cells/s: cells 10 us apart.
fn fresh() -> Source {
    Source::new(AbrParameters::new(CellRate::new(100_000.0)), &UiliConfig::None)
}

/// Its first FRM left at 0.
fn running() -> Source {
    let mut source = fresh();
    assert!(matches!(source.transmit(Time::ZERO, true), Some(Emission::ForwardRm(_))));
    source
}

/// A BRM with CI = NI = 0.
fn grants(er: f64) -> RmCell {
    RmCell {
        direction: Direction::Backward,
        explicit_rate: RateCode::floor(CellRate::new(er)),
        ..fresh().forward_rm(false)
    }
}

#[test]
fn one_that_misbehaves_breaks_the_rules_that_it_is_said_to_and_no_others() {
    let interval = |rate: f64| CellRate::new(rate).interval();
    let of = |misbehaviour: Misbehaviour| {
        let mut source = running().misbehaving(misbehaviour);
        source.on_backward_rm(Time::ZERO, &RmCell { congestion_indication: true, ..grants(65_536.0) });
        (source.acr().as_cells_per_s(), source.spacing())
    };
    let honest = Misbehaviour::default();
    assert_eq!(of(honest), (65_536.0, interval(65_536.0)));
    // CI takes a sixteenth off.
    let deaf = Misbehaviour { ignores_er: true, ..honest };
    assert_eq!(of(deaf).0, 93_750.0);
    assert_eq!(of(Misbehaviour { ignores_ci: true, ..honest }).0, 65_536.0);
    assert_eq!(of(Misbehaviour { ignores_ci: true, ..deaf }), (100_000.0, TEN_US));
    assert_eq!(of(Misbehaviour { rate_factor: 2.0, ..honest }), (65_536.0, interval(131_072.0)));
    assert_eq!(Misbehaviour { rate_factor: 0.0, ..honest }.check().unwrap_err().name, "rate_factor");
    assert_eq!(Misbehaviour { tcr_factor: 1001.0, ..honest }.check().unwrap_err().name, "tcr_factor");
    let mut flood = fresh().misbehaving(Misbehaviour { tcr_factor: 4.0, ..honest });
    flood.on_backward_rm(Time::ZERO, &grants(0.0));
    assert!(flood.transmit(Time::ZERO, true).is_some());
    assert_eq!(flood.next_transmission(Time::ZERO, always), Time::ZERO + Duration::from_ms(25));
}

fn always(from: Time) -> Time {
    from
}

fn never(_: Time) -> Time {
    Time::NEVER
}

// Frames that call for FRMs.

#[test]
fn the_end_of_a_frame_calls_for_an_frm_where_the_count_of_cells_does_not() {
    let mut source = running().reporting_frames();
    let story = |source: &mut Source, waits: bool| match source.transmit(source.in_rate_opportunity(), waits)
    {
        None => '-',
        Some(Emission::ForwardRm(_)) => 'F',
        Some(Emission::BackwardRm(_)) => 'B',
        Some(Emission::Data | Emission::DataWithRm(_)) => 'd',
    };
    assert_eq!(source.data_run(source.in_rate_opportunity()), 10_000 - 1, "until Trm");
    assert!((0..100).all(|_| story(&mut source, true) == 'd'));
    assert_eq!((story(&mut source, false), source.next_transmission(Time::ZERO, never)), ('-', Time::NEVER));
    source.end_frame();
    let due = source.in_rate_opportunity();
    assert_eq!(source.next_transmission(Time::ZERO, never), due, "it waits for nothing else");
    assert!(!source.transmit_data(due) && source.data_run(due) == 0);
    assert_eq!([false, false].map(|waits| story(&mut source, waits)), ['F', '-']);
    assert_eq!([true, true].map(|waits| story(&mut source, waits)), ['d', 'd'], "one for each frame");
}

#[test]
fn between_ends_of_frames_trm_calls_for_frms_and_without_them_the_end_of_a_frame_for_none() {
    let mut source = running().reporting_frames();
    let late = Time::ZERO + Duration::from_ms(100);
    assert!([(); 2].iter().all(|()| source.transmit_data(source.in_rate_opportunity())));
    assert!(matches!(source.transmit(late, true), Some(Emission::ForwardRm(_))));
    let mut source = running();
    source.transmit_data(source.in_rate_opportunity());
    source.end_frame();
    assert_eq!(source.transmit(source.in_rate_opportunity(), false), None);
}

// What it takes.

#[test]
fn a_source_takes_72_octets_and_no_more_until_a_rule_of_abnormal_conditions_acts() {
    assert_eq!(size_of::<Source>(), 72);
    let mut source = running();
    assert!(source.extras.is_none());
    source.on_backward_rm(Time::ZERO, &grants(0.0));
    assert!(matches!(source.transmit(Time::ZERO, true), Some(Emission::ForwardRm(_))), "out of rate");
    let again = Time::ZERO + Duration::from_ms(100);
    assert_eq!(source.extras.as_ref().map(|extras| extras.next_out_of_rate), Some(again));
    assert_eq!(source.statistics(), SourceStatistics::default());
}

#[test]
fn more_frms_without_an_answer_than_can_be_counted_are_still_many() {
    let mut source = running();
    source.frms_since_brm = u32::MAX;
    for decreases in 1..=2 {
        source.cells_since_frm = source.parameters.nrm - 1;
        let sent = source.transmit(source.in_rate_opportunity(), true);
        assert!(matches!(sent, Some(Emission::ForwardRm(_))));
        assert_eq!((source.frms_since_brm, source.statistics().cutoff_decreases), (u32::MAX, decreases));
    }
}

// Before the first cell.

#[test]
fn a_fresh_source_may_send_at_once_and_waits_for_something_to_send() {
    let mut source = fresh();
    assert_eq!(source.next_transmission(Time::ZERO, never), Time::NEVER);
    assert_eq!(source.transmit(Time::ZERO, false), None);
    let at = Time::ZERO + Duration::from_ms(3);
    assert_eq!(source.next_transmission(Time::ZERO, |from| from.max(at)), at);
    assert!(matches!(source.transmit(at, true), Some(Emission::ForwardRm(_))));
}

// Running.

#[test]
fn a_running_source_sends_data_one_interval_later_and_nothing_sooner() {
    let mut source = running();
    let due = Time::ZERO + TEN_US;
    assert_eq!(source.next_transmission(Time::ZERO, always), due);
    assert_eq!(source.transmit(Time::from_ps(due.as_ps() - 1), true), None);
    assert_eq!(source.transmit(due, true), Some(Emission::Data));
    assert_eq!(source.next_transmission(due, always), due + TEN_US);
}

/// The data cells that leave one by one, from the next opportunity on, before anything else.
fn data_cells_one_by_one(source: &mut Source) -> u32 {
    let mut count = 0;
    while source.transmit_data(source.in_rate_opportunity()) {
        count += 1;
    }
    count
}

#[test]
fn a_run_of_data_cells_is_as_long_as_one_by_one() {
    // Nrm 32: 31 after an FRM at 10 us each. Trm: an FRM after more than two others once it has passed.
    for (trm, taken, expected) in
        [(100_000, 0, 31), (100_000, 7, 24), (105, 0, 10), (100, 0, 9), (15, 0, 2), (15, 1, 1)]
    {
        let [mut source, mut one_by_one] = [0, 1].map(|_| {
            let mut source = fresh();
            Arc::make_mut(&mut source.parameters).trm = Duration::from_us(trm);
            source.transmit(Time::ZERO, true);
            (0..taken).for_each(|_| assert!(source.transmit_data(source.in_rate_opportunity())));
            source
        });
        let run = source.data_run(source.in_rate_opportunity());
        let count = data_cells_one_by_one(&mut one_by_one);
        assert_eq!((run, count), (expected, expected), "Trm {trm} us");
        source.transmit_run(run, source.last_cell + source.spacing() * u64::from(run));
        assert_eq!(
            (source.last_cell, source.cells_since_frm),
            (one_by_one.last_cell, one_by_one.cells_since_frm)
        );
    }
}

#[test]
fn there_is_no_run_before_the_first_frm_nor_beside_a_brm_nor_below_tcr() {
    assert_eq!(fresh().data_run(Time::ZERO), 0);
    let mut source = running();
    source.turn_around(grants(1.0));
    assert_eq!(source.data_run(source.in_rate_opportunity()), 0);
    let mut slow = running();
    slow.on_backward_rm(Time::ZERO, &grants(9.0));
    assert_eq!(slow.data_run(slow.in_rate_opportunity()), 0);
    let mut just_fast_enough = running();
    just_fast_enough.on_backward_rm(Time::ZERO, &grants(10.0));
    assert!(just_fast_enough.data_run(just_fast_enough.in_rate_opportunity()) > 0);
}

#[test]
fn a_waiting_brm_needs_no_data_to_leave() {
    let mut source = running();
    assert_eq!(source.turn_around(grants(1.0)), None);
    assert_eq!(source.turn_around(grants(2.0)), Some(grants(1.0)));
    let due = source.next_transmission(Time::ZERO, never);
    assert_eq!(due, Time::ZERO + TEN_US);
    assert_eq!(source.transmit(due, false), Some(Emission::BackwardRm(grants(2.0))));
    assert!(!source.has_waiting_brm());
}

#[test]
fn a_brm_changes_acr_and_the_spacing_with_it() {
    // ER = 50,048 = 2^15 * (1 + 270/512); 1/50,048 s = 19.980818... us, rounded up.
    let mut source = running();
    source.on_backward_rm(Time::ZERO, &grants(50_048.0));
    assert_eq!(source.acr(), CellRate::new(50_048.0));
    assert_eq!(source.in_rate_opportunity(), Time::from_ps(19_980_819));
}

// States of the picture above.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Fresh,
    InRate,
    BelowTcr,
}

fn state(source: &Source) -> State {
    match source.has_started() {
        false => State::Fresh,
        true if source.acr().as_cells_per_s() < TCR => State::BelowTcr,
        true => State::InRate,
    }
}

#[test]
fn every_event_leads_where_the_picture_says() {
    use State::{BelowTcr, Fresh, InRate};
    type Event = fn(&mut Source);
    type Make = fn() -> Source;
    let events: [(&str, Event); 6] = [
        ("nothing waits", |source| assert_eq!(source.transmit(source.in_rate_opportunity(), false), None)),
        ("data waits", |source| {
            source.transmit(source.next_transmission(Time::ZERO, always), true);
        }),
        ("a BRM asks for nothing", |source| source.on_backward_rm(Time::ZERO, &grants(1e5))),
        ("a BRM with ER = 0", |source| source.on_backward_rm(Time::ZERO, &grants(0.0))),
        ("a BRM waits", |source| {
            source.turn_around(grants(1.0));
            source.transmit(source.next_transmission(Time::ZERO, never), false);
        }),
        ("restart", |source| source.restart(Time::ZERO)),
    ];
    let below_tcr = || {
        let mut source = running();
        source.on_backward_rm(Time::ZERO, &grants(9.0));
        source
    };
    let table: [(State, Make, [State; 6]); 3] = [
        (Fresh, fresh, [Fresh, InRate, Fresh, Fresh, InRate, Fresh]),
        (InRate, running, [InRate, InRate, InRate, BelowTcr, InRate, Fresh]),
        (BelowTcr, below_tcr, [BelowTcr, BelowTcr, InRate, BelowTcr, BelowTcr, Fresh]),
    ];
    for (from, source, leads_to) in table {
        assert_eq!(state(&source()), from);
        for ((event, happens), to) in events.iter().zip(leads_to) {
            let mut source = source();
            happens(&mut source);
            assert_eq!(state(&source), to, "{from:?}: {event}");
        }
    }
}

// Below TCR.

#[test]
fn a_source_without_rate_asks_for_one_every_100_ms() {
    let mut source = running();
    source.on_backward_rm(Time::ZERO, &grants(0.0));
    assert_eq!(source.in_rate_opportunity(), Time::NEVER);
    for n in 0..3 {
        let due = Time::ZERO + Duration::from_ms(100) * n;
        assert_eq!(source.next_transmission(due, always), due);
        let sent = source.transmit(due, true);
        assert!(matches!(sent, Some(Emission::ForwardRm(RmCell { out_of_rate: true, .. }))), "{sent:?}");
        assert_eq!(source.transmit(due, true), None);
    }
    assert_eq!(source.next_transmission(Time::ZERO, never), Time::NEVER);
}

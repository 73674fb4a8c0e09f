use super::*;
use alloc::vec::Vec;
use proptest::prelude::*;

const ROOM: u64 = 10;
const EARLY: FrameDiscardConfig = FrameDiscardConfig::Early(Early { threshold: Cells(5) });

/// A buffer that cells come to and leave.
struct Buffer {
    discard: FrameDiscard,
    cells: u64,
}

impl Buffer {
    fn new(config: FrameDiscardConfig, vcs: u32) -> Buffer {
        let room = Some(Cells(ROOM));
        assert_eq!(config.check(room), Ok(()));
        let mut discard = FrameDiscard::new(config, room);
        for number in 0..vcs {
            assert_eq!(discard.connect(true, CellRate::ZERO), Slot(number));
        }
        Buffer { discard, cells: 0 }
    }

    /// A cell of a connection comes, the last of its PDU or not.
    fn come(&mut self, vc: u32, ends_pdu: bool) -> bool {
        self.come_tagged(vc, ends_pdu, false)
    }

    fn come_tagged(&mut self, vc: u32, ends_pdu: bool, clp: bool) -> bool {
        let (cell, has_room) = (PduCell { ends_pdu, clp }, self.cells < ROOM);
        let gets_in = self.discard.admits(Slot(vc), cell, Cells(self.cells), has_room, || 0.5);
        self.cells += u64::from(gets_in);
        assert!(self.cells <= ROOM);
        gets_in
    }

    /// A PDU of so many cells comes: which of them get in.
    fn pdu(&mut self, vc: u32, cells: u32) -> Vec<bool> {
        (1..=cells).map(|cell| self.come(vc, cell == cells)).collect()
    }

    fn leave(&mut self, cells: u64) {
        (0..cells).for_each(|_| self.discard.on_departure(None));
        self.cells -= cells;
    }

    fn counts(&self) -> (u64, u64) {
        (self.discard.refused(), self.discard.cut())
    }
}

#[test]
fn where_connections_take_turns_a_departure_says_whose_cell_it_is() {
    let config = FrameDiscardConfig::Selective(Selective { threshold: Cells(1), scale_factor: 1.0 });
    let mut discard = FrameDiscard::before_queues(config, None);
    let [first, second] = [0, 1].map(|_| discard.connect(true, CellRate::ZERO));
    fn admits(discard: &mut FrameDiscard, vc: Slot, ends_pdu: bool, queue: u64) -> bool {
        let cell = PduCell { ends_pdu, clp: false };
        discard.admits(vc, cell, Cells(queue), true, || unreachable!("nothing is left to chance"))
    }
    assert!((0..4).all(|queue| admits(&mut discard, first, queue == 3, queue)));
    assert!((4..6).all(|queue| admits(&mut discard, second, queue == 5, queue)));
    // A cell of the second goes first: with one of five it has less than its part, and the first has more.
    discard.on_departure(Some(second));
    assert!(admits(&mut discard.clone(), second, true, 5));
    assert!(!admits(&mut discard.clone(), first, true, 5));
    // Three of the first go: with one cell each no connection has more.
    (0..3).for_each(|_| discard.on_departure(Some(first)));
    assert!(admits(&mut discard, first, true, 2));
}

#[test]
fn a_pdu_that_lost_a_cell_is_cut_but_for_its_last_cell() {
    let mut buffer = Buffer::new(FrameDiscardConfig::Partial(Partial {}), 2);
    assert_eq!(buffer.pdu(0, 8), [true; 8]);
    assert_eq!((1..4).map(|_| buffer.come(1, false)).collect::<Vec<_>>(), [true, true, false]);
    // There is room again, but not for what is spoiled.
    buffer.leave(3);
    assert!(!buffer.come(1, false));
    assert!(buffer.come(1, true));
    assert_eq!(buffer.pdu(1, 2), [true, true]);
    assert_eq!(buffer.counts(), (0, 1));
}

#[test]
fn where_the_last_cell_is_lost_the_next_one_takes_its_place() {
    let mut buffer = Buffer::new(FrameDiscardConfig::Partial(Partial {}), 2);
    assert_eq!(buffer.pdu(0, 8), [true; 8]);
    assert_eq!(buffer.pdu(1, 4), [true, true, false, false]);
    buffer.leave(3);
    assert_eq!(buffer.pdu(1, 3), [false, false, true]);
    assert_eq!(buffer.pdu(1, 2), [true, true]);
    assert_eq!(buffer.counts(), (0, 1));
}

#[test]
fn a_pdu_whose_first_cell_finds_no_room_is_refused_whole() {
    let mut buffer = Buffer::new(FrameDiscardConfig::Partial(Partial {}), 2);
    assert_eq!(buffer.pdu(0, 10), [true; 10]);
    assert!(!buffer.come(1, false));
    buffer.leave(5);
    assert!(!buffer.come(1, false));
    assert!(!buffer.come(1, true));
    assert_eq!(buffer.pdu(1, 1), [true]);
    assert_eq!(buffer.counts(), (1, 0));
}

#[test]
fn early_discard_refuses_what_begins_above_the_threshold() {
    let mut buffer = Buffer::new(EARLY, 2);
    assert_eq!(buffer.pdu(0, 5), [true; 5], "of which five are at the threshold, not above it");
    assert_eq!(buffer.pdu(1, 3), [true; 3]);
    assert_eq!(buffer.pdu(0, 2), [false; 2]);
    buffer.leave(3);
    assert_eq!(buffer.pdu(0, 7), [true, true, true, true, true, false, false]);
    assert_eq!(buffer.counts(), (1, 1));
}

#[test]
fn selective_discard_leaves_those_alone_that_have_less_than_others() {
    let config = FrameDiscardConfig::Selective(Selective { threshold: Cells(5), scale_factor: 0.8 });
    let mut buffer = Buffer::new(config, 3);
    buffer.pdu(0, 6);
    assert_eq!(buffer.pdu(1, 1), [true], "it has none of six");
    assert_eq!(buffer.pdu(0, 1), [false], "6 * 2 / 7 is above 0.8");
    assert_eq!(buffer.pdu(1, 1), [true], "1 * 2 / 7 is below it");
    assert_eq!(buffer.pdu(1, 1), [true], "2 * 2 / 8 is below it");
    assert_eq!(buffer.pdu(1, 1), [true], "3 * 2 / 9 is below it");
    // Those of the first connection: two are left of it, and four of the other.
    buffer.leave(4);
    assert_eq!(buffer.pdu(0, 1), [true], "6 is above 5, but 2 * 2 / 6 below 0.8");
    assert_eq!(buffer.pdu(1, 1), [false], "4 * 2 / 7");
    assert_eq!(buffer.counts(), (2, 0));
}

#[test]
fn selective_discard_is_for_more_cells_than_its_threshold_and_more_than_a_part_of_them() {
    let selective = |scale_factor, queue: [u32; 2]| {
        let config = FrameDiscardConfig::Selective(Selective { threshold: Cells(5), scale_factor });
        let mut buffer = Buffer::new(config, 2);
        for (vc, cells) in (0..).zip(queue) {
            (0..cells).for_each(|_| {
                assert!(buffer.discard.admits(
                    Slot(vc),
                    PduCell { ends_pdu: true, clp: false },
                    Cells(0),
                    true,
                    || 0.5
                ))
            });
            buffer.cells += u64::from(cells);
        }
        buffer.come(0, true)
    };
    // All five are of the first connection, or all six.
    assert!(selective(0.8, [5, 0]) && !selective(0.8, [6, 0]), "a threshold of five");
    assert!(selective(0.8, [4, 1]) && !selective(0.8, [5, 1]), "4 * 2 / 5 and 5 * 2 / 6 are both above 0.8");
    // 3 * 2 / 6 is 1, and 4 * 2 / 7 above it.
    assert!(selective(1.0, [3, 3]) && !selective(1.0, [4, 3]), "a part of 1");
}

#[test]
fn fair_discard_is_for_more_than_its_part() {
    // Above the threshold of 8 of 10 by 1, with 2 to spare: nine cells of the only connection are 0.5 * 9 * 2.
    let fair = |scale_factor| {
        let config = FrameDiscardConfig::Fair(Fair { threshold: Cells(8), scale_factor });
        let mut buffer = Buffer::new(config, 1);
        assert_eq!(buffer.pdu(0, 9), [true; 9]);
        buffer.come(0, true)
    };
    assert!(fair(0.5) && !fair(0.499));
}

#[test]
fn fair_discard_grows_strict_as_the_buffer_fills() {
    let config = FrameDiscardConfig::Fair(Fair { threshold: Cells(5), scale_factor: 0.8 });
    let mut buffer = Buffer::new(config, 2);
    buffer.pdu(0, 6);
    buffer.pdu(1, 1);
    assert_eq!(buffer.pdu(0, 1), [true], "6 * 2 / 7 is below 0.8 * 5 / 2");
    assert_eq!(buffer.pdu(0, 1), [false], "7 * 2 / 8 is above 0.8 * 5 / 3");
    assert_eq!(buffer.pdu(1, 1), [true], "1 * 2 / 8");
    assert_eq!(buffer.pdu(1, 1), [true], "2 * 2 / 9 is below 0.8 * 5 / 4");
    assert_eq!(buffer.counts(), (1, 0));
}

#[test]
fn cells_without_pdus_are_lost_one_by_one() {
    let mut discard = FrameDiscard::new(EARLY, Some(Cells(ROOM)));
    let vc = discard.connect(false, CellRate::ZERO);
    let admitted = [(9, true), (10, false), (9, true)].map(|(queue, has_room)| {
        (discard.admits(vc, PduCell::default(), Cells(queue), has_room, || 0.0), has_room)
    });
    assert!(admitted.iter().all(|(gets_in, has_room)| gets_in == has_room));
    assert_eq!((discard.refused(), discard.cut()), (0, 0));
}

#[test]
fn what_has_no_effect_is_refused() {
    let fair = |threshold| FrameDiscardConfig::Fair(Fair { threshold: Cells(threshold), scale_factor: 0.8 });
    assert_eq!(EARLY.check(None), Ok(()));
    assert_eq!(EARLY.check(Some(Cells(6))), Ok(()));
    for (config, room) in [(EARLY, Some(Cells(5))), (fair(5), Some(Cells(5))), (fair(5), None)] {
        assert_eq!(config.check(room).map_err(|error| error.name), Err("threshold"));
    }
    for scale_factor in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let config = FrameDiscardConfig::Selective(Selective { threshold: Cells(5), scale_factor });
        assert_eq!(config.check(None).map_err(|error| error.name), Err("scale_factor"));
    }
}

#[test]
fn tagged_pdus_are_refused_above_a_threshold_of_their_own() {
    let config =
        FrameDiscardConfig::DoubleEarly(DoubleEarly { tagged_threshold: Cells(3), threshold: Cells(5) });
    let mut buffer = Buffer::new(config, 2);
    assert_eq!(buffer.pdu(0, 3), [true; 3]);
    assert!(buffer.come_tagged(1, true, true), "of which three are at the threshold, not above it");
    assert!(!buffer.come_tagged(1, true, true));
    assert_eq!(buffer.pdu(0, 2), [true; 2]);
    assert_eq!(buffer.pdu(0, 1), [false]);
    // The first cell decides for its PDU.
    buffer.leave(3);
    assert!(buffer.come_tagged(1, false, false) && buffer.come_tagged(1, true, true));
    assert_eq!(buffer.counts(), (2, 0));
}

#[test]
fn differential_discard_goes_by_parts_of_the_mcrs_and_by_chance() {
    // X 700, Y 300, w 0.2, L 500, H 900, a 0.5: P = 0.8 (0.5 * 160 / 560 + 0.5 * 0.5) = 0.314286.
    let config =
        FrameDiscardConfig::Differential(Differential { low: Cells(500), high: Cells(900), fairness: 0.5 });
    assert_eq!(config.check(Some(Cells(1000))), Ok(()));
    let mut discard = FrameDiscard::new(config, Some(Cells(1000)));
    let [small, large] = [20.0, 80.0].map(|mcr| discard.connect(true, CellRate::new(mcr)));
    let end = |clp| PduCell { ends_pdu: true, clp };
    let never = || unreachable!("nothing is left to chance");
    for queue in 0..700 {
        let vc = if queue < 300 { small } else { large };
        // What has no more than its part is never refused, nor is anything while there are no more than L.
        let draw = || if queue <= 500 { unreachable!("nothing is left to chance") } else { 1.0 };
        assert!(discard.admits(vc, end(false), Cells(queue), true, draw), "{queue}");
    }
    let with = |clp, queue, draw: f64| discard.clone().admits(small, end(clp), Cells(queue), true, || draw);
    assert!(!with(false, 700, 0.314_285) && with(false, 700, 0.314_287));
    assert!(!with(true, 501, 1.0) && with(true, 500, 0.0), "tagged PDUs are refused above L");
    assert!(!with(false, 901, 1.0) && !with(true, 901, 1.0) && with(false, 900, 1.0), "and all above H");
    assert!(discard.clone().admits(large, end(false), Cells(700), true, never), "400 of 700 is below 0.8");
    assert_eq!(discard.refused(), 0);
}

#[test]
fn thresholds_in_the_wrong_order_are_refused() {
    let double = |tagged, threshold| {
        FrameDiscardConfig::DoubleEarly(DoubleEarly {
            tagged_threshold: Cells(tagged),
            threshold: Cells(threshold),
        })
    };
    let differential = |low, high, fairness| {
        FrameDiscardConfig::Differential(Differential { low: Cells(low), high: Cells(high), fairness })
    };
    let room = Some(Cells(10));
    for config in [double(5, 5), double(0, 9), differential(0, 9, 0.0), differential(8, 9, 1.0)] {
        assert_eq!(config.check(room), Ok(()));
    }
    for (config, name) in [
        (double(6, 5), "tagged_threshold"),
        (double(5, 10), "threshold"),
        (differential(9, 9, 0.5), "low"),
        (differential(5, 10, 0.5), "high"),
        (differential(5, 9, 1.5), "fairness"),
        (differential(5, 9, f64::NAN), "fairness"),
    ] {
        assert_eq!(config.check(room).map_err(|error| error.name), Err(name));
    }
}

fn policies() -> impl Strategy<Value = FrameDiscardConfig> {
    let threshold = (0..ROOM).prop_map(Cells);
    (0_u8..6, threshold, 0.1_f64..3.0).prop_map(|(kind, threshold, scale_factor)| match kind {
        0 => FrameDiscardConfig::Partial(Partial {}),
        1 => FrameDiscardConfig::Early(Early { threshold }),
        2 => FrameDiscardConfig::Selective(Selective { threshold, scale_factor }),
        3 => FrameDiscardConfig::DoubleEarly(DoubleEarly {
            tagged_threshold: Cells(threshold.0 / 2),
            threshold,
        }),
        4 if threshold.0 > 0 => FrameDiscardConfig::Differential(Differential {
            low: Cells(threshold.0 / 2),
            high: threshold,
            fairness: scale_factor / 3.0,
        }),
        _ => FrameDiscardConfig::Fair(Fair { threshold, scale_factor }),
    })
}

proptest! {
    #[test]
    fn of_each_pdu_all_gets_in_or_nothing_or_the_beginning_and_perhaps_the_end(
        config in policies(),
        // Who sends a cell, whether it ends a PDU, how many leave before.
        steps in proptest::collection::vec((0_u32..3, 0_u8..4, 0_u64..3), 1..300),
    ) {
        let mut buffer = Buffer::new(config, 3);
        let mut coming: [Vec<bool>; 3] = Default::default();
        // Whether the end of the PDU before is still missing at the receiver.
        let mut is_open = [false; 3];
        let (mut refused, mut cut) = (0, 0);
        for (vc, kind, left) in steps {
            buffer.leave(left.min(buffer.cells));
            let ends = kind == 0;
            let (had_room, number) = (buffer.cells < ROOM, vc as usize);
            let gets_in = buffer.come(vc, ends);
            prop_assert!(had_room || !gets_in);
            coming[number].push(gets_in);
            if !ends {
                continue;
            }
            let pdu = std::mem::take(&mut coming[number]);
            let (last, before) = pdu.split_last().expect("it has a last cell");
            let admitted = pdu.iter().filter(|&&gets_in| gets_in).count();
            if is_open[number] {
                prop_assert!(before.iter().all(|gets_in| !gets_in));
                is_open[number] = !last;
            } else if admitted == 0 {
                refused += 1;
            } else if admitted < pdu.len() {
                let beginning = before.iter().take_while(|&&gets_in| gets_in).count();
                prop_assert_eq!(admitted - usize::from(*last), beginning);
                is_open[number] = !last;
                cut += 1;
            }
        }
        for (pdu, is_open) in coming.iter().zip(is_open) {
            refused += u64::from(pdu.first() == Some(&false) && !is_open);
            cut += u64::from(pdu.first() == Some(&true) && pdu.contains(&false));
        }
        prop_assert_eq!(buffer.counts(), (refused, cut));
    }
}

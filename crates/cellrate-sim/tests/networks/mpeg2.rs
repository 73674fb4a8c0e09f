//! MPEG-2 transport streams at their receivers.

use std::sync::Arc;

use crate::world::World;
use cellrate_proto::{BitRate, CellRate, Duration, Octets, Time};
use cellrate_scenario::traffic::OnOff;
use cellrate_scenario::*;
use cellrate_sim::{RunResult, TransportStreamSummary};

/// 1000 packets a second, references 40 ms apart, 25 pictures a second of 4,000, 1,000 and 165 octets by turns.
fn stream(change: impl FnOnce(&mut Mpeg2Traffic)) -> Traffic {
    use Picture::{Bidirectional, Intra, Predicted};
    let mut stream = Mpeg2Traffic {
        gop: Arc::new([Intra, Predicted, Bidirectional]),
        pictures_per_second: FrameRate::whole(25),
        sizes: [4000, 1000, 165].map(Octets),
        deviation: 0.0,
        rate: BitRate::from_bps(1_504_000),
        control: RateControl::Constant,
        reference_interval: [Duration::from_ms(40); 2],
        packing: Packing::Pairs,
        clock_offset: 0.0,
        decoder: Mpeg2Decoder {
            frequency: 0.5,
            damping: 0.7,
            clock_offset: 0.0,
            delay: Duration::from_ms(100),
            buffer: Octets(100_000),
        },
        start: Time::ZERO,
        end: Time::NEVER,
        record: u32::MAX,
    };
    change(&mut stream);
    Traffic::Mpeg2(Box::new(stream))
}

/// A stream over two lines of 10 Mb/s and 5 ms, at a peak of one cell in 50 us.
fn world(seconds: u64, traffic: Traffic) -> World {
    let mut world = World::new(Duration::from_secs(seconds));
    world.rate = BitRate::from_bps(10_000_000);
    let connection = world.other("vc", Category::Vbr, &["a", "sw", "b"], traffic);
    connection.forward.sender = Sender::Peak(CellRate::new(20_000.0));
    world
}

fn row(result: &RunResult) -> &TransportStreamSummary {
    assert_eq!(result.summary.transport_streams.len(), 1);
    &result.summary.transport_streams[0]
}

#[test]
fn without_jitter_the_clock_becomes_the_encoders_and_all_pictures_are_there() {
    let mut world = world(
        40,
        stream(|stream| {
            stream.clock_offset = 25.0;
            stream.decoder.clock_offset = -10.0;
        }),
    );
    world.scenario.measuring.warm_up = Duration::from_secs(20);
    let result = world.run();
    let row = row(&result);
    assert_eq!((row.references, row.lost_references, row.beyond_tolerance), (500, 0, 0));
    // Cells come with the picosecond's rounding of instants, and stamps with that of 27 MHz.
    assert!(row.peak_jitter_s.unwrap() < 1e-9, "{row:?}");
    assert!(row.max_phase_error_s.unwrap() < 1e-7, "{row:?}");
    assert!((row.mean_frequency_ppm.unwrap() - 25.0).abs() < 0.01, "{row:?}");
    assert!(row.max_frequency_error_ppm.unwrap() < 0.5, "{row:?}");
    // The PDU of a reference is whole 2 ms after it began; then 7 cells 50 us apart, two lines with a cell time each.
    let transit = 0.002 + 7.0 * 50e-6 + 2.0 * (0.005 + 42.4e-6);
    assert!((row.mean_transit_s.unwrap() - transit).abs() < 1e-6, "{row:?}");
    assert_eq!((row.pictures, row.late, row.lost, row.overflowed), (500, 0, 0, 0));
    // An I picture of 4,019 octets has its last part in the 22nd packet, 22 ms after it came; 78 ms are left.
    assert!((row.min_margin_s.unwrap() - 0.080).abs() < 0.001, "{row:?}");
    let list = &result.summary.reference_list;
    assert_eq!((list.len(), list[0].phase_error_s), (1000, 0.0));
    // 35 ppm over 40 ms; and then as the loop has it.
    assert!((list[1].phase_error_s - 1.4e-6).abs() < 40e-9, "{:?}", list[1]);
}

#[test]
fn pictures_are_late_where_the_delay_is_shorter_than_their_way() {
    // Whole 22 ms after its instant an I picture is late with 19 ms beyond the first reference's 2 ms, and P and B of 6
    // and 2 packets are not.
    let result = world(6, stream(|stream| stream.decoder.delay = Duration::from_ms(19))).run();
    let row = row(&result);
    assert_eq!((row.late, row.lost, row.overflowed), (row.pictures.div_ceil(3), 0, 0), "{row:?}");
}

#[test]
fn pictures_that_find_no_room_are_told() {
    let result = world(6, stream(|stream| stream.decoder.buffer = Octets(4000))).run();
    let row = row(&result);
    // 4,019 octets never fit; with 100 ms of delay a P picture and a B picture wait beside an I picture's 4,000.
    assert!(row.overflowed >= row.pictures.div_ceil(3), "{row:?}");
    assert_eq!((row.late, row.lost), (0, 0));
    assert!(row.max_buffer <= 4000 && row.max_buffer > 3800);
}

#[test]
fn a_lost_cell_costs_the_picture_and_maybe_a_reference() {
    let mut world = world(100, stream(|_| {}));
    world.scenario.links[0].line.loss = 0.0005;
    let result = world.run();
    let row = row(&result);
    assert!(row.lost > 0 && row.lost_references > 0, "{row:?}");
    // A PDU of 8 cells is whole with probability 0.996; an I picture has 11, P 3 and B 1 of them, less what a lost end
    // takes along.
    let share = row.lost as f64 / row.pictures as f64;
    assert!((share - 0.02).abs() < 0.01, "{share}");
    assert_eq!(row.references + row.lost_references, 2500, "{row:?}");
}

#[test]
fn bursts_beside_it_move_the_clock_of_a_fast_loop_further() {
    let run = |frequency: f64| {
        let mut world = world(20, stream(|stream| stream.decoder.frequency = frequency));
        let burst = Traffic::OnOff(OnOff {
            rate: CellRate::new(23_000.0),
            on: Period::Fixed(Duration::from_us(7_300)),
            off: Period::Fixed(Duration::from_us(11_900)),
            start: Time::ZERO,
            end: Time::NEVER,
        });
        world.other("burst", Category::Vbr, &["c", "sw", "b"], burst);
        let result = world.run();
        let row = row(&result).clone();
        (row.peak_jitter_s.unwrap(), row.max_frequency_error_ppm.unwrap())
    };
    let (slow, fast) = (run(0.02), run(0.5));
    assert_eq!(slow.0, fast.0, "the network hears nothing of it");
    assert!(slow.0 > 50e-6 && fast.1 > 10.0 * slow.1, "{slow:?} {fast:?}");
}

//! Frames in datagrams: what arrives, when, and what is lost.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use crate::world::{World, greedy, greedy_in, parameters, port};
use cellrate_proto::switch::FrameDiscardConfig;
use cellrate_proto::switch::frame_discard::Early;
use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{BitRate, Cells, Duration, Octets, Time};
use cellrate_scenario::*;
use cellrate_sim::{FrameSummary, RunResult, run_on};

fn frames(change: impl FnOnce(&mut FramesTraffic)) -> Traffic {
    let mut frames = FramesTraffic {
        frames_per_second: FrameRate::whole(25),
        lengths: FrameLengths::Gaussian { size: Octets(14_720), deviation: Octets(0) },
        datagram: Octets(1472),
        header: Octets(28),
        encapsulation: Encapsulation::LlcSnapIpv4,
        follow_acr: None,
        frm_at_frame_ends: false,
        start: Time::ZERO,
        end: Time::NEVER,
        record: u32::MAX,
    };
    change(&mut frames);
    Traffic::Frames(Box::new(frames))
}

/// Two hosts, two switches and 10 Mb/s everywhere, 5 ms from switch to switch.
fn line(seconds: u64) -> World {
    let mut world = World::new(Duration::from_secs(seconds));
    world.rate = BitRate::from_bps(10_000_000);
    world.delay = Duration::ZERO;
    world.link("sw1", "sw2", world.rate, Duration::from_ms(5));
    world
}

const PATH: [&str; 4] = ["a", "sw1", "sw2", "b"];

fn row(result: &RunResult) -> &FrameSummary {
    assert_eq!(result.summary.frames.len(), 1);
    &result.summary.frames[0]
}

#[test]
fn a_frame_takes_its_cells_and_the_way() {
    let mut world = line(1);
    world.other("vc", Category::Ubr, &PATH, frames(|_| {}));
    let result = world.run();
    let row = row(&result);
    assert_eq!((row.frames, row.skipped, row.whole, row.lost, row.unfinished), (25, 0, 25, 0, 0));
    assert_eq!((row.octets, row.whole_datagrams, row.spoiled_datagrams), (25 * 14_720, 250, 0));
    // 320 cells one after the other, two more cell times through the switches, and 5 ms: 322 * 42.4 us + 5 ms.
    assert!((row.max_time_s.unwrap() - 0.018_652_8).abs() < 1e-9, "{row:?}");
    let first = &result.summary.frame_list[0];
    assert_eq!((first.number, first.cells, first.octets, first.lost), (1, 320, 14_720, false));
    assert_eq!((first.at_s, first.left_s), (0.0, Some(319.0 * 42.4e-6)));
    assert!((result.summary.frame_list[24].arrived_s.unwrap() - 0.978_652_8).abs() < 1e-9);
}

#[test]
fn a_frame_that_is_under_way_at_the_end_is_neither_whole_nor_lost() {
    let mut world = line(1);
    world.other(
        "vc",
        Category::Ubr,
        &PATH,
        frames(|frames| frames.frames_per_second = FrameRate::whole(1000)),
    );
    let result = world.run();
    let row = row(&result);
    // 23,585 cells a second at most, 320 a frame: 73 frames less what is on the way.
    assert_eq!((row.frames, row.lost), (1000, 0));
    assert_eq!(row.whole + row.unfinished, 1000);
    assert_eq!(row.whole, 73);
    let late = &result.summary.frame_list[999];
    assert_eq!((late.left_s, late.arrived_s, late.lost), (None, None, false));
}

#[test]
fn a_missing_cell_costs_the_frame_and_every_frame_has_one_fate() {
    let mut world = line(40);
    world.other("vc", Category::Ubr, &PATH, frames(|frames| frames.end = Time::from_ps(39_000_000_000_000)));
    world.scenario.links[0].line.loss = 0.001;
    let result = world.run();
    let row = row(&result);
    assert_eq!((row.frames, row.unfinished), (39 * 25, 0), "nothing is on the way at the end");
    assert_eq!(row.whole + row.lost, 39 * 25);
    // A frame of 320 cells is whole with probability 0.999^320 = 0.726; a datagram whose end is lost takes the next one
    // with it, mostly within the frame. The deviation of the share is 1.4 %.
    let share = row.whole as f64 / row.frames as f64;
    assert!((share - 0.726).abs() < 0.05, "{share}");
    let listed = &result.summary.frame_list;
    assert_eq!(listed.iter().filter(|frame| frame.lost).count() as u64, row.lost);
    assert!(listed.iter().all(|frame| frame.lost != frame.arrived_s.is_some()));
    let vc = &result.summary.vcs[0];
    assert!(vc.dropped > 0 && row.lost <= vc.dropped);
}

/// The line with an outage in which so many cells leave the first switch behind the first `before`.
fn line_that_loses(before: u64, lost: u64) -> World {
    let mut world = line(1);
    world.other("vc", Category::Ubr, &PATH, frames(|_| {}));
    let cell = Duration::from_ns(42_400);
    // The loss of a cell is decided on when its last bit leaves, which is one more after the host's.
    let begins = Time::ZERO + cell * (before + 1) + Duration::from_ns(1);
    world.scenario.links[0].line.outages = vec![Span { start: begins, end: begins + cell * lost }];
    world
}

#[test]
fn each_cell_of_a_datagram_counts_its_first_ones_too() {
    // Datagrams of 32 cells, ten to a frame: cells of the first one, the second, the last; and a whole one.
    for (before, lost, whole, spoiled) in [
        (0, 1, 249, 1),
        (15, 1, 249, 1),
        (32, 1, 249, 1),
        (32, 31, 249, 1),
        (288, 3, 249, 1),
        // With its end the datagram behind it is lost, but not of two that are lost whole the one behind.
        (31, 1, 248, 1),
        (31, 2, 248, 1),
        (32, 64, 248, 0),
        (32, 65, 247, 1),
    ] {
        let result = line_that_loses(before, lost).run();
        let row = row(&result);
        assert_eq!(result.summary.vcs[0].dropped, lost);
        assert_eq!((row.whole, row.lost), (24, 1), "{lost} cells behind {before}");
        assert_eq!((row.whole_datagrams, row.spoiled_datagrams), (whole, spoiled), "{lost} behind {before}");
        let first = &result.summary.frame_list[0];
        assert_eq!((first.lost, first.arrived_s), (true, None));
    }
}

#[test]
fn what_does_not_fit_into_the_buffer_is_lost() {
    let mut world = line(2);
    // Its link is the first, so its cells are the first of those that come at one instant.
    world.other("noise", Category::Ubr, &["c", "sw1", "sw2", "b"], greedy());
    world.other("vc", Category::Ubr, &PATH, frames(|_| {}));
    port(&mut world.scenario, 0, 0).buffers.shared = Some(Cells(100));
    let result = world.run();
    assert_eq!(row(&result).whole, 0, "a greedy neighbour at the line rate leaves no frame whole");
    assert!(row(&result).lost >= 49);
}

#[test]
fn an_frm_follows_each_frame_and_not_each_nrm_cells() {
    let run = |at_frame_ends, per_second, trm| {
        let mut world = line(4);
        let video = frames(|frames| {
            frames.frm_at_frame_ends = at_frame_ends;
            frames.frames_per_second = FrameRate::whole(per_second);
            // The last one has its FRM.
            frames.end = Time::from_ps(3_999_000_000_000);
        });
        parameters(world.abr("vc", &PATH, video)).trm = Duration::from_us(trm);
        let result = world.run();
        let vc = &result.summary.vcs[0];
        assert_eq!((vc.data_sent, vc.dropped), (4 * per_second * 320, 0));
        assert_eq!(row(&result).lost, 0);
        vc.forward_rm_sent
    };
    // The first cell is one, and one comes behind each of 100 frames of 320 cells, of which Trm sees no end.
    assert_eq!(run(true, 25, 100_000), 1 + 100);
    // After 31 others each, among which are the answers to 34 FRMs of the way back, whose others are BRMs.
    assert_eq!(run(false, 25, 100_000), 1 + (32_000 + 34) / 31);
    // 200 ms between frames are more than Trm, which asks once Mrm cells have left: in each frame but the first.
    assert_eq!(run(true, 5, 100_000), 1 + 20 + 19);
    // Trm of 3.125 ms is over at the 74th interval of 42.4 us: in the first frame after 73, 146, 219 and 292 cells, in
    // each other one after 2 and so on.
    assert_eq!(run(true, 25, 3_125), 1 + 100 + 4 + 99 * 5);
}

fn beside_a_burst(follow: Option<FollowAcr>) -> World {
    let mut world = line(12);
    world.control.efci = Some(cellrate_proto::switch::EfciConfig { low: Cells(127), high: Cells(127) });
    let own = world.control.clone();
    port(&mut world.scenario, 0, 0).control = own;
    // 835 cells a frame at 24 a second are 8.5 Mb/s.
    let video = frames(|frames| {
        frames.frames_per_second = FrameRate::whole(24);
        frames.lengths = FrameLengths::Gaussian { size: Octets(38_000), deviation: Octets(0) };
        frames.follow_acr = follow;
    });
    let (start, end) = (Duration::from_secs(3), Duration::from_secs(6));
    for (name, from, traffic) in [("vc", "a", video), ("noise", "c", greedy_in(start, end))] {
        let connection = world.abr(name, &[from, "sw1", "sw2", "b"], traffic);
        let parameters = parameters(connection);
        parameters.rif = cellrate_proto::parameters::PowerOfTwo::from_negative_exponent(6).unwrap();
        parameters.rdf = parameters.rif;
    }
    world
}

#[test]
fn a_sender_that_follows_acr_leaves_frames_out_instead_of_being_late() {
    let late = beside_a_burst(None).run();
    assert_eq!((row(&late).skipped, row(&late).lost), (0, 0));
    assert!(row(&late).max_time_s.unwrap() > 1.0, "{:?}", row(&late));
    let result = beside_a_burst(Some(FollowAcr { share: 0.9, means: None })).run();
    let on_time = row(&result);
    assert!(on_time.skipped > 20 && on_time.skipped < 60, "{on_time:?}");
    assert_eq!(on_time.lost, 0);
    assert!(on_time.max_time_s.unwrap() < 0.4, "{on_time:?}");
    assert_eq!(on_time.frames, 288);
    assert_eq!(on_time.skipped + on_time.whole + on_time.unfinished, 288);
    let beyond = result.summary.frame_list.iter().filter(|frame| frame.at_s >= 8.0).count();
    assert_eq!(beyond, 96, "all of them when the neighbour has gone");
}

#[test]
fn who_follows_acr_begins_with_the_rate_that_its_source_begins_with() {
    // ICR is PCR, of which TBE / FRTT leaves 500 cells / 500 ms, until the first BRM comes after 500 ms. A frame of 320
    // cells every 40 ms: credit is 640 at first, and grows by 36 a frame.
    let mut world = line(1);
    world.scenario.links.clear();
    world.link("sw1", "sw2", world.rate, Duration::from_ms(250));
    let video = frames(|frames| frames.follow_acr = Some(FollowAcr { share: 0.9, means: None }));
    let parameters = parameters(world.abr("vc", &PATH, video));
    (parameters.tbe, parameters.frtt) = (Cells(500), Duration::from_ms(500));
    let result = world.run();
    let before = result.summary.frame_list.iter().filter(|frame| frame.at_s < 0.5);
    assert_eq!(before.map(|frame| frame.number).collect::<Vec<_>>(), [1, 2, 10]);
}

#[test]
fn every_category_loses_whole_pdus_where_its_set_up_says_so() {
    let run = |category: Category, allowed: Option<bool>| {
        let mut world = line(1);
        for path in [["a", "sw1", "sw2", "b"], ["c", "sw1", "sw2", "e"]] {
            let traffic = frames(|frames| frames.frames_per_second = FrameRate::whole(1000));
            let connection = match category {
                Category::Abr => world.abr(path[0], &path, traffic),
                _ => world.other(path[0], category, &path, traffic),
            };
            connection.queue.frame_discard = allowed;
            // Rates that differ from the line's, or a phase that never changes would decide whose cells are lost.
            let share = if path[0] == "a" { 0.93 } else { 0.87 };
            match &mut connection.forward.sender {
                Sender::Peak(peak) => *peak = *peak * share,
                Sender::Abr(_) => {
                    let own = parameters(connection);
                    (own.pcr, own.icr) = (own.pcr * share, own.pcr * share);
                }
            }
        }
        let port = port(&mut world.scenario, 0, 0);
        // Above the threshold there is room for the rest of two PDUs of 32 cells, and for RM cells.
        let room = Some(Cells(200));
        port.buffers = Buffers { guaranteed: room, abr: room, ubr: room, ..Buffers::default() };
        let early = Some(FrameDiscardConfig::Early(Early { threshold: Cells(100) }));
        (port.frame_discard, port.abr_frame_discard, port.guaranteed_frame_discard) = (early, early, early);
        let result = world.run();
        let spoiled: u64 = result.summary.frames.iter().map(|row| row.spoiled_datagrams).sum();
        let line = result.summary.ports.iter().find(|row| row.port == "sw1->sw2").unwrap();
        (line.dropped, line.pdus_refused, spoiled)
    };
    for category in [Category::Cbr, Category::Vbr, Category::Abr, Category::Gfr, Category::Ubr] {
        let (dropped, refused, spoiled) = run(category, Some(true));
        assert!(refused > 500 && spoiled == 0, "{category:?}: {refused} {spoiled}");
        if category != Category::Abr {
            assert_eq!(dropped, 32 * refused, "{category:?}");
        }
        let (dropped, refused, spoiled) = run(category, Some(false));
        assert!(dropped > 10_000 && refused == 0 && spoiled > 300, "{category:?}: {dropped} {spoiled}");
        let whole = matches!(category, Category::Gfr | Category::Ubr);
        assert_eq!(run(category, None), run(category, Some(whole)), "{category:?}");
    }
}

#[test]
fn codecs_of_speech_take_two_cells_a_packet_and_g_711_five() {
    let text = include_str!("../../../../scenarios/telephony.toml");
    let scenario = Document::parse(text, "telephony").and_then(|document| document.resolve()).unwrap();
    let summary = cellrate_sim::run(&scenario, &mut |_| std::ops::ControlFlow::Continue(())).unwrap().summary;
    // RTP, UDP and IP are 40 octets, LLC/SNAP and the trailer of AAL5 8 each: 216, 76, 80, 76 and 89 octets.
    let expected = [(600, 5), (600, 2), (400, 2), (400, 2), (600, 2)];
    for (both, (packets, cells)) in summary.vcs.chunks(2).zip(expected) {
        for row in both {
            assert_eq!((row.data_sent, row.dropped), (packets * cells, 0), "{}", row.vc);
        }
    }
    assert_eq!(summary.frames.len(), 10);
}

#[test]
fn there_are_as_many_events_on_one_thread_as_on_two() {
    // A PDU's end that is known of sooner may be looked for in vain first.
    let text = include_str!("../../../../scenarios/rm-cell-per-frame.toml");
    let points = Document::parse(text, "rm-cell-per-frame").unwrap().points().unwrap();
    let scenario = points.into_iter().nth(1).expect("Nrm cells between FRMs").document.resolve().unwrap();
    let events = [1, 2].map(|threads| {
        let threads = NonZeroUsize::new(threads).expect("not zero");
        run_on(&scenario, threads, &mut |_| ControlFlow::Continue(())).unwrap().summary.run.events
    });
    assert_eq!(events[0], events[1]);
}

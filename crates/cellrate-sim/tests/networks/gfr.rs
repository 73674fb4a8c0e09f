//! GFR at the network's edge and at ports, against closed forms.

use crate::world::{World, port};
use cellrate_proto::policing::frame::FrameContract;
use cellrate_proto::policing::usage::{Action, Rule, UsageConfig};
use cellrate_proto::scheduling::Discipline;
use cellrate_proto::switch::FrameDiscardConfig;
use cellrate_proto::switch::frame_discard::{Differential, DoubleEarly, Partial};
use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{BitRate, CellRate, Cells, Duration, Octets, Time};
use cellrate_scenario::*;
use cellrate_sim::{FrameSummary, RunResult};

/// A line of one cell in 10 us.
const LINE: BitRate = BitRate::from_bps(42_400_000);

/// PDUs of ten cells.
fn frames(per_second: u64) -> Traffic {
    Traffic::Frames(Box::new(FramesTraffic {
        frames_per_second: FrameRate::whole(per_second),
        lengths: FrameLengths::Gaussian { size: Octets(436), deviation: Octets(0) },
        datagram: Octets(436),
        header: Octets(28),
        encapsulation: Encapsulation::LlcSnapIpv4,
        follow_acr: None,
        frm_at_frame_ends: false,
        start: Time::ZERO,
        end: Time::NEVER,
        record: 0,
    }))
}

/// A second in which connections of GFR send frames at these rates and with these MCRs, over lines of their own, to a
/// switch whose line all share.
pub fn world(connections: &[(u64, f64)]) -> World {
    let mut world = World::new(Duration::from_secs(1));
    (world.rate, world.delay) = (BitRate::from_bps(424_000_000), Duration::from_us(3));
    world.link("sw", "d", LINE, Duration::from_us(7));
    for (index, &(per_second, mcr)) in connections.iter().enumerate() {
        let source = format!("h{index}");
        let path = [source.as_str(), "sw", "d"];
        let connection = world.other(&format!("vc{index}"), Category::Gfr, &path, frames(per_second));
        connection.forward.sender = Sender::Peak(CellRate::new(1e6));
        connection.queue.mcr = CellRate::new(mcr);
    }
    world
}

/// Polices the connection of this number at the switch.
fn police(world: &mut World, number: usize, change: impl FnOnce(&mut FrameContract)) {
    let connection = &mut world.scenario.connections[number];
    let mut contract = FrameContract {
        tags: true,
        pcr: CellRate::new(1e6),
        cdvt: Duration::ZERO,
        mcr: connection.queue.mcr,
        mbs: 20,
        mfs: 10,
    };
    change(&mut contract);
    assert_eq!(contract.check(), Ok(()));
    let usage = UsageConfig { rule: Rule::Frames(contract), action: Action::Discard };
    connection.policing.push(Policing { backward: false, hop: 0, usage });
}

fn row(result: &RunResult, number: usize) -> &FrameSummary {
    &result.summary.frames[number]
}

#[test]
fn as_many_frames_are_eligible_as_mcr_and_mbs_allow() {
    // 1,000 frames a second, of which MCR is for 300, and MBS for two more.
    for tags in [true, false] {
        let mut world = world(&[(1000, 3000.0)]);
        police(&mut world, 0, |contract| contract.tags = tags);
        let result = world.run();
        let row = &result.summary.policing[0];
        assert_eq!(row.definition, if tags { "GFR.2" } else { "GFR.1" });
        // A frame is eligible at t if those before leave k n T - t <= L in the bucket, L = 19 (T - T_p), n T = 3.33 ms.
        let limit = 19.0 * (1e6 / 3000.0 - 1.0);
        let mut eligible = 0;
        for frame in 0..1000 {
            let at = f64::from(frame) * 1000.0;
            eligible += u64::from(f64::from(eligible as u32) * 10.0 * 1e6 / 3000.0 - at <= limit);
        }
        assert_eq!(row.conforming, 10 * eligible);
        assert!((300..=302).contains(&eligible), "{eligible}");
        assert_eq!((row.nonconforming, row.discarded), (10_000 - 10 * eligible, 0));
        assert_eq!(row.tagged, if tags { row.nonconforming } else { 0 });
    }
}

#[test]
fn frames_longer_than_mfs_lose_what_is_too_long_but_their_end() {
    let mut world = world(&[(1000, 3000.0)]);
    police(&mut world, 0, |contract| contract.mfs = 8);
    let result = world.run();
    let policing = &result.summary.policing[0];
    // Seven cells pass, two are discarded, and the tenth ends the frame.
    assert_eq!(policing.discarded, 2000);
    let row = row(&result, 0);
    assert_eq!((row.whole, row.spoiled_datagrams), (0, 1000));
}

#[test]
fn frames_too_close_for_the_peak_are_refused_whole() {
    let mut world = world(&[(1000, 3000.0)]);
    // The sender spaces cells by 1 us, which PCR of the contract has at 2 us: the first of each frame passes alone.
    police(&mut world, 0, |contract| contract.pcr = CellRate::new(5e5));
    let result = world.run();
    // The first cell at 0 and the end at 9 us conform, the second does not, and with it the rest.
    assert_eq!(result.summary.policing[0].discarded, 8000);
    assert_eq!(row(&result, 0).spoiled_datagrams, 1000);
}

#[test]
fn weighted_fair_queues_give_each_its_mcr_and_the_rest_in_proportion() {
    // Three that all want the line of 100,000 cells/s, with MCRs of 10, 20 and 50 thousand.
    let mut world = world(&[(11_000, 1e4), (11_000, 2e4), (11_000, 5e4)]);
    let port = port(&mut world.scenario, 0, 0);
    port.queueing =
        Queueing { discipline: Discipline::WeightedFair, room: Some(Cells(300)), ..port.queueing };
    port.frame_discard = Some(FrameDiscardConfig::Partial(Partial {}));
    let result = world.run();
    let got: Vec<f64> = result.summary.vcs.iter().map(|row| row.delivered as f64).collect();
    for (got, share) in got.iter().zip([1.0, 2.0, 5.0]) {
        assert!((got / 1e5 - share / 8.0).abs() < 0.005, "{got:?} for {share}");
    }
}

#[test]
fn before_two_thresholds_what_is_eligible_loses_nothing() {
    // One sends twice its MCR, another ten times; together the MCRs are half of the line.
    let mut world = world(&[(6000, 3e4), (20_000, 2e4)]);
    for number in 0..2 {
        police(&mut world, number, |contract| contract.mbs = 40);
    }
    let port = port(&mut world.scenario, 0, 0);
    port.buffers.ubr = Some(Cells(500));
    port.frame_discard = Some(FrameDiscardConfig::DoubleEarly(DoubleEarly {
        tagged_threshold: Cells(100),
        threshold: Cells(400),
    }));
    let result = world.run();
    let line = result.summary.ports.iter().find(|row| row.port == "sw->d").unwrap();
    assert!(line.pdus_refused > 10_000 && line.pdus_cut == 0, "{line:?}");
    // 100 cells, the frames of two that had begun, and two bursts of what is eligible.
    assert!(line.max_queue <= 100 + 20 + 80, "{line:?}");
    for (row, mcr) in result.summary.vcs.iter().zip([3e4, 2e4]) {
        assert!(row.delivered as f64 > mcr, "{row:?}");
    }
}

#[test]
fn differential_discard_divides_the_line_by_mcr_between_those_that_take_no_notice() {
    let run = |mcrs: [f64; 2]| {
        let mut world = world(&[(11_000, mcrs[0]), (11_000, mcrs[1])]);
        let port = port(&mut world.scenario, 0, 0);
        port.buffers.ubr = Some(Cells(1000));
        port.frame_discard = Some(FrameDiscardConfig::Differential(Differential {
            low: Cells(300),
            high: Cells(900),
            fairness: 0.5,
        }));
        let result = world.run();
        let [one, other] = [0, 1].map(|number| result.summary.vcs[number].delivered as f64);
        one / (one + other)
    };
    let alike = run([1e4, 1e4]);
    assert!((alike - 0.5).abs() < 0.03, "{alike}");
    let unlike = run([1e4, 5e4]);
    assert!(unlike < 0.4, "{unlike}");
}

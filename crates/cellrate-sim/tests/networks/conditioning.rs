//! Sources that shape and mark what they send, against closed forms.

use std::sync::Arc;

use crate::world::{World, greedy, parameters, port};
use cellrate_proto::policing::contract::{Contract, Coupling, Definition};
use cellrate_proto::policing::frame::FrameContract;
use cellrate_proto::policing::usage::{Action, Rule, UsageConfig};
use cellrate_proto::{AbrParameters, BitRate, CellRate, Cells, Duration};
use cellrate_scenario::*;
use cellrate_sim::{PolicingSummary, RunResult};

/// A line of one cell in 10 us.
const LINE: BitRate = BitRate::from_bps(42_400_000);

/// Ten cells at 10 us each, then one every 40 us: a bucket with BT = 270 us.
const BUCKET: Shaping = Shaping { scr: CellRate::new(25e3), mbs: 10 };

/// 10,000 cell times of a greedy VBR source with a cell every 10 us, conditioned so, policed by this definition with
/// the contract of [`BUCKET`] and no tolerance of delay variation; the port behind has no room for tagged cells.
fn one(definition: Definition, conditioning: Conditioning) -> RunResult {
    let mut world = World::new(Duration::from_ms(100));
    world.rate = BitRate::from_bps(424_000_000);
    world.link("s", "sw", world.rate, Duration::from_us(7));
    world.link("sw", "d", LINE, Duration::from_us(7));
    port(&mut world.scenario, 1, 0).buffers.tagged = Some(Cells(0));
    let connection = world.other("vc", Category::Vbr, &["s", "sw", "d"], greedy());
    connection.forward.sender = Sender::Peak(CellRate::new(1e5));
    connection.forward.conditioning = Some(Box::new(conditioning));
    let contract = Contract {
        definition,
        pcr: CellRate::new(1e5),
        cdvt: Duration::ZERO,
        scr: BUCKET.scr,
        mbs: BUCKET.mbs.into(),
        coupling: Coupling::Coupled,
    };
    let usage = UsageConfig { rule: Rule::Fixed(contract), action: Action::Discard };
    connection.policing.push(Policing { backward: false, hop: 0, usage });
    world.run()
}

fn row(result: &RunResult) -> &PolicingSummary {
    &result.summary.policing[0]
}

/// Cells with CLP = 1 that the port of the switch has lost.
fn lost_as_tagged(result: &RunResult) -> u64 {
    result.summary.ports.iter().map(|port| port.tagged_dropped).sum()
}

fn marking(rule: MarkingRule) -> Conditioning {
    Conditioning { shaping: None, marking: Some(Marking { rule, whole_frames: false }) }
}

#[test]
fn vbr_2_holds_to_scr_what_the_source_has_not_tagged_and_vbr_1_all() {
    // Every second cell has CLP = 1; the others come every 20 us, of which 14 find the bucket of 270 us with room and
    // then every second: cells 15 to 4,999 of those.
    let halves = marking(MarkingRule::Every(2));
    let passed = 14 + 2_493;
    let second = one(Definition::Vbr2, halves);
    assert_eq!((row(&second).conforming, row(&second).discarded), (5_000 + passed, 5_000 - passed));
    // Of all cells 10 pass, and then every fourth.
    let first = one(Definition::Vbr1, halves);
    assert_eq!((row(&first).conforming, row(&first).discarded), (2_507, 7_493));
    // VBR.3 tags what VBR.2 discards.
    let third = one(Definition::Vbr3, halves);
    assert_eq!((row(&third).tagged, row(&third).discarded), (5_000 - passed, 0));
    assert_eq!(lost_as_tagged(&third), 10_000 - passed);
}

#[test]
fn a_shaper_sends_a_burst_at_the_peak_and_then_at_scr_and_no_cell_of_it_is_refused() {
    // The eleventh cell leaves at 400 - 270 = 130 us, and the rest every 40 us.
    let shaped = Conditioning { shaping: Some(BUCKET), marking: None };
    let result = one(Definition::Vbr1, shaped);
    assert_eq!(result.summary.vcs[0].sent, 10 + 2_497);
    assert_eq!((row(&result).conforming, row(&result).nonconforming), (10 + 2_497, 0));
}

#[test]
fn a_host_that_tags_what_its_contract_does_not_cover_leaves_nothing_to_the_policer() {
    let result = one(Definition::Vbr3, marking(MarkingRule::Bucket(BUCKET)));
    assert_eq!((row(&result).conforming, row(&result).nonconforming), (10_000, 0));
    assert_eq!(lost_as_tagged(&result), 7_493);
}

#[test]
fn a_share_is_that_of_a_binomial_distribution() {
    // 10,000 draws at 0.3: 3,000, and a standard deviation of 46.
    let result = one(Definition::Vbr2, marking(MarkingRule::Share(0.3)));
    let tagged = lost_as_tagged(&result);
    assert!(tagged.abs_diff(3_000) < 4 * 46, "{tagged}");
}

#[test]
fn frames_are_tagged_as_a_whole_and_gfr_1_leaves_them_alone() {
    // 1,000 frames of ten cells in a second, every fourth tagged; 7,500 cells/s of the others are eligible.
    let mut world = crate::gfr::world(&[(1_000, 7_500.0)]);
    port(&mut world.scenario, 0, 0).buffers.tagged = Some(Cells(0));
    let connection = &mut world.scenario.connections[0];
    let rule = MarkingRule::Every(4);
    let marking = Some(Marking { rule, whole_frames: true });
    connection.forward.conditioning = Some(Box::new(Conditioning { shaping: None, marking }));
    let contract = FrameContract {
        tags: false,
        pcr: CellRate::new(1e6),
        cdvt: Duration::ZERO,
        mcr: CellRate::new(7_500.0),
        mbs: 40,
        mfs: 10,
    };
    let usage = UsageConfig { rule: Rule::Frames(contract), action: Action::Discard };
    connection.policing.push(Policing { backward: false, hop: 0, usage });
    let result = world.run();
    assert_eq!((row(&result).conforming, row(&result).nonconforming), (10_000, 0));
    let frames = &result.summary.frames[0];
    assert_eq!(lost_as_tagged(&result), 2_500);
    assert_eq!((frames.frames, frames.whole, frames.lost), (1_000, 750, 250));
}

/// In-rate cells that a greedy ABR source sends in 100 ms at an ACR of a cell in 40 us and a PCR of one in 10 us, with
/// a bucket of so many cells; no BRM comes back in that time.
fn of_abr(mbs: u32) -> u64 {
    let mut world = World::new(Duration::from_ms(100));
    world.rate = BitRate::from_bps(42_400_000);
    world.delay = Duration::from_ms(60);
    let connection = world.abr("vc", &["s", "sw", "d"], greedy());
    *parameters(connection) =
        AbrParameters { icr: CellRate::new(25e3), cdf: None, ..*parameters(connection) };
    let Sender::Abr(abr) = &mut connection.forward.sender else { unreachable!("it is one of ABR") };
    Arc::make_mut(abr).mbs = mbs;
    let vc = &world.run().summary.vcs[0];
    vc.sent
}

#[test]
fn an_abr_source_behind_a_bucket_sends_a_burst_at_pcr_and_then_at_acr() {
    // Cells at 0, 40 us, ... With ten in the bucket the eleventh leaves at 400 - 270 = 130 us, the rest every 40 us.
    assert_eq!(of_abr(1), 2_500);
    assert_eq!(of_abr(10), 10 + 2_497);
    // BT = 2,699 (40 - 10) us = 80.97 ms, so that cell k leaves at 40 k - 80,970 us: at PCR up to cell 2,699.
    assert_eq!(of_abr(2_700), 2_700 + 1_825);
}

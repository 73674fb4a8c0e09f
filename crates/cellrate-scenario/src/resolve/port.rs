//! Settings of a switch's output port: buffers, what they lose, the turn of RM cells, EFCI thresholds, BRMs to
//! originate, algorithm.

use cellrate_proto::Cells;
use cellrate_proto::declaration::Reading;
use cellrate_proto::scheduling::{Discipline, Weight};
use cellrate_proto::switch::{
    BecnConfig, EfciConfig, FrameDiscardConfig, PacketMarkingConfig, PortControlConfig, SwitchAlgorithmConfig,
};

use super::{algorithm, vs_vd};
use crate::model::{Buffers, Port, Queueing, RmCells};
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::quantity;
use crate::text::reading::{optional, word};
use crate::text::tree::{Node, Table};
use crate::text::written::Written;

/// The port that a checked table of `buffers`, `frame_discard` and its like, `ecn`, `queueing`, `rm_cells`,
/// `efci`, `becn`,
/// `algorithm` and `vs_vd` describes.
pub(super) fn read(table: &Table) -> Result<Port, Fault> {
    let inner = |key: &str| table.node(key).and_then(Node::table);
    let values = Written::new(table, Place::default());
    let (becn, vs_vd) = (<BecnConfig as Reading<_>>::read(&values, "becn")?, vs_vd::read(table)?);
    if let (Some(node), Some(_), Some(_)) = (table.node("becn"), becn, vs_vd) {
        let message = "becn cannot go with vs_vd, by which the port ends the loops of the sources before it and tells them in their own RM cells";
        return Err(Fault::new(node.place, message, "Turn one of the two off"));
    }
    let buffers = <Buffers as Reading<_>>::read(&values, "buffers")?.unwrap_or_default();
    let rooms = buffers.rooms();
    let discard =
        |key: &str, class: usize| inner(key).map_or(Ok(None), |table| frame_discard(table, rooms[class]));
    Ok(Port {
        buffers,
        frame_discard: discard("frame_discard", 2)?,
        abr_frame_discard: discard("frame_discard_abr", 1)?,
        guaranteed_frame_discard: discard("frame_discard_guaranteed", 0)?,
        ecn: table.node("ecn").map(ecn).transpose()?.flatten(),
        queueing: inner("queueing").map(queueing).transpose()?.unwrap_or_default(),
        rm_cells: word(table, "rm_cells", RmCells::named),
        control: PortControlConfig {
            efci: table.node("efci").map(efci).transpose()?.flatten(),
            becn,
            algorithm: inner("algorithm").map_or(Ok(SwitchAlgorithmConfig::None), algorithm::built_in)?,
        },
        custom: inner("algorithm").map(algorithm::custom).transpose()?.flatten(),
        vs_vd,
    })
}

/// Refuses what the ports of a live run do not do: mark packets.
pub(super) fn refuse(root: &Table) -> Result<(), Fault> {
    let switches = root.tables("switch").map(|(_, table)| table).chain(super::defaults(root, "switch"));
    for switch in switches {
        let ports = switch.node("ports").and_then(Node::table);
        let own = ports.into_iter().flat_map(|ports| &ports.entries).filter_map(|entry| entry.node.table());
        for port in own.chain([switch]) {
            if let Some(node) = port.node("ecn").filter(|node| node.table().is_some()) {
                let message = "ecn needs a simulation: the ports of a live run mark no packets";
                return Err(Fault::new(node.place, message, "Leave it out, or write ecn = \"off\""));
            }
        }
    }
    Ok(())
}

fn queueing(table: &Table) -> Result<Queueing, Fault> {
    let discipline = match table.text("type") {
        Some("round-robin") => Discipline::RoundRobin,
        Some("deficit-round-robin") => {
            let quantum = optional(table, "quantum", |node| check::integer(node, 1, 65_536))?.unwrap_or(1);
            Discipline::DeficitRoundRobin { quantum: quantum as u32 }
        }
        Some("weighted-fair") => Discipline::WeightedFair,
        _ => Discipline::Fifo,
    };
    let weights = |table: &Table| {
        let weight = |key: &str| {
            optional(table, key, quantity::ratio).map(|given| given.map_or(Weight::ONE, Weight::nearest))
        };
        Ok([weight("guaranteed")?, weight("abr")?, weight("ubr")?])
    };
    let class_weights = table.node("class_weights").and_then(Node::table).map(weights).transpose()?;
    let room = optional(table, "room", quantity::cells)?;
    if let Some(node) = table.node("room").filter(|_| room == Some(Cells::ZERO)) {
        let message = format!("room is {}", node.plain());
        return Err(Fault::new(node.place, message, "It must be at least 1 cell"));
    }
    Ok(Queueing { discipline, class_weights, room, ..Queueing::default() })
}

/// Frame discard of a buffer with so much `room`, as a checked table describes it.
fn frame_discard(table: &Table, room: Option<Cells>) -> Result<Option<FrameDiscardConfig>, Fault> {
    let Some(name) = table.node("type") else { return Ok(None) };
    let read = FrameDiscardConfig::read(name.text().unwrap_or_default(), &Written::new(table, name.place));
    let Some(config) = read.transpose()? else { return Ok(None) };
    check::configuration(config.check(room), |key| table.node(key), name.place)?;
    Ok(Some(config))
}

fn efci(node: &Node) -> Result<Option<EfciConfig>, Fault> {
    let Some(table) = node.table() else { return Ok(None) };
    let config = EfciConfig::read(&Written::of(node))?;
    match table.node("low") {
        Some(node) if config.low > config.high => {
            let message = format!("{} is above high, which is {}", node.plain(), config.high);
            Err(Fault::new(node.place, message, "It must be at most high"))
        }
        _ => Ok(Some(config)),
    }
}

fn ecn(node: &Node) -> Result<Option<PacketMarkingConfig>, Fault> {
    let Some(table) = node.table() else { return Ok(None) };
    let marking = PacketMarkingConfig::read(table.text("type"), &Written::new(table, node.place))?;
    match (&marking, table.node("maximum")) {
        (PacketMarkingConfig::Red(red), Some(node)) if red.maximum <= red.minimum => {
            let message = format!("maximum is {}, and minimum {}", red.maximum, red.minimum);
            Err(Fault::new(node.place, message, "Write a maximum above minimum"))
        }
        _ => Ok(Some(marking)),
    }
}

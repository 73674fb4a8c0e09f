//! Shapers and markers of senders without feedback.

use cellrate_proto::CellRate;

use super::rounded;
use crate::model::{Category, Conditioning, Connection, Marking, MarkingRule, Shaping, TaggedUnit, Tagging};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::tree::{Node, Table};
use crate::text::written::Written;

/// Conditions the two directions of `connection` as its checked table says.
pub(super) fn build(connection: &mut Connection, table: &Table) -> Result<(), Fault> {
    let reverse = table.node("reverse").and_then(Node::table);
    for (backward, table) in [(false, Some(table)), (true, reverse)] {
        let Some(table) = table else { continue };
        let conditioning = Conditioning {
            shaping: written(table, "shaping").map(|node| shaping(node, connection, backward)).transpose()?,
            marking: written(table, "tagging").map(|node| marking(node, connection, backward)).transpose()?,
        };
        if conditioning != Conditioning::default() {
            let flow = if backward { &mut connection.backward } else { &mut connection.forward };
            flow.conditioning = Some(Box::new(conditioning));
        }
    }
    Ok(())
}

/// The table that `key` is, which may be the word "off".
fn written<'a>(table: &'a Table, key: &str) -> Option<&'a Node> {
    table.node(key).filter(|node| node.table().is_some())
}

fn shaping(node: &Node, connection: &Connection, backward: bool) -> Result<Shaping, Fault> {
    check_place("shaping", node, connection, backward)?;
    let shaping = Shaping::read(&Written::of(node))?;
    check_rate(node, shaping.scr, connection.flow(backward).sender.pcr())?;
    Ok(shaping)
}

fn marking(node: &Node, connection: &Connection, backward: bool) -> Result<Marking, Fault> {
    check_place("tagging", node, connection, backward)?;
    let values = Written::of(node);
    let Tagging { share, every, scr, mbs, of } = Tagging::read(&values)?;
    let rule = match (share, every, scr, mbs) {
        (Some(share), None, None, None) => MarkingRule::Share(share),
        (None, Some(every), None, None) => MarkingRule::Every(every),
        (None, None, Some(scr), Some(mbs)) => {
            check_rate(node, scr, connection.flow(backward).sender.pcr())?;
            MarkingRule::Bucket(Shaping { scr, mbs })
        }
        (None, None, Some(_), None) => {
            return Err(check::missing(node.place, "mbs", "the maximum burst size of the bucket in cells"));
        }
        (None, None, None, Some(_)) => {
            return Err(check::missing(node.place, "scr", "the sustainable cell rate of the bucket"));
        }
        (None, None, None, None) => {
            return Err(check::missing(node.place, "share", "this, or every, or scr and mbs"));
        }
        _ => {
            let message = "tagging has more than one rule of which cells have CLP = 1";
            let remedy = "Write one of them: share, or every, or scr and mbs";
            return Err(Fault::new(node.place, message, remedy));
        }
    };
    let has_frames = connection.carries_pdus(backward);
    let default = match connection.category {
        Category::Gfr => TaggedUnit::Frames,
        _ => TaggedUnit::Cells,
    };
    let whole_frames = of.unwrap_or(default) == TaggedUnit::Frames;
    if whole_frames && !has_frames {
        let message = "of is \"frames\", and the traffic of this direction is in single cells";
        let remedy = "Write of = \"cells\", or traffic of type \"tcp\", \"frames\" or \"mpeg2\"";
        return Err(Fault::new(values.place_of("of"), message, remedy));
    }
    Ok(Marking { rule, whole_frames })
}

/// Refuses what has no effect where it stands: cells of ABR in rate have CLP = 0 (source rule 4), and are paced by ACR.
fn check_place(key: &str, node: &Node, connection: &Connection, backward: bool) -> Result<(), Fault> {
    if connection.category == Category::Abr {
        let (message, remedy) = match key {
            "tagging" => (
                "in-rate cells of an abr connection have CLP = 0 (source rule 4)",
                "Leave tagging out, or write another category",
            ),
            _ => (
                "shaping is for senders without feedback: cells of an abr connection leave at ACR",
                "Leave it out, or write abr = { mbs = ... }, a bucket that ACR fills, or another category",
            ),
        };
        return Err(Fault::new(node.place, message, remedy));
    }
    if connection.carries_data(backward) || connection.carries_packets() {
        return Ok(());
    }
    let message = format!("{key} needs cells to act on, and this direction carries none");
    Err(Fault::new(node.place, message, "Leave it out, or give the direction traffic"))
}

fn check_rate(node: &Node, scr: CellRate, pcr: CellRate) -> Result<(), Fault> {
    if scr <= pcr {
        return Ok(());
    }
    let place = Written::of(node).place_of("scr");
    let [scr, pcr] = [scr, pcr].map(|rate| rounded(rate.as_cells_per_s()));
    let remedy = format!("It must be at most PCR, which is {pcr} cells/s");
    Err(Fault::new(place, format!("scr is {scr} cells/s"), remedy))
}

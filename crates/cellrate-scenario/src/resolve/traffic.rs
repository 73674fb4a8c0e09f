//! Traffic of sending ends.

use cellrate_proto::{CellRate, Duration, Time};

use super::timing::{period, start_and_end};
use super::{frames, instant, optional, tcp, video};
use crate::model::{Custom, GreedyWindow, RequestResponse, Traffic};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::tree::{Node, Table};

/// The traffic that a checked table describes, of a sender with this peak rate; `None` for none.
pub(super) fn read(node: &Node, peak: CellRate) -> Result<Option<Traffic>, Fault> {
    let Some(table) = node.table() else { return Ok(None) };
    Ok(match table.text("type").unwrap_or("greedy") {
        "limited" => Some(limited(node, table)?),
        "constant" => {
            let (start, end) = start_and_end(table)?;
            Some(Traffic::Constant { rate: rate(node, table)?, start, end })
        }
        "on-off" => {
            let (start, end) = start_and_end(table)?;
            let period = |key: &str| match optional(table, key, period)? {
                Some(period) => Ok(period),
                None => Err(check::missing(node.place, key, "its length")),
            };
            Some(Traffic::OnOff {
                rate: rate(node, table)?,
                on: period("on")?,
                off: period("off")?,
                start,
                end,
            })
        }
        "timed" => Some(Traffic::Timed { cells: optional(table, "cells", timed)?.unwrap_or_default() }),
        "tcp" => Some(Traffic::Tcp(Box::new(tcp::read(node, table)?))),
        "video" => Some(Traffic::Video(Box::new(video::read(node, table)?))),
        "frames" => Some(Traffic::Frames(Box::new(frames::read(node, table)?))),
        "request-response" => Some(Traffic::RequestResponse(request_response(node, table, peak)?)),
        "custom" => Custom::read(table)?.map(Traffic::Custom),
        "none" => None,
        _ => Some(Traffic::Greedy { windows: windows(table)? }),
    })
}

fn request_response(node: &Node, table: &Table, peak: CellRate) -> Result<RequestResponse, Fault> {
    let (start, end) = start_and_end(table)?;
    let time =
        |key: &str, default| optional(table, key, quantity::time).map(|given| given.unwrap_or(default));
    let count = |key: &str, low, default| {
        let given = optional(table, key, |node| check::integer(node, low, i64::from(u32::MAX)))?;
        Ok(given.map_or(default, |count| count as u32))
    };
    Ok(RequestResponse {
        request: optional(table, "request", burst)?.unwrap_or(16),
        response: optional(table, "response", burst)?
            .ok_or_else(|| check::missing(node.place, "response", "its length, such as \"256 cells\""))?,
        requests: count("requests", 1, 1)?,
        request_gap: time("request_gap", Duration::ZERO)?,
        cycle_gap: time("cycle_gap", Duration::from_ms(1))?,
        server_time: time("server_time", Duration::ZERO)?,
        rate: optional(table, "rate", quantity::positive_cell_rate)?.unwrap_or(peak),
        start,
        end,
        record: count("record", 0, 0)?,
    })
}

/// The length of a burst.
fn burst(node: &Node) -> Result<u32, Fault> {
    let cells = quantity::cells(node)?.0;
    u32::try_from(cells).ok().filter(|&cells| cells > 0).ok_or_else(|| {
        let message = format!("{} is {cells} cells", node.plain());
        Fault::new(node.place, message, "A burst has from 1 to 4294967295 cells")
    })
}

fn rate(node: &Node, table: &Table) -> Result<CellRate, Fault> {
    let rate = optional(table, "rate", quantity::positive_cell_rate)?;
    rate.ok_or_else(|| check::missing(node.place, "rate", "such as \"10 Mbps\""))
}

fn windows(table: &Table) -> Result<Vec<GreedyWindow>, Fault> {
    let direct = ["start", "end", "cells"].into_iter().find_map(|key| table.entry(key));
    match (table.node("windows"), direct) {
        (Some(_), Some(entry)) => {
            let message = format!("the traffic has both windows and {}", entry.key);
            Err(Fault::new(entry.place, message, "Write it into the windows"))
        }
        (None, None) => Ok(Vec::new()),
        (None, Some(_)) => Ok(vec![window(table)?]),
        (Some(node), None) => {
            let mut windows: Vec<GreedyWindow> = Vec::new();
            for node in check::list(node)? {
                let Some(table) = node.table() else { continue };
                let next = window(table)?;
                if let Some(last) = windows.last().filter(|last| next.start < last.end) {
                    let message = format!(
                        "the window begins at {}, and the one before it ends at {}",
                        next.start, last.end
                    );
                    return Err(Fault::new(
                        node.place,
                        message,
                        "Write windows in order and apart, each with its end",
                    ));
                }
                windows.push(next);
            }
            Ok(windows)
        }
    }
}

fn window(table: &Table) -> Result<GreedyWindow, Fault> {
    let (start, end) = start_and_end(table)?;
    Ok(GreedyWindow { start, end, cells: optional(table, "cells", quantity::cells)? })
}

fn limited(node: &Node, table: &Table) -> Result<Traffic, Fault> {
    let rate_or_none = |node: &Node| {
        if node.text() == Some("unlimited") { Ok(None) } else { quantity::cell_rate(node).map(Some) }
    };
    match (table.node("steps"), table.node("rate")) {
        (Some(_), Some(rate)) => {
            Err(Fault::new(rate.place, "the traffic has both steps and a rate", "Write one of them"))
        }
        (None, None) => Err(check::missing(node.place, "rate", "such as \"10 Mbps\", or steps")),
        (None, Some(rate)) => Ok(Traffic::Limited { steps: vec![(Time::ZERO, rate_or_none(rate)?)] }),
        (Some(list), None) => {
            let mut steps: Vec<(Time, Option<CellRate>)> = Vec::new();
            for node in check::list(list)? {
                let [at, rate] = check::pair(node)?;
                let at_time = instant(at)?;
                if steps.last().is_some_and(|(last, _)| at_time <= *last) {
                    let message = format!("{} is not after the step before it", at.plain());
                    return Err(Fault::new(at.place, message, "Write steps in order of time"));
                }
                steps.push((at_time, rate_or_none(rate)?));
            }
            Ok(Traffic::Limited { steps })
        }
    }
}

fn timed(node: &Node) -> Result<Vec<(Time, u32)>, Fault> {
    let mut cells: Vec<(Time, u32)> = Vec::new();
    for node in check::list(node)? {
        let [at, count] = check::pair(node)?;
        let time = instant(at)?;
        if cells.last().is_some_and(|(last, _)| time <= *last) {
            let message = format!("{} is not after the instant before it", at.plain());
            return Err(Fault::new(at.place, message, "Write instants in order of time, each once"));
        }
        cells.push((time, check::integer(count, 1, i64::from(u32::MAX))? as u32));
    }
    Ok(cells)
}

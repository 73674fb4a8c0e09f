//! Traffic as a checked table describes it.

use cellrate_proto::{CellRate, Duration};

use super::{frames, mpeg2, tcp, video};
use crate::model::{Custom, RequestResponse, Traffic};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::{optional, start_and_end};
use crate::text::tree::{Node, Table};

/// The traffic that a checked table describes, of a sender with this peak rate; `None` for none.
pub(super) fn read(node: &Node, peak: CellRate) -> Result<Option<Traffic>, Fault> {
    let Some(table) = node.table() else { return Ok(None) };
    let name = table.text("type").unwrap_or("greedy");
    if let Some(traffic) = Traffic::declared(name, node, table) {
        return traffic.map(Some);
    }
    Ok(match name {
        "tcp" => Some(Traffic::Tcp(Box::new(tcp::read(node, table)?))),
        "video" => Some(Traffic::Video(Box::new(video::read(node, table)?))),
        "mpeg2" => Some(Traffic::Mpeg2(Box::new(mpeg2::read(node, table)?))),
        "frames" => Some(Traffic::Frames(Box::new(frames::read(node, table)?))),
        "request-response" => Some(Traffic::RequestResponse(request_response(node, table, peak)?)),
        "custom" => Custom::read(table)?.map(Traffic::Custom),
        _ => None,
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

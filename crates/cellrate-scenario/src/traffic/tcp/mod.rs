//! TCP as a family: every feature a setting of its own, and presets that name what a paper or a system used.

mod config;
mod delayed_ack;
mod keys;
mod pages;
mod presets;
mod reading;

use cellrate_proto::declaration::{Key, Shape, joined, total};
use cellrate_proto::wire::{Encapsulation, cells_for};
use cellrate_proto::{CellRate, Cells, Duration, Octets, Time};

use super::TrafficKind;
use super::kinds::Declared;
use crate::text::error::Fault;
use crate::text::reading::{encapsulation, optional, start_and_end};
use crate::text::tree::{Node, Table};
use crate::text::written::{FromNode, OctetsOrNoEnd};
use crate::text::{check, quantity};

pub use config::*;
pub use delayed_ack::DelayedAck;
pub(crate) use keys::FLOW_TCP;
pub use pages::*;
pub use presets::*;

/// TCP traffic of one direction of a connection: the sender at its beginning, the receiver at its end, and the ACKs as
/// data of the other direction.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpTraffic {
    /// How both ends behave.
    pub tcp: TcpConfig,
    /// How IP packets become AAL5 SDUs, both ways.
    pub encapsulation: Encapsulation,
    /// TCP connections side by side on the VC that send `transfer`, up to 65535; none where there are only pages.
    pub connections: u16,
    /// Amount that each of them sends; `None` is without end.
    pub transfer: Option<Octets>,
    /// When the application hands over its data; these connections are open by then, without handshake. When the first
    /// page begins.
    pub start: Time,
    /// From this instant on nothing is sent for the first time: what is on its way is completed, the rest is dropped by
    /// the application.
    pub end: Time,
    /// Pages that clients fetch beside those connections; on the forward flow only. The backward flow carries the
    /// responses, with its own settings if it has TCP traffic, else with these.
    pub pages: Option<Pages>,
    /// The queue at each end of the VC for PDUs that wait for their turn.
    pub adapter_queue: AdapterQueue,
    /// Whether `connections` is 1 and stands for one after the other: a new one for each flow of a size that a
    /// [demand](crate::Demand) gives the VC. There are no `transfer` and no `pages` then.
    pub successive: bool,
}

/// The queue between IP and the VC: its room, or what it does to TCP when it is full. A PDU that finds no room is lost
/// whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AdapterQueue {
    /// Without limit (default).
    #[default]
    Unbounded,
    /// So many cells, those of a PDU in transmission that have not left included.
    Cells(Cells),
    /// So many PDUs, the one in transmission included.
    Pdus(u64),
    /// Back-pressure: TCP hands over its next data while fewer cells than this wait [at least 1], and keeps them
    /// otherwise. Nothing is lost. ACKs and SYN are taken in at any time.
    HighWater(Cells),
    /// ACKs of the direction back pass while fewer cells than this wait [at least 1], and are held otherwise.
    HoldAcks(Cells),
    /// The window that ACKs of the direction back offer becomes what ACR carries in so long, a segment at least: all
    /// connections have equal parts.
    Window(Duration),
}

impl Declared for TcpTraffic {
    const SHAPE: Shape = Shape {
        name: "tcp",
        about: "TCP over IP over AAL5; the ACKs go the other way as data. Each key is an independent setting.",
        keys: {
            const PARTS: &[&[Key]] = &[keys::KEYS, keys::APPLICATION];
            &joined::<_, { total(PARTS) }>(PARTS)
        },
    };

    fn read(node: &Node, table: &Table, _peak: CellRate) -> Result<TcpTraffic, Fault> {
        let preset = table.text("preset").and_then(Preset::named).unwrap_or(&PRESETS[0]);
        let encapsulation = encapsulation(table).unwrap_or(preset.encapsulation);
        let (start, end) = start_and_end(table)?;
        let pages = optional(table, "pages", |node| pages::read(node, start))?;
        let by_default = if pages.is_some() { 0 } else { 1 };
        let connections =
            optional(table, "connections", |node| check::integer(node, 0, 65_535))?.unwrap_or(by_default);
        let clients = pages.as_ref().map_or(0, |pages| i64::from(pages.clients));
        if connections + clients > 65_535 {
            let message =
                format!("{connections} connections and {clients} clients are more than 65535 together");
            return Err(Fault::new(node.place, message, "Write fewer, and give the others to another vc"));
        }
        let transfer = optional(table, "transfer", OctetsOrNoEnd::from_node)?.flatten();
        if let (Some(Octets(0)), Some(node)) = (transfer, table.node("transfer")) {
            return Err(Fault::new(
                node.place,
                "transfer is 0 octets, which sends nothing",
                "Write more than 0",
            ));
        }
        if let Some(node) = table.node("transfer").filter(|_| connections == 0) {
            let remedy = "Leave transfer out, or write connections = 1";
            return Err(Fault::new(
                node.place,
                "transfer needs connections to send it, and connections is 0",
                remedy,
            ));
        }
        let tcp = reading::config(node.place, table, preset)?;
        let adapter_queue = optional(table, "adapter_queue", adapter_queue)?.unwrap_or_default();
        let by_acks = matches!(adapter_queue, AdapterQueue::HoldAcks(_) | AdapterQueue::Window(_));
        if let (Some(node), true, true) = (table.node("adapter_queue"), by_acks, pages.is_some()) {
            let message = "adapter_queue with hold_acks or window cannot go with pages: it acts on ACKs without data, and those of pages travel with data";
            return Err(Fault::new(node.place, message, "Leave pages out, or write another adapter_queue"));
        }
        let segment = cells_for(tcp.mss + tcp.header, encapsulation);
        if let AdapterQueue::Cells(room) = adapter_queue
            && room < segment
        {
            let place = table.node("adapter_queue").map_or(node.place, |node| node.place);
            let message =
                format!("the adapter's queue is {room}, and a segment of {} takes {segment}", tcp.mss);
            return Err(Fault::new(place, message, "Write room for a segment at least"));
        }
        Ok(TcpTraffic {
            tcp,
            encapsulation,
            connections: connections as u16,
            transfer,
            start,
            end,
            pages,
            adapter_queue,
            successive: false,
        })
    }
}

impl TrafficKind for TcpTraffic {
    fn delay(&mut self, phase: Duration) {
        self.start = self.start.saturating_add(phase);
        self.end = self.end.saturating_add(phase);
        if let Some(pages) = &mut self.pages {
            pages.end = pages.end.saturating_add(phase);
        }
    }

    fn changes(&self) -> Vec<Time> {
        vec![self.start, self.end]
    }

    fn sends_at(&self, at: Time) -> bool {
        self.start <= at && at < self.end
    }
}

/// TCP that carries flows of a size, one after the other, from a sender with this peak rate.
pub(crate) fn of_flows(node: &Node, peak: CellRate) -> Result<TcpTraffic, Fault> {
    let table = node.table().cloned().unwrap_or_default();
    let traffic = TcpTraffic::read(node, &table, peak)?;
    if let (Some(node), AdapterQueue::HoldAcks(_) | AdapterQueue::Window(_)) =
        (table.node("adapter_queue"), traffic.adapter_queue)
    {
        let message = "adapter_queue with hold_acks or window cannot go with flows: it acts on the ACKs of connections that last";
        return Err(Fault::new(node.place, message, "Write another adapter_queue"));
    }
    Ok(TcpTraffic { successive: true, ..traffic })
}

fn adapter_queue(node: &Node) -> Result<AdapterQueue, Fault> {
    if let Some(table) = node.table() {
        let pdus = optional(table, "pdus", |node| check::integer(node, 1, i64::from(u32::MAX)))?;
        let mark = |key: &str, what: &str| match optional(table, key, quantity::cells)? {
            Some(Cells(0)) => {
                let place = table.node(key).map_or(node.place, |node| node.place);
                Err(Fault::new(
                    place,
                    format!("{what} of 0 cells lets nothing through"),
                    "Write 1 cell at least",
                ))
            }
            given => Ok(given),
        };
        let given = [
            pdus.map(|pdus| AdapterQueue::Pdus(pdus as u64)),
            mark("high_water", "a high-water mark")?.map(AdapterQueue::HighWater),
            mark("hold_acks", "a mark")?.map(AdapterQueue::HoldAcks),
            optional(table, "window", quantity::span)?.map(AdapterQueue::Window),
        ];
        let mut given = given.into_iter().flatten();
        return match (given.next(), given.next()) {
            (Some(one), None) => Ok(one),
            (some, _) => {
                let message = if some.is_some() { "more than one key is given" } else { "no key is given" };
                let remedy = "Write { pdus = 20 }, { high_water = \"64 cells\" }, { hold_acks = \"64 cells\" } or { window = \"20 ms\" }";
                Err(Fault::new(node.place, message, remedy))
            }
        };
    }
    if node.text() == Some("infinite") {
        return Ok(AdapterQueue::Unbounded);
    }
    quantity::cells(node).map(AdapterQueue::Cells)
}

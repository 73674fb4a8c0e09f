//! Requests and responses.

use cellrate_proto::declaration::{Dimension, Kind, Shape, key, required};
use cellrate_proto::{CellRate, Duration, Time};

use super::TrafficKind;
use super::kinds::Declared;
use crate::keys::{POSITIVE_RATE, START_KEY, TIME};
use crate::text::error::Fault;
use crate::text::reading::{optional, or_default, start_and_end};
use crate::text::tree::{Node, Table};
use crate::text::{check, quantity};
use crate::values::ClockOffset;

/// The closed-loop bursty model of paper uili, section 7.2.1: in each cycle the client sends requests, the server
/// answers each as soon as it has come in whole, and the next cycle begins some time after the last answer has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestResponse {
    /// Length of a request [cells, at least 1; 16 in the paper].
    pub request: u32,
    /// Length of a response [cells, at least 1].
    pub response: u32,
    /// Requests in a cycle [at least 1; 1 in the paper].
    pub requests: u32,
    /// From the end of one request to the beginning of the next in the same cycle, as the application hands them over.
    pub request_gap: Duration,
    /// From the arrival of a cycle's last response to the next cycle [1 ms in the paper].
    pub cycle_gap: Duration,
    /// From the arrival of a request to the beginning of its response [0 in the paper].
    pub server_time: Duration,
    /// Cells per second of a burst as the application hands it to its adapter [PCR in the paper].
    pub rate: CellRate,
    /// The first cycle.
    pub start: Time,
    /// No cycle at or after this.
    pub end: Time,
    /// How many bursts of each direction are listed one by one, from the first on; all of them are in the quantiles.
    pub record: u32,
}

impl Declared for RequestResponse {
    const SHAPE: Shape = Shape {
        name: "request-response",
        about: "A client sends requests, the server at the other end of the path answers each when it is whole, and the next cycle begins after the last answer (paper uili, section 7.2.1). The reverse direction carries the answers. Nothing is sent again: a burst is whole with its last cell, whatever was lost of it before, and a conversation whose last cell of a burst is lost stands still from then on.",
        keys: &[
            required("response", Kind::Positive(Dimension::Cells), "Length of a response, 1 cell or more."),
            key(
                "request",
                Kind::Positive(Dimension::Cells),
                "\"16 cells\"",
                "Length of a request, 1 cell or more.",
            ),
            key("requests", Kind::Integer(1, 1_000_000), "1", "Requests in a cycle."),
            key(
                "request_gap",
                TIME,
                "\"0 ms\"",
                "Time from the end of one request to the next in its cycle.",
            ),
            key(
                "cycle_gap",
                TIME,
                "\"1 ms\"",
                "Time from the arrival of a cycle's last response to the next cycle.",
            ),
            key("server_time", TIME, "\"0 ms\"", "Time from the arrival of a request to its response."),
            key(
                "rate",
                POSITIVE_RATE,
                "pcr",
                "Rate of the cells of a burst as the application hands it over.",
            ),
            key(
                "record",
                Kind::Integer(0, u32::MAX as i64),
                "0",
                "Number of bursts of each direction that the results list one by one.",
            ),
            START_KEY,
            key("end", TIME, "never", "No cycle begins at or after this."),
        ],
    };

    fn read(node: &Node, table: &Table, peak: CellRate) -> Result<RequestResponse, Fault> {
        let (start, end) = start_and_end(table)?;
        let time = |key: &str| or_default(table, &Self::SHAPE, key, quantity::time);
        let count = |key: &str, low| {
            let count = |node: &Node| check::integer(node, low, i64::from(u32::MAX));
            or_default(table, &Self::SHAPE, key, count).map(|count| count as u32)
        };
        Ok(RequestResponse {
            request: or_default(table, &Self::SHAPE, "request", burst)?,
            response: optional(table, "response", burst)?
                .ok_or_else(|| check::missing(node.place, "response", "its length, such as \"256 cells\""))?,
            requests: count("requests", 1)?,
            request_gap: time("request_gap")?,
            cycle_gap: time("cycle_gap")?,
            server_time: time("server_time")?,
            rate: optional(table, "rate", quantity::positive_cell_rate)?.unwrap_or(peak),
            start,
            end,
            record: count("record", 0)?,
        })
    }
}

impl TrafficKind for RequestResponse {
    fn delay(&mut self, phase: Duration) {
        self.start = self.start.saturating_add(phase);
        self.end = self.end.saturating_add(phase);
    }

    fn changes(&self) -> Vec<Time> {
        vec![self.start, self.end]
    }

    fn sends_at(&self, at: Time) -> bool {
        self.start <= at && at < self.end
    }

    fn scale(&mut self, offset: ClockOffset) {
        self.rate = offset.of_rate(self.rate);
    }

    fn octets(&self) -> u64 {
        32 * u64::from(self.requests)
    }
}

/// The length of a burst.
fn burst(node: &Node) -> Result<u32, Fault> {
    let cells = quantity::cells(node)?.0;
    u32::try_from(cells).ok().filter(|&cells| cells > 0).ok_or_else(|| {
        let message = format!("{} is {cells} cells", node.plain());
        Fault::new(node.place, message, "A burst has from 1 to 4294967295 cells")
    })
}

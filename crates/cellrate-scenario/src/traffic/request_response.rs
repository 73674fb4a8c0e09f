//! Requests and responses.

use cellrate_proto::declaration::{Dimension, Kind, Shape, SpanOrZero, Table};
use cellrate_proto::{CellRate, Duration, Time};

use super::TrafficKind;
use super::kinds::{Declared, sends_from_start_to_end};
use crate::keys::POSITIVE_RATE;
use crate::text::error::Fault;
use crate::text::reading::start_and_end;
use crate::text::tree::{Node, Table};
use crate::text::written::{CountOrZero, Written, from_node, setting};
use crate::text::{check, quantity};
use crate::values::ClockOffset;

/// A client sends requests, the server at the other end of the path answers each when it is whole, and the next cycle
/// begins after the last answer (paper uili, section 7.2.1). The reverse direction carries the answers. Nothing is sent
/// again: a burst is whole with its last cell, whatever was lost of it before, and a conversation whose last cell of a
/// burst is lost stands still from then on.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
#[table(name = "request-response", written)]
pub struct RequestResponse {
    /// Length of a response, 1 cell or more.
    #[key(as = Burst)]
    pub response: u32,
    /// Length of a request, 1 cell or more.
    #[key(default = "\"16 cells\"", or = 16, as = Burst)]
    pub request: u32,
    /// Requests in a cycle.
    #[key(default = "1", kind = Kind::Integer(1, 1_000_000))]
    pub requests: u32,
    /// Time from the end of one request to the next in its cycle.
    ///
    /// As the application hands them over.
    #[key(default = "\"0 ms\"", or = Duration::ZERO, as = SpanOrZero)]
    pub request_gap: Duration,
    /// Time from the arrival of a cycle's last response to the next cycle.
    #[key(default = "\"1 ms\"", or = Duration::from_ms(1), as = SpanOrZero)]
    pub cycle_gap: Duration,
    /// Time from the arrival of a request to its response.
    #[key(default = "\"0 ms\"", or = Duration::ZERO, as = SpanOrZero)]
    pub server_time: Duration,
    /// Rate of the cells of a burst as the application hands it over.
    #[key(argument, default = "pcr", kind = POSITIVE_RATE)]
    pub rate: CellRate,
    /// Number of bursts of each direction that the results list one by one.
    ///
    /// They are the first; all of them are in the quantiles.
    #[key(default = "0", or = 0, as = CountOrZero)]
    pub record: u32,
    /// The first instant with data.
    #[key(default = "0 ms")]
    pub start: Time,
    /// No cycle begins at or after this.
    #[key(default = "never", or = Time::NEVER)]
    pub end: Time,
}

impl Declared for RequestResponse {
    const SHAPE: Shape = RequestResponse::SHAPE;

    fn read(node: &Node, table: &Table, peak: CellRate) -> Result<RequestResponse, Fault> {
        start_and_end(table)?;
        if table.node("response").is_none() {
            return Err(check::missing(node.place, "response", "its length, such as \"256 cells\""));
        }
        RequestResponse::read(&Written::new(table, node.place), peak)
    }
}

impl TrafficKind for RequestResponse {
    sends_from_start_to_end!();

    fn scale(&mut self, offset: ClockOffset) {
        self.rate = offset.of_rate(self.rate);
    }

    fn octets(&self) -> u64 {
        32 * u64::from(self.requests)
    }
}

/// The length of a burst.
struct Burst;

setting!(Burst => u32, Kind::Positive(Dimension::Cells), true);

from_node! {
    Burst: burst;
}

fn burst(node: &Node) -> Result<u32, Fault> {
    let cells = quantity::cells(node)?.0;
    u32::try_from(cells).ok().filter(|&cells| cells > 0).ok_or_else(|| {
        let message = format!("{} is {cells} cells", node.plain());
        Fault::new(node.place, message, "A burst has from 1 to 4294967295 cells")
    })
}

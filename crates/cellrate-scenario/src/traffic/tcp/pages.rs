//! Pages that clients fetch over TCP: what a browser of the time of ABR does.

use cellrate_proto::declaration::{Dimension, Kind, SpanOrZero, Table, words};
use cellrate_proto::{Duration, Octets, Time};

use crate::keys::{EXPONENTIAL, TIME};
use crate::text::error::Fault;
use crate::text::reading::period;
use crate::text::tree::Node;
use crate::text::written::{CountOrZero, Written, from_node, setting};
use crate::text::{check, quantity};
use crate::values::Period;

/// Clients at the first host fetch pages from a server at the last: request, response, next object. The responses are
/// data of the reverse direction, with the settings of reverse.traffic if that is of type tcp (connections = 0 for the
/// settings alone), else with the same as the requests.
///
/// A client sends a request; when it is whole at the server, the server answers; when the answer is whole at the
/// client, the client goes on to the next object of the page.
#[derive(Clone, Debug, PartialEq, Table)]
#[table(name = "pages", written)]
pub struct Pages {
    /// Objects of a page, fetched one after the other.
    ///
    /// At least one.
    #[key(kind = Kind::List(&Kind::Table(&PageObject::SHAPE), 1), missing = "such as [{ response = \"10 kB\" }]")]
    pub objects: Vec<PageObject>,
    /// Clients side by side, each with its own connections.
    ///
    /// From 1 to 65535.
    #[key(default = "1", or = 1, as = Clients)]
    pub clients: u16,
    /// Pages that each client fetches.
    ///
    /// At least 1; `None` is without end.
    #[key(default = "\"infinite\"", or = None, as = PagesOrNoEnd)]
    pub count: Option<u64>,
    /// Time from the last octet of an object to the beginning of the next one of its page.
    #[key(default = "\"0 ms\"", or = Duration::ZERO, as = SpanOrZero)]
    pub object_gap: Duration,
    /// Time from the last octet of a page to the beginning of the next.
    #[key(default = "\"0 ms\"", or = Period::Fixed(Duration::ZERO), as = ThinkTime)]
    pub think_time: Period,
    /// A new TCP connection for each object (HTTP/1.0), for each page, or one for everything.
    #[key(default = "per-object")]
    pub connection: ConnectionUse,
    /// A connection opens with SYN, SYN and ACK, ACK, which takes a round trip; false: it is open at once.
    #[key(default = "true")]
    pub handshake: bool,
    /// No page begins at or after this.
    #[key(default = "never", or = Time::NEVER)]
    pub end: Time,
    /// Number of objects of each client that the results list one by one.
    ///
    /// They are the first; all of them are in the quantiles.
    #[key(default = "0", or = 0, as = CountOrZero)]
    pub record: u32,
}

/// A part of a page: a request, and the response to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Table)]
#[table(name = "object", written)]
pub struct PageObject {
    /// Length of the server's answer.
    ///
    /// At least 1 octet.
    #[key(as = Size, missing = "its size, such as \"300 kB\"")]
    pub response: Octets,
    /// Length of the client's request.
    ///
    /// At least 1 octet; by default with the headers of a browser of 1996, of which none of the papers says how long
    /// they are.
    #[key(default = "\"300 octets\"", or = Octets(300), as = Size)]
    pub request: Octets,
    /// Time from the last octet of the request to the first of the response, at the server.
    #[key(default = "\"0 ms\"", or = Duration::ZERO, as = SpanOrZero)]
    pub server_time: Duration,
}

words! {
    /// For how much a TCP connection is used.
    #[derive(Default)]
    pub enum ConnectionUse {
        /// For one object (HTTP/1.0; default).
        #[default]
        PerObject = "per-object",
        /// For all objects of a page.
        PerPage = "per-page",
        /// For everything that the client fetches.
        Persistent = "persistent",
    }
}

/// A number of clients, each with a port of its own.
struct Clients;
/// A number of pages, or the word "infinite", which is `None`.
struct PagesOrNoEnd;
/// A time that may be drawn.
struct ThinkTime;
/// The length of a request or a response.
struct Size;

setting!(Clients => u16, Kind::Integer(1, 65_535), false);
setting!(
    PagesOrNoEnd => Option<u64>,
    Kind::Or(&[Kind::Integer(1, u32::MAX as i64), Kind::Choice(&["infinite"])]),
    true
);
setting!(ThinkTime => Period, Kind::Or(&[TIME, Kind::Table(&EXPONENTIAL)]), true);
setting!(Size => Octets, Kind::Positive(Dimension::Octets), true);

from_node! {
    Clients: |node| check::integer(node, 1, 65_535).map(|clients| clients as u16);
    PagesOrNoEnd: |node| match node.text() {
        Some("infinite") => Ok(None),
        _ => check::integer(node, 1, i64::from(u32::MAX)).map(|pages| Some(pages as u64)),
    };
    ThinkTime: |node| match node.table() {
        Some(_) => period(node),
        None => quantity::time(node).map(Period::Fixed),
    };
    Size: size;
}

/// The pages that a checked table describes, of clients that begin at `start`.
pub(super) fn read(node: &Node, start: Time) -> Result<Pages, Fault> {
    let values = Written::of(node);
    let pages = Pages::read(&values)?;
    if pages.end <= start {
        let message = format!("the end, {}, is not after the start of the traffic, {start}", pages.end);
        return Err(Fault::new(values.place_of("end"), message, "Write a later end"));
    }
    Ok(pages)
}

fn size(node: &Node) -> Result<Octets, Fault> {
    let octets = quantity::octets(node)?;
    if octets.0 == 0 || octets.0 > MAX_SIZE {
        let message = format!("{} is {octets}", node.plain());
        return Err(Fault::new(node.place, message, "It must be from 1 octet to 1024 GiB"));
    }
    Ok(octets)
}

/// So that no number of pages makes a stream whose octets 64 bits cannot count.
const MAX_SIZE: u64 = 1 << 40;

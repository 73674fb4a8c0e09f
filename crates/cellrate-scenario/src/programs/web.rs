//! Pages from a web server.

use cellrate_proto::declaration::{Kind, Shape, SpanOrZero, Table};
use cellrate_proto::{Duration, Octets};

use super::Program;
use crate::text::error::{Fault, Place};
use crate::text::tree::Table;
use crate::text::written::{SomeOctets, Written};

/// Pages from nginx, each an HTML text and an image, fetched one after the other over connections of their own
/// (HTTP/1.0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Table)]
#[table(name = "web", written)]
pub struct Web {
    /// How many pages are fetched.
    #[key(default = "30", kind = Kind::Integer(1, 100_000))]
    pub pages: u32,
    /// Length of a page's text.
    #[key(default = "\"600 octets\"", or = Octets(600), as = SomeOctets)]
    pub html: Octets,
    /// Length of a page's image.
    #[key(default = "\"300 kB\"", or = Octets(300_000), as = SomeOctets)]
    pub image: Octets,
    /// From the end of a page to the beginning of the next.
    #[key(default = "\"1 s\"", or = Duration::from_secs(1), as = SpanOrZero)]
    pub gap: Duration,
}

impl Program for Web {
    const SHAPE: Shape = Web::SHAPE;

    fn read(table: &Table, place: Place) -> Result<Web, Fault> {
        Web::read(&Written::new(table, place))
    }
}

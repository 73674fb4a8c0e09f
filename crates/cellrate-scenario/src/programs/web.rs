//! Pages from a web server.

use cellrate_proto::declaration::{Kind, Shape, key};
use cellrate_proto::{Duration, Octets};

use super::Program;
use crate::keys::{OCTETS, TIME};
use crate::text::error::{Fault, Place};
use crate::text::reading::{or_default, some_octets};
use crate::text::tree::Table;
use crate::text::{check, quantity};

/// Web pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Web {
    /// How many.
    pub pages: u32,
    /// Length of the text \[octets\].
    pub html: Octets,
    /// Length of the image \[octets\].
    pub image: Octets,
    /// From the end of a page to the beginning of the next.
    pub gap: Duration,
}

impl Program for Web {
    const SHAPE: Shape = Shape {
        name: "web",
        about: "Pages from nginx, each an HTML text and an image, fetched one after the other over connections of their own (HTTP/1.0).",
        keys: &[
            key("pages", Kind::Integer(1, 100_000), "30", "How many pages are fetched."),
            key("html", OCTETS, "\"600 octets\"", "Length of a page's text."),
            key("image", OCTETS, "\"300 kB\"", "Length of a page's image."),
            key("gap", TIME, "\"1 s\"", "From the end of a page to the beginning of the next."),
        ],
    };

    fn read(table: &Table, _place: Place) -> Result<Web, Fault> {
        let octets = |key: &str| or_default(table, &Self::SHAPE, key, some_octets);
        Ok(Web {
            pages: or_default(table, &Self::SHAPE, "pages", |node| check::integer(node, 1, 100_000))? as u32,
            html: octets("html")?,
            image: octets("image")?,
            gap: or_default(table, &Self::SHAPE, "gap", quantity::time)?,
        })
    }
}

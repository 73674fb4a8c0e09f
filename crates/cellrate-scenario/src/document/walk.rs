//! Dotted paths of settings, such as `vc.vc1.abr.rif`: names that may stand behind each dot, and errors where another
//! one does.

use cellrate_proto::declaration::{Kind, Shape};

use crate::resolve::group;
use crate::text::error::{Fault, Place, nearest, suggestion};
use crate::text::quantity::shortened;
use crate::text::tree::{Node, Table};

/// Names that may stand behind the next dot of a path.
#[derive(Clone, Copy)]
pub(super) enum Known {
    Shape(&'static Shape),
    Tagged(&'static cellrate_proto::declaration::Tagged),
    Map(Kind),
}

impl Known {
    /// Names within a value of this kind, if it has any.
    pub(super) fn within(kind: Kind) -> Option<Known> {
        let has_keys = |kind: &Kind| matches!(kind, Kind::Table(_) | Kind::Tagged(_));
        let inner = match kind {
            Kind::Or(kinds) => kinds.iter().copied().find(has_keys).unwrap_or(kind),
            _ => kind,
        };
        match inner {
            Kind::Table(shape) => Some(Known::Shape(shape)),
            Kind::Tagged(tagged) => Some(Known::Tagged(tagged)),
            Kind::Map(inner) => Some(Known::Map(*inner)),
            _ => None,
        }
    }

    pub(super) fn kind(self, name: &str, tag: Option<&str>) -> Option<Kind> {
        match self {
            Known::Shape(shape) => shape.key(name).map(|key| key.kind),
            Known::Tagged(_) if name == "type" => Some(Kind::Text),
            Known::Tagged(tagged) => tagged.shapes(tag).find_map(|shape| shape.key(name)).map(|key| key.kind),
            Known::Map(kind) => Some(kind),
        }
    }

    pub(super) fn names(self, tag: Option<&str>) -> Vec<String> {
        let names: Vec<&str> = match self {
            Known::Shape(shape) => shape.keys.iter().map(|key| key.name).collect(),
            Known::Tagged(tagged) => {
                let keys = tagged.shapes(tag).flat_map(|shape| shape.keys).map(|key| key.name);
                ["type"].into_iter().chain(keys).collect()
            }
            Known::Map(_) => Vec::new(),
        };
        let mut names: Vec<String> = names.into_iter().map(str::to_string).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// A path on its way from table to table.
pub(super) struct Walk<'a> {
    /// The place that errors name.
    pub(super) place: Place,
    pub(super) segments: &'a [&'a str],
}

impl Walk<'_> {
    /// The first `count` names, with dots.
    pub(super) fn before(&self, count: usize) -> String {
        self.segments[..count].join(".")
    }

    pub(super) fn fault(&self, message: String) -> Fault {
        Fault::new(self.place, message, String::new())
    }

    /// Returns the error for an unknown key: the `at`-th name of the path is not among `known`.
    pub(super) fn unknown(&self, at: usize, known: &[String]) -> Fault {
        let name = self.segments[at];
        let mut known: Vec<&str> = known.iter().map(String::as_str).collect();
        known.sort_by_key(|candidate| nearest(name, [*candidate]).is_none());
        let place = match at {
            0 => "at the top".to_string(),
            _ => format!("in {}", self.before(at)),
        };
        let message = format!("there is no key \"{}\" {place}", shortened(name));
        let listed = match known.len() {
            0 => String::new(),
            _ => format!("Known there: {}", known.join(", ")),
        };
        let remedy = match nearest(name, known.iter().copied()) {
            Some(near) => format!("Did you mean \"{near}\"? {listed}"),
            None => listed,
        };
        Fault::new(self.place, message, remedy)
    }

    /// The entry of a list `kind` that the name with this number stands for.
    pub(super) fn entry<'e>(
        &self,
        at: usize,
        kind: &str,
        entries: &'e mut [Node],
    ) -> Result<&'e mut Table, Fault> {
        let Some(&name) = self.segments.get(at) else {
            return Err(self.fault(format!("{} names all entries, not one", self.before(at))));
        };
        let Some(index) = group::called(kind, entries, name) else {
            let handle = |(i, node): (usize, &Node)| {
                node.table().map_or(String::new(), |table| group::handle(table, i + 1))
            };
            let handles: Vec<String> = entries.iter().enumerate().map(handle).collect();
            let known: Vec<&str> = handles.iter().map(String::as_str).collect();
            let message = format!("there is no {kind} \"{}\"", shortened(name));
            let remedy = match known.len() {
                0 => format!("The scenario has no [[{kind}]]"),
                _ => suggestion(name, "as written, there are", &known),
            };
            return Err(Fault::new(self.place, message, remedy));
        };
        if at + 1 == self.segments.len() {
            let whole = self.before(at + 1);
            return Err(self.fault(format!("{whole} is a whole entry; name a key of it")));
        }
        entries[index].table_mut().ok_or_else(|| self.fault("it is no table".into()))
    }
}

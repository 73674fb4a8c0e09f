//! Groups written out: `like`, `count`, `{i}`, and a value of its own for each member.

use std::borrow::Cow;

use crate::format::{Kind, ROOT, Shape, Tagged};
use crate::text::check::{self, plural};
use crate::text::error::{Fault, suggestion};
use crate::text::pattern::numbered;
use crate::text::tree::{Node, Table, Value, merged};

/// One thing of a kind: an entry, or a member of a group.
pub(crate) struct Member {
    pub node: Node,
}

/// The shape of the entries of a kind.
pub(crate) fn shape_of(kind: &str) -> Option<&'static Shape> {
    match ROOT.key(kind)?.kind {
        Kind::Entries(shape) => Some(shape),
        _ => None,
    }
}

/// What an entry is called as written: its name; for a link its two ends with `-` between; else its number.
pub(crate) fn handle(table: &Table, number: usize) -> String {
    if let Some(name) = table.text("name") {
        return name.to_string();
    }
    match table.node("between").and_then(Node::list) {
        Some([a, b]) => format!("{}-{}", a.plain(), b.plain()),
        _ => number.to_string(),
    }
}

/// All members of all entries of a kind, in order.
pub(crate) fn members(root: &Table, kind: &str) -> Result<Vec<Member>, Fault> {
    let Some(shape) = shape_of(kind) else { return Ok(Vec::new()) };
    let entries = 0..root.tables(kind).count();
    let entries = entries.map(|index| flattened(root, kind, index)).collect::<Result<Vec<Node>, Fault>>()?;
    let mut total = 0;
    for node in &entries {
        let count = node.table().and_then(|table| table.node("count"));
        total += count.map_or(Ok(1), count_of)?;
        if total > MOST_OF_A_KIND {
            let message =
                format!("with these members there are more than {MOST_OF_A_KIND} entries of this kind");
            return Err(Fault::new(node.place, message, "Write fewer"));
        }
    }
    let mut result = Vec::with_capacity(total);
    for (index, node) in entries.iter().enumerate() {
        result.extend(written_out(node, shape, index + 1)?);
    }
    Ok(result)
}

/// The number that this says, of members of an entry.
fn count_of(count: &Node) -> Result<usize, Fault> {
    Ok(check::integer(count, 1, MOST as i64)? as usize)
}

/// More than any network has: a guard against mistyped counts.
const MOST_OF_A_KIND: usize = 1 << 20;

/// Most members of one entry.
const MOST: usize = 65_536;

/// The entry with the keys of those it is like.
pub(crate) fn flattened(root: &Table, kind: &str, index: usize) -> Result<Node, Fault> {
    let entries: Vec<(&Node, &Table)> = root.tables(kind).collect();
    let handles: Vec<String> =
        entries.iter().enumerate().map(|(i, (_, table))| handle(table, i + 1)).collect();
    // From the entry to the one that is like no other.
    let mut chain = vec![index];
    let mut at = index;
    while let Some(like) = entries[at].1.node("like") {
        let wanted = check::text(like)?;
        let Some(next) = handles.iter().position(|handle| handle == wanted) else {
            let known: Vec<&str> = handles.iter().map(String::as_str).collect();
            let message = format!("there is no {kind} \"{}\"", crate::text::quantity::shortened(wanted));
            return Err(Fault::new(like.place, message, suggestion(wanted, "as written, there are", &known)));
        };
        if chain.contains(&next) {
            let start = chain.iter().position(|&i| i == next).unwrap_or(0);
            let names: Vec<&str> =
                chain[start..].iter().chain([&next]).map(|&i| handles[i].as_str()).collect();
            let message = format!("these are like each other in a circle: {}", names.join(" -> "));
            return Err(Fault::new(like.place, message, "Let one of them stand by itself"));
        }
        chain.push(next);
        at = next;
    }
    let (node, _) = entries[index];
    let mut table = Table::default();
    for &i in chain.iter().rev() {
        let mut own = entries[i].1.clone();
        own.remove("like");
        table = merged(&table, &own);
    }
    Ok(Node { place: node.place, value: Value::Table(table) })
}

/// The members of one entry; `node` is flattened.
pub(crate) fn written_out(node: &Node, shape: &'static Shape, number: usize) -> Result<Vec<Member>, Fault> {
    let Some(table) = node.table() else { return Ok(Vec::new()) };
    let written = handle(table, number);
    if let Some(key) = shape.key("name")
        && table.node("name").is_none()
    {
        return Err(check::missing(node.place, "name", key.about));
    }
    let Some(count_node) = table.node("count") else {
        if let Some(place) = pattern_place(table) {
            let remedy = "Add count = ..., or write the name without {i}";
            return Err(Fault::new(
                place,
                "{i} stands for the members of a group, and this entry has no count",
                remedy,
            ));
        }
        return Ok(vec![Member { node: node.clone() }]);
    };
    let count = count_of(count_node)?;
    if let Some(name) = table.node("name")
        && count > 1
        && !name.text().unwrap_or_default().contains("{i}")
    {
        let message = format!("all {count} members of the group would be called \"{written}\"");
        return Err(Fault::new(name.place, message, format!("Write \"{written}{{i}}\"")));
    }
    let member = |i: usize| {
        let mut keys = table.clone();
        keys.remove("count");
        let mut node = Node { place: node.place, value: Value::Table(keys) };
        member_keys(&mut node, Keys::Of(shape), i, count)?;
        Ok(Member { node })
    };
    (1..=count).map(member).collect()
}

/// The place of a `{i}` in the names of an entry.
fn pattern_place(table: &Table) -> Option<crate::text::error::Place> {
    let own = ["name", "between", "path"].into_iter().filter_map(|key| table.node(key));
    let mut texts = own.flat_map(|node| node.list().unwrap_or(std::slice::from_ref(node)));
    texts.find(|node| node.text().is_some_and(|text| text.contains("{i"))).map(|node| node.place)
}

/// How the keys of a table are found.
#[derive(Clone, Copy)]
enum Keys {
    Of(&'static Shape),
    Tagged(&'static Tagged),
}

impl Keys {
    /// The kind of a key; a key of several types of a family has the kind of the type that is written, else the first.
    fn kind(self, name: &str, tag: Option<&str>) -> Option<Kind> {
        match self {
            Keys::Of(shape) => shape.key(name).map(|key| key.kind),
            Keys::Tagged(_) if name == "type" => Some(Kind::Text),
            Keys::Tagged(tagged) => {
                let tag = tag
                    .or(tagged.default)
                    .filter(|tag| tagged.variant(tag).is_some_and(|s| s.key(name).is_some()));
                tagged.shapes(tag).find_map(|shape| shape.key(name)).map(|key| key.kind)
            }
        }
    }
}

/// Makes a table that of member `i`: its own values out of lists, its number for `{i}`.
fn member_keys(node: &mut Node, keys: Keys, i: usize, count: usize) -> Result<(), Fault> {
    let Some(table) = node.table_mut() else { return Ok(()) };
    if let Some(tag) = table.node_mut("type") {
        member_value(tag, Kind::Text, i, count)?;
    }
    let tag = table.text("type").map(str::to_string);
    for entry in &mut table.entries {
        if let Some(kind) = keys.kind(&entry.key, tag.as_deref()) {
            member_value(&mut entry.node, kind, i, count)?;
        }
    }
    Ok(())
}

fn member_value(node: &mut Node, kind: Kind, i: usize, count: usize) -> Result<(), Fault> {
    if !kind.is_list()
        && let Some(values) = node.list()
    {
        if values.len() != count {
            let message = format!(
                "the list has {}, and the group {}",
                plural(values.len(), "value"),
                plural(count, "member")
            );
            return Err(Fault::new(node.place, message, "Write one value for all, or one for each"));
        }
        *node = values[i - 1].clone();
    }
    match kind {
        Kind::Table(shape) => member_keys(node, Keys::Of(shape), i, count),
        Kind::Tagged(tagged) => member_keys(node, Keys::Tagged(tagged), i, count),
        Kind::Or(kinds) => {
            let inner = kinds.iter().find_map(|kind| match kind {
                Kind::Table(shape) => Some(Keys::Of(shape)),
                Kind::Tagged(tagged) => Some(Keys::Tagged(tagged)),
                _ => None,
            });
            inner.map_or(Ok(()), |keys| member_keys(node, keys, i, count))
        }
        Kind::Map(inner) => {
            let Some(table) = node.table_mut() else { return Ok(()) };
            for entry in &mut table.entries {
                entry.key = numbered(&entry.key, i).into_owned();
                member_value(&mut entry.node, *inner, i, count)?;
            }
            Ok(())
        }
        _ => {
            number_texts(node, i);
            Ok(())
        }
    }
}

fn number_texts(node: &mut Node, i: usize) {
    match &mut node.value {
        Value::Text(text) => {
            if let Cow::Owned(numbered) = numbered(text, i) {
                *text = numbered;
            }
        }
        Value::List(nodes) => nodes.iter_mut().for_each(|node| number_texts(node, i)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tree::parse_document;

    fn written(text: &str, kind: &str) -> Result<Vec<String>, Fault> {
        let root = parse_document(text, 0)?;
        Ok(members(&root, kind)?.iter().map(|member| member.node.to_toml()).collect())
    }

    #[test]
    fn a_group_is_written_out_with_its_numbers_and_lists() {
        let text = "[[link]]\nbetween = [\"s{i}\", \"sw1\"]\ncount = 2\nlength = [\"1 km\", \"5 km\"]\nrate = \"1 Mbps\"\n";
        assert_eq!(
            written(text, "link").unwrap(),
            [
                "{ between = [\"s1\", \"sw1\"], length = \"1 km\", rate = \"1 Mbps\" }",
                "{ between = [\"s2\", \"sw1\"], length = \"5 km\", rate = \"1 Mbps\" }"
            ]
        );
        let short = text.replace("\"1 km\", ", "");
        assert_eq!(
            written(&short, "link").unwrap_err().message,
            "the list has 1 value, and the group 2 members"
        );
    }

    #[test]
    fn lists_that_are_values_stay_whole_and_nested_keys_are_shared_out() {
        let text = "[[vc]]\nname = \"v{i}\"\ncount = 2\ntraffic = { type = \"timed\", cells = [[\"1 ms\", 1], [\"2 ms\", 1]] }\n\
                    abr = { nrm = [8, 16] }\n";
        let members = written(text, "vc").unwrap();
        assert!(members[1].contains("[[\"1 ms\", 1], [\"2 ms\", 1]]"), "{}", members[1]);
        assert!(members[1].contains("nrm = 16"), "{}", members[1]);
    }

    #[test]
    fn like_takes_all_keys_and_own_ones_win() {
        let text = "[[vc]]\nname = \"a\"\nabr = { nrm = 8, crm = 4 }\n[[vc]]\nname = \"b\"\nlike = \"a\"\nabr = { nrm = 16 }\n";
        assert_eq!(written(text, "vc").unwrap()[1], "{ name = \"b\", abr = { nrm = 16, crm = 4 } }");
        let circle = text.replace("name = \"a\"", "name = \"a\"\nlike = \"b\"");
        assert_eq!(
            written(&circle, "vc").unwrap_err().message,
            "these are like each other in a circle: a -> b -> a"
        );
        let nobody = text.replace("like = \"a\"", "like = \"aa\"");
        assert_eq!(written(&nobody, "vc").unwrap_err().message, "there is no vc \"aa\"");
    }
}

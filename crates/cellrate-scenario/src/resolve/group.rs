//! Groups written out: `like`, `count`, `{i}`, and a value of its own for each member.

use std::collections::{BTreeMap, HashMap, btree_map};
use std::sync::Arc;

use cellrate_proto::declaration::{Kind, Shape, Tagged};

use crate::format::ROOT;
use crate::text::check::{self, plural};
use crate::text::error::{Fault, Place, suggestion};
use crate::text::pattern::{Pattern, first_number, has_number};
use crate::text::tree::{Entry, Node, Table, Value, merged};

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

/// Name of an entry as written: its name; for a link its two ends with `-` between; else its number.
pub(crate) fn handle(table: &Table, number: usize) -> String {
    if let Some(name) = table.text("name") {
        return name.to_string();
    }
    match table.node("between").and_then(Node::list) {
        Some([a, b]) => format!("{}-{}", a.plain(), b.plain()),
        _ => number.to_string(),
    }
}

/// Whether an entry is called `name` as written: `handle(table, number) == name`.
pub(crate) fn is_called(table: &Table, number: usize, name: &str) -> bool {
    match (table.text("name"), table.node("between").and_then(Node::list)) {
        (Some(own), _) if own == name => true,
        (_, Some([a, b])) => match (a.text(), b.text()) {
            (Some(a), Some(b)) => {
                name.strip_prefix(a).and_then(|rest| rest.strip_prefix('-')).is_some_and(|rest| rest == b)
            }
            _ => handle(table, number) == name,
        },
        (Some(_), _) => false,
        _ => name.parse() == Ok(number),
    }
}

/// The place of the entry that is called `name` among those of a kind; "a-b#2" is the second link between a and b.
pub(crate) fn called(kind: &str, entries: &[Node], name: &str) -> Option<usize> {
    let is_called = |name: &str, (i, node): (usize, &Node)| {
        node.table().is_some_and(|table| is_called(table, i + 1, name))
    };
    let found = entries.iter().enumerate().position(|entry| is_called(name, entry));
    if let (None, "link", Some((ends, number))) = (found, kind, name.rsplit_once('#')) {
        let number: usize = number.parse().ok().filter(|number| *number > 0)?;
        let turned: Vec<String> = turned(ends).collect();
        let either = |entry| is_called(ends, entry) || turned.iter().any(|turned| is_called(turned, entry));
        return entries.iter().enumerate().filter(|entry| either(*entry)).nth(number - 1).map(|(at, _)| at);
    }
    found
}

/// The names that "a-b" may be in the other order: "b-a"; several where names have a `-` in them.
pub(crate) fn turned(name: &str) -> impl Iterator<Item = String> {
    name.match_indices('-').map(|(at, _)| format!("{}-{}", &name[at + 1..], &name[..at]))
}

/// Whether a member of the group `table` may be called `name`, as far as the pattern of its own name says.
pub(crate) fn may_be_called(table: &Table, name: &str) -> bool {
    let pattern = handle(table, 0);
    match first_number(&pattern) {
        Some((before, _)) => name.starts_with(before),
        // Names listed one by one, or none.
        None => true,
    }
}

/// All members of all entries of a kind, in order.
pub(crate) fn members(root: &Table, kind: &str) -> Result<Vec<Member>, Fault> {
    let Some(shape) = shape_of(kind) else { return Ok(Vec::new()) };
    let entries = flattened(root, kind)?;
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

/// All entries of a kind, each with the keys of those it is like.
///
/// Every entry is worked out once, on top of the one that it names, so that neither many entries nor long chains of
/// them take more than their number.
pub(crate) fn flattened(root: &Table, kind: &str) -> Result<Vec<Node>, Fault> {
    let entries: Vec<(&Node, &Table)> = root.tables(kind).collect();
    if !entries.iter().any(|(_, table)| table.node("like").is_some()) {
        return Ok(entries.into_iter().map(|(node, _)| node.clone()).collect());
    }
    let handles: Vec<String> =
        entries.iter().enumerate().map(|(i, (_, table))| handle(table, i + 1)).collect();
    let mut first_of: HashMap<&str, usize> = HashMap::with_capacity(handles.len());
    for (i, handle) in handles.iter().enumerate() {
        first_of.entry(handle).or_insert(i);
    }
    let mut flat: Vec<Option<Node>> = vec![None; entries.len()];
    // In which chain an entry was met last: met again in the same one, it closes a circle.
    let mut met_in = vec![usize::MAX; entries.len()];
    for index in 0..entries.len() {
        // From the entry to one that is like no other, or is known already.
        let mut chain = Vec::new();
        let mut at = index;
        while flat[at].is_none() {
            met_in[at] = index;
            chain.push(at);
            let Some(like) = entries[at].1.node("like") else { break };
            let wanted = check::text(like)?;
            let Some(&next) = first_of.get(wanted) else {
                let known: Vec<&str> = handles.iter().map(String::as_str).collect();
                let message = format!("there is no {kind} \"{}\"", crate::text::quantity::shortened(wanted));
                return Err(Fault::new(
                    like.place,
                    message,
                    suggestion(wanted, "as written, there are", &known),
                ));
            };
            if met_in[next] == index {
                let start = chain.iter().position(|&i| i == next).unwrap_or(0);
                let names: Vec<&str> =
                    chain[start..].iter().chain([&next]).map(|&i| handles[i].as_str()).take(12).collect();
                let message = format!("these are like each other in a circle: {}", names.join(" -> "));
                return Err(Fault::new(like.place, message, "Let one of them stand by itself"));
            }
            at = next;
        }
        let mut below = flat[at].clone();
        for &i in chain.iter().rev() {
            let (node, own) = entries[i];
            let node = match below.as_ref().and_then(Node::table) {
                None => node.clone(),
                Some(base) => {
                    let mut own = own.clone();
                    own.remove("like");
                    Node { place: node.place, value: Value::from(merged(base, &own)) }
                }
            };
            below = Some(node.clone());
            flat[i] = Some(node);
        }
    }
    Ok(flat.into_iter().flatten().collect())
}

/// The members of one entry; `node` is flattened.
pub(crate) fn written_out(node: &Node, shape: &'static Shape, number: usize) -> Result<Vec<Member>, Fault> {
    let Some(table) = node.table() else { return Ok(Vec::new()) };
    if let Some(key) = shape.key("name").filter(|key| key.required)
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
        && !name.text().is_some_and(has_number)
    {
        let written = handle(table, number);
        let message = format!("all {count} members of the group would be called \"{written}\"");
        return Err(Fault::new(name.place, message, format!("Write \"{written}{{i}}\"")));
    }
    let mut keys = table.clone();
    keys.remove("count");
    let group = Node { place: node.place, value: Value::from(keys) };
    let mut template = Template::of_table(&group, Keys::Of(shape), count)?;
    (1..=count).map(|i| Ok(Member { node: template.member(i)? })).collect()
}

/// The place of a `{i}` in the names of an entry.
fn pattern_place(table: &Table) -> Option<Place> {
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

/// A value of a group, taken apart once into what is the same for all members and what is not: what is the same is
/// shared by all of them, however long it is.
enum Template {
    /// One value for all.
    Same(Node),
    /// A text with `{i}`.
    Text(Place, Pattern),
    /// A value for each member.
    Each(Arc<Vec<Node>>, Kind),
    /// A list with something in it that is not the same for all.
    List(Place, Vec<Template>),
    /// A table with something in it that is not.
    Table(Place, Vec<TemplateEntry>),
    /// A table whose type is not the same for all, and what is known of it for each type.
    Typed {
        types: Box<Template>,
        node: Node,
        tagged: &'static Tagged,
        count: usize,
        known: BTreeMap<Arc<str>, Template>,
    },
}

/// A key of such a table.
struct TemplateEntry {
    key: Arc<str>,
    /// The key, where it is not the same for all.
    pattern: Option<Pattern>,
    place: Place,
    template: Template,
}

impl Template {
    /// That of a value where one of `kind` is due: of one value, or of a list of one for each of `count` members.
    fn of(node: &Node, kind: Kind, count: usize) -> Result<Template, Fault> {
        let Value::List(values) = &node.value else { return Template::of_one(node, kind, count) };
        if kind.is_list() {
            return Template::of_one(node, kind, count);
        }
        if values.len() != count {
            let message = format!(
                "the list has {}, and the group {}",
                plural(values.len(), "value"),
                plural(count, "member")
            );
            return Err(Fault::new(node.place, message, "Write one value for all, or one for each"));
        }
        Ok(Template::Each(Arc::clone(values), kind))
    }

    /// That of a single value of `kind`.
    fn of_one(node: &Node, kind: Kind, count: usize) -> Result<Template, Fault> {
        match kind {
            Kind::Table(shape) => Template::of_table(node, Keys::Of(shape), count),
            Kind::Tagged(tagged) => Template::of_table(node, Keys::Tagged(tagged), count),
            Kind::Or(kinds) => {
                let inner = kinds.iter().find_map(|kind| match kind {
                    Kind::Table(shape) => Some(Keys::Of(shape)),
                    Kind::Tagged(tagged) => Some(Keys::Tagged(tagged)),
                    _ => None,
                });
                match inner.filter(|_| node.table().is_some()) {
                    Some(keys) => Template::of_table(node, keys, count),
                    None => Ok(Template::of_texts(node)),
                }
            }
            Kind::Map(inner) => {
                let Some(table) = node.table() else { return Ok(Template::Same(node.clone())) };
                let entry = |entry: &Entry| Template::of(&entry.node, *inner, count);
                Template::of_entries(node, table, entry)
            }
            _ => Ok(Template::of_texts(node)),
        }
    }

    fn of_table(node: &Node, keys: Keys, count: usize) -> Result<Template, Fault> {
        let Some(table) = node.table() else { return Ok(Template::Same(node.clone())) };
        let tag = match (table.node("type"), keys) {
            (Some(tag), Keys::Tagged(tagged)) => match Template::of(tag, Kind::Text, count)? {
                Template::Same(_) => tag.text(),
                varying => {
                    let (types, node, known) = (Box::new(varying), node.clone(), BTreeMap::new());
                    return Ok(Template::Typed { types, node, tagged, count, known });
                }
            },
            (tag, _) => tag.and_then(Node::text),
        };
        Template::of_entries(node, table, |entry| match keys.kind(&entry.key, tag) {
            Some(kind) => Template::of(&entry.node, kind, count),
            None => Ok(Template::Same(entry.node.clone())),
        })
    }

    fn of_entries(
        node: &Node,
        table: &Table,
        of: impl Fn(&Entry) -> Result<Template, Fault>,
    ) -> Result<Template, Fault> {
        let entry = |entry: &Entry| {
            let (key, pattern, place) = (Arc::clone(&entry.key), Pattern::of(&entry.key), entry.place);
            Ok(TemplateEntry { key, pattern, place, template: of(entry)? })
        };
        let entries: Vec<TemplateEntry> = table.entries.iter().map(entry).collect::<Result<_, Fault>>()?;
        let varies =
            |entry: &TemplateEntry| !matches!(entry.template, Template::Same(_)) || entry.pattern.is_some();
        match entries.iter().any(varies) {
            true => Ok(Template::Table(node.place, entries)),
            false => Ok(Template::Same(node.clone())),
        }
    }

    /// That of texts and lists of texts, whatever is due there.
    fn of_texts(node: &Node) -> Template {
        match &node.value {
            Value::Text(text) => match Pattern::of(text) {
                Some(pattern) => Template::Text(node.place, pattern),
                None => Template::Same(node.clone()),
            },
            Value::List(nodes) => {
                let items: Vec<Template> = nodes.iter().map(Template::of_texts).collect();
                match items.iter().all(|item| matches!(item, Template::Same(_))) {
                    true => Template::Same(node.clone()),
                    false => Template::List(node.place, items),
                }
            }
            _ => Template::Same(node.clone()),
        }
    }

    /// The value of member `i`.
    fn member(&mut self, i: usize) -> Result<Node, Fault> {
        Ok(match self {
            Template::Same(node) => node.clone(),
            Template::Text(place, pattern) => Node { place: *place, value: Value::from(&*pattern.member(i)) },
            Template::Each(values, kind) => {
                Template::of_one(&values[i - 1], *kind, values.len())?.member(i)?
            }
            Template::List(place, items) => {
                let mut nodes = Vec::with_capacity(items.len());
                for item in items {
                    nodes.push(item.member(i)?);
                }
                Node { place: *place, value: Value::from(nodes) }
            }
            Template::Table(place, templates) => {
                let mut entries = Vec::with_capacity(templates.len());
                for TemplateEntry { key, pattern, place, template } in templates {
                    let key = match pattern {
                        Some(pattern) => pattern.member(i).into(),
                        None => Arc::clone(key),
                    };
                    entries.push(Entry { key, place: *place, node: template.member(i)? });
                }
                Node { place: *place, value: Value::from(Table { entries }) }
            }
            Template::Typed { types, node, tagged, count, known } => {
                let tag = types.member(i)?;
                let word: Arc<str> = check::text(&tag)?.into();
                let template = match known.entry(word) {
                    btree_map::Entry::Occupied(known) => known.into_mut(),
                    btree_map::Entry::Vacant(new) => {
                        let mut typed = node.clone();
                        if let Some(table) = typed.table_mut() {
                            table.set("type", tag.place, tag);
                        }
                        new.insert(Template::of_table(&typed, Keys::Tagged(tagged), *count)?)
                    }
                };
                template.member(i)?
            }
        })
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
    fn members_share_what_is_the_same_for_all() {
        let text = "[[vc]]\nname = \"v{i}\"\ncount = 3\nabr = { nrm = [8, 16, 32] }\n\
                    traffic = { type = [\"timed\", \"timed\", \"timed\"], cells = [[\"1 ms\", 1], [\"2 ms\", 1]], start = \"{i} ms\" }\n";
        let members = members(&parse_document(text, 0).unwrap(), "vc").unwrap();
        let cells = |i: usize| {
            let traffic = members[i].node.table().unwrap().node("traffic").unwrap().table().unwrap();
            assert_eq!(traffic.text("start"), Some(&*format!("{} ms", i + 1)));
            match &traffic.node("cells").unwrap().value {
                Value::List(cells) => Arc::clone(cells),
                other => panic!("{other:?}"),
            }
        };
        assert!(Arc::ptr_eq(&cells(0), &cells(2)), "one list for all");
    }

    #[test]
    fn numbers_with_a_shift_do_in_names_what_they_do_in_paths() {
        let text = "[[host]]\nname = \"h{i+15}\"\ncount = 2\n";
        assert_eq!(written(text, "host").unwrap(), ["{ name = \"h16\" }", "{ name = \"h17\" }"]);
        assert!(
            check::table(
                &members(&parse_document(text, 0).unwrap(), "host").unwrap()[1].node,
                shape_of("host").unwrap(),
                check::Mode::COMPLETE
            )
            .is_ok()
        );
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

//! The table of the format as a JSON Schema for editors.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value as Json, json};

use cellrate_proto::declaration::{Dimension, Key, Kind, Shape, Tagged};

use crate::format::ROOT;
use crate::text::quantity::Notation;

/// JSON Schema (draft 2020-12) of the scenario format: keys, descriptions, unit patterns, words, ranges.
///
/// Each table, family of tables and quantity is defined once, below `$defs`, and referred to by `$ref`. A key that
/// several tables have stands in the first of them, and the others refer to it.
///
/// What it cannot say is left to [`Document::resolve`](crate::Document::resolve): whether names exist, whether values
/// fit together, and required keys of entries, which defaults and `like` may supply.
pub fn schema() -> Json {
    let mut definitions = Definitions::default();
    let mut root = definitions.shape(&ROOT, "#", false, true);
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("cellrate scenario");
    root["$defs"] = Json::Object(definitions.known);
    state_once(&mut root);
    root
}

/// Definitions that have been written so far, by the name that `$ref` has of each.
#[derive(Default)]
struct Definitions {
    known: Map<String, Json>,
    /// Where each key stands first, by its name and all that is said of it.
    keys: HashMap<(&'static str, String), String>,
}

impl Definitions {
    /// A reference to the definition `name`, which `write` writes where it is not known yet. Within an entry that may
    /// be a group it is another definition: values may be lists there.
    fn refer(
        &mut self,
        name: &str,
        groups: bool,
        write: impl FnOnce(&mut Definitions, &str) -> Json,
    ) -> Json {
        let name = if groups { format!("{name}_in_groups") } else { name.to_string() };
        let place = format!("#/$defs/{name}");
        if !self.known.contains_key(&name) {
            let definition = write(self, &place);
            self.known.insert(name, definition);
        }
        json!({ "$ref": place })
    }

    /// A table, which is to stand at `place`. `groups`: a list may give each member of a group its own value, and `{i}`
    /// stand for its number. `complete`: required keys must be there.
    fn shape(&mut self, shape: &Shape, place: &str, groups: bool, complete: bool) -> Json {
        let properties = shape.keys.iter().map(|key| {
            let place = format!("{place}/properties/{}", key.name);
            (key.name.to_string(), self.property(key, place, groups))
        });
        let properties = Map::from_iter(properties);
        let required: Vec<&str> = shape.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
        let mut result = json!({
            "type": "object",
            "description": shape.about,
            "properties": properties,
            "additionalProperties": false,
        });
        if complete && !required.is_empty() {
            result["required"] = json!(required);
        }
        result
    }

    /// A key, which is to stand at `place`; a reference where another table has it, too.
    fn property(&mut self, key: &Key, place: String, groups: bool) -> Json {
        let groups = groups && !matches!(key.name, "count" | "like" | "name");
        let description = match key.required {
            true => key.about.to_string(),
            false => format!("{} Default: {}.", key.about, key.default),
        };
        let single = self.single(key.kind, groups);
        let mut property = described(key.kind, single.clone(), &description);
        if groups && !key.kind.is_list() {
            property = match self.keys.get(&(key.name, property.to_string())) {
                Some(known) => self.one_or_each(key.kind, json!({ "$ref": known })),
                None => described(key.kind, self.one_or_each(key.kind, single), &description),
            };
        }
        match self.keys.entry((key.name, property.to_string())) {
            Entry::Occupied(known) => json!({ "$ref": known.get() }),
            Entry::Vacant(first) => {
                first.insert(place);
                property
            }
        }
    }

    /// A value, a list with one for each member of a group, or a text with the member's number in it.
    fn one_or_each(&mut self, of: Kind, single: Json) -> Json {
        let ways = match of.dimension() {
            Some(dimension) => {
                let name = format!("each_{}", definition_of(dimension));
                let each = self.refer(&name, false, |all, _| {
                    let value = all.quantity(dimension);
                    json!({ "anyOf": [each(value), all.numbered()] })
                });
                vec![single, each]
            }
            None if takes_numbers(of) => vec![single.clone(), each(single), self.numbered()],
            None => vec![single.clone(), each(single)],
        };
        json!({ "anyOf": ways })
    }

    /// A text with the number of a member in it.
    fn numbered(&mut self) -> Json {
        self.refer("numbered", false, |_, _| json!({ "type": "string", "pattern": r"\{i([+-]\d{1,6})?\}" }))
    }

    fn single(&mut self, of: Kind, groups: bool) -> Json {
        match of {
            Kind::Text | Kind::Reference => json!({ "type": "string" }),
            Kind::Name => json!({ "type": "string", "pattern": r"^(\w|[-{}])+$", "maxLength": 64 }),
            Kind::Integer(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
            Kind::Boolean => json!({ "type": "boolean" }),
            Kind::Quantity(dimension) | Kind::Positive(dimension) => self.quantity(dimension),
            Kind::Ratio(_) | Kind::PowerOfTwo => self.quantity(Dimension::Ratio),
            Kind::Choice(words) => json!({ "enum": words }),
            Kind::Or(kinds) => {
                json!({ "anyOf": kinds.iter().map(|of| self.single(*of, groups)).collect::<Vec<_>>() })
            }
            Kind::List(element, least) => {
                json!({ "type": "array", "minItems": least, "items": self.single(*element, false) })
            }
            Kind::Pair(first, second) => json!({
                "type": "array",
                "prefixItems": [self.single(*first, false), self.single(*second, false)],
                "minItems": 2,
                "maxItems": 2,
            }),
            Kind::Table(inner) => {
                self.refer(inner.name, groups, |all, place| all.shape(inner, place, groups, false))
            }
            Kind::Tagged(family) => self.refer(family.name, groups, |all, _| all.tagged(family, groups)),
            Kind::Map(inner) => {
                json!({ "type": "object", "additionalProperties": self.single(*inner, groups) })
            }
            Kind::Entries(inner) => {
                let is_group = inner.key("count").is_some();
                let name = format!("{}_entry", inner.name);
                let entry =
                    self.refer(&name, is_group, |all, place| all.shape(inner, place, is_group, !is_group));
                json!({ "type": "array", "items": entry })
            }
            Kind::Any => json!(true),
        }
    }

    fn quantity(&mut self, dimension: Dimension) -> Json {
        self.refer(definition_of(dimension), false, |_, _| {
            let text =
                json!({ "type": "string", "pattern": dimension.pattern(), "description": dimension.how() });
            if dimension != Dimension::Ratio {
                return text;
            }
            json!({ "anyOf": [{ "type": "number", "minimum": 0 }, text] })
        })
    }

    /// One shape per `type`, and one with all their keys for a table that only changes keys of the one below it.
    fn tagged(&mut self, family: &Tagged, groups: bool) -> Json {
        let mut ways = Vec::new();
        let mut all_keys: BTreeMap<&str, Vec<Json>> = BTreeMap::new();
        for (tag, variant) in family.variants {
            let name = format!("{}_{tag}", family.name);
            let reference = self.refer(&name, groups, |all, place| {
                let mut shape = all.shape(variant, place, groups, false);
                shape["properties"]["type"] = json!({ "const": tag });
                shape["required"] = json!(["type"]);
                shape
            });
            let definition = reference["$ref"].as_str().unwrap_or_default();
            for key in variant.keys {
                let form = self.form(definition, key.name);
                let forms = all_keys.entry(key.name).or_default();
                if !forms.contains(&form) {
                    forms.push(form);
                }
            }
            ways.push(reference);
        }
        let one_of = |(name, mut forms): (&str, Vec<Json>)| {
            let form = if forms.len() == 1 { forms.remove(0) } else { json!({ "anyOf": forms }) };
            (name.to_string(), form)
        };
        let mut any: Map<String, Json> = all_keys.into_iter().map(one_of).collect();
        if groups {
            any.insert("type".into(), json!({ "type": "array", "items": { "type": "string" } }));
        }
        ways.push(json!({ "type": "object", "additionalProperties": false, "properties": any }));
        json!({ "anyOf": ways })
    }

    /// A reference to the key `name` of the table at `definition`, or to where that refers to.
    fn form(&self, definition: &str, name: &str) -> Json {
        let table = definition.strip_prefix("#/$defs/").and_then(|table| self.known.get(table));
        match table.map(|table| &table["properties"][name]) {
            Some(key) if key.get("$ref").is_some() => key.clone(),
            _ => json!({ "$ref": format!("{definition}/properties/{name}") }),
        }
    }
}

/// A list with a value for each member of a group.
fn each(of: Json) -> Json {
    json!({ "type": "array", "minItems": 1, "items": of })
}

/// The form of a value of this kind, with what a key that has it means.
///
/// Language servers of TOML look at nothing beside a `$ref`, and see no description beside `allOf`; an error within a
/// table they find within `allOf` only, and a form that is referred to within `allOf` they do not bear unless it is a
/// table. What a pattern asks for is not what the key means.
fn described(of: Kind, form: Json, description: &str) -> Json {
    if matches!(of, Kind::Table(_) | Kind::Tagged(_)) && form.get("$ref").is_some() {
        return json!({ "allOf": [{ "description": description }, form] });
    }
    let is_whole = ["$ref", "pattern"].iter().all(|key| form.get(key).is_none());
    let mut described = if is_whole { form } else { json!({ "anyOf": [form] }) };
    described["description"] = json!(description);
    described
}

/// Lets descriptions stand once that are the same at several places.
fn state_once(root: &mut Json) {
    let mut places = BTreeMap::new();
    parts(root, "about", &mut |part, place| {
        if let Some(text) = shareable(part) {
            places.entry(text.to_string()).or_insert_with(Vec::new).push(place.to_string());
        }
    });
    places.retain(|text, places| places.len() > 1 && text.len() > SHORT);
    parts(root, "about", &mut |part, _| {
        let Some(first) = shareable(part).and_then(|text| places.get(text)).map(|places| &places[0]) else {
            return;
        };
        let about = json!({ "$ref": format!("#/$defs/{first}") });
        match part.as_object_mut() {
            Some(members) if members.len() > 1 => {
                members.remove("description");
                members.insert("allOf".into(), json!([about]));
            }
            _ => *part = about,
        }
    });
    for (text, places) in places {
        root["$defs"][&places[0]] = json!({ "description": text });
    }
}

/// Descriptions up to this length are written again, which takes less than a reference \[octets\].
const SHORT: usize = 60;

/// The description of a part, if it is still seen where the part only refers to it. That of a table is not shared:
/// editors would not offer its keys.
fn shareable(part: &Json) -> Option<&str> {
    let members = part.as_object()?;
    let is_seen = members.len() == 1 || members.contains_key("anyOf");
    members.get("description").filter(|_| is_seen)?.as_str()
}

/// Visits every object below `part`, itself last, with its place.
fn parts(part: &mut Json, place: &str, visit: &mut dyn FnMut(&mut Json, &str)) {
    match part {
        Json::Object(members) => {
            for (name, member) in members {
                let inner = match name.as_str() {
                    "$defs" | "properties" | "allOf" => place.to_string(),
                    name => format!("{place}_{name}"),
                };
                parts(member, &inner, visit);
            }
            visit(part, place);
        }
        Json::Array(members) => members.iter_mut().for_each(|member| parts(member, place, visit)),
        _ => {}
    }
}

/// Whether a text may stand there that has another pattern than names have: in groups, `{i}` among it.
fn takes_numbers(of: Kind) -> bool {
    match of {
        Kind::Quantity(_) | Kind::Positive(_) | Kind::Ratio(_) | Kind::PowerOfTwo | Kind::Choice(_) => true,
        Kind::Or(kinds) => kinds.iter().any(|kind| takes_numbers(*kind)),
        _ => false,
    }
}

/// The name that the definition of a quantity of this dimension has in the schema.
fn definition_of(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Time => "time",
        Dimension::Rate => "cell_rate",
        Dimension::LineRate => "line_rate",
        Dimension::Cells => "amount_of_cells",
        Dimension::Octets => "amount_of_octets",
        Dimension::Length => "length",
        Dimension::Offset => "clock_offset",
        Dimension::Angle => "angle",
        Dimension::Ratio => "ratio",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every `$ref` below `part`.
    fn references<'a>(part: &'a Json, found: &mut Vec<&'a str>) {
        match part {
            Json::Object(members) => {
                found.extend(members.get("$ref").and_then(Json::as_str));
                members.values().for_each(|member| references(member, found));
            }
            Json::Array(members) => members.iter().for_each(|member| references(member, found)),
            _ => {}
        }
    }

    /// Tables, families of tables and dimensions: none has the definition of another.
    #[test]
    fn definitions_of_one_name_are_one_thing() {
        let mut shapes: Vec<(String, String)> = Vec::new();
        let mut families: Vec<&str> = Vec::new();
        fn walk(kind: Kind, shapes: &mut Vec<(String, String)>, families: &mut Vec<&'static str>) {
            let mut shape = |name: String, shape: &'static Shape| {
                let text = format!("{shape:?}");
                match shapes.iter().find(|(known, _)| *known == name) {
                    Some((_, known)) => assert!(*known == text, "two tables are {name}"),
                    None => {
                        shapes.push((name, text));
                        shape.keys.iter().for_each(|key| walk(key.kind, shapes, families));
                    }
                }
            };
            match kind {
                Kind::Table(inner) => shape(inner.name.to_string(), inner),
                Kind::Entries(inner) => shape(format!("{}_entry", inner.name), inner),
                Kind::List(inner, _) | Kind::Map(inner) => walk(*inner, shapes, families),
                Kind::Pair(first, second) => {
                    walk(*first, shapes, families);
                    walk(*second, shapes, families);
                }
                Kind::Or(kinds) => kinds.iter().for_each(|kind| walk(*kind, shapes, families)),
                Kind::Tagged(family) if !families.contains(&family.name) => {
                    families.push(family.name);
                    for (tag, variant) in family.variants {
                        shapes.push((format!("{}_{tag}", family.name), String::new()));
                        variant.keys.iter().for_each(|key| walk(key.kind, shapes, families));
                    }
                }
                _ => {}
            }
        }
        ROOT.keys.iter().for_each(|key| walk(key.kind, &mut shapes, &mut families));
        let dimensions = [
            Dimension::Time,
            Dimension::Rate,
            Dimension::LineRate,
            Dimension::Cells,
            Dimension::Octets,
            Dimension::Length,
            Dimension::Offset,
            Dimension::Angle,
            Dimension::Ratio,
        ];
        let quantities = dimensions.map(definition_of);
        let mut names: Vec<&str> = shapes.iter().map(|(name, _)| name.as_str()).collect();
        names.extend(families);
        names.extend(quantities);
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "two things have one name");
    }

    #[test]
    fn every_reference_leads_to_a_definition_and_every_definition_is_referred_to() {
        let schema = schema();
        let mut found = Vec::new();
        references(&schema, &mut found);
        for name in &found {
            assert!(schema.pointer(&name[1..]).is_some(), "{name}");
        }
        for name in schema["$defs"].as_object().expect("definitions").keys() {
            let reference = format!("#/$defs/{name}");
            assert!(found.contains(&reference.as_str()), "{name}");
        }
    }

    /// Written out wherever they are used, definitions took 3.6 MB.
    #[test]
    fn the_schema_is_small() {
        let octets = schema().to_string().len();
        assert!(octets < 300_000, "{octets}");
    }

    /// Every description below `part` that is not that of a table.
    fn descriptions<'a>(part: &'a Json, found: &mut Vec<&'a str>) {
        match part {
            Json::Object(members) => {
                let is_table = members.contains_key("properties");
                found.extend(members.get("description").filter(|_| !is_table).and_then(Json::as_str));
                members.values().for_each(|member| descriptions(member, found));
            }
            Json::Array(members) => members.iter().for_each(|member| descriptions(member, found)),
            _ => {}
        }
    }

    #[test]
    fn a_description_stands_once_and_none_is_missing() {
        let schema = schema();
        let mut found = Vec::new();
        descriptions(&schema, &mut found);
        let mut once = found.clone();
        once.sort_unstable();
        once.dedup();
        for text in &once {
            let times = found.iter().filter(|other| *other == text).count();
            assert!(times == 1 || text.len() <= SHORT, "{times} times: {text}");
        }
        for table in crate::reference::tables() {
            for key in table.forms.iter().flat_map(|(_, shape)| shape.keys) {
                assert!(once.iter().any(|text| text.starts_with(key.about)), "{}", key.about);
            }
        }
    }

    /// Nothing that a language server of TOML does not bear, or does not show (see [`described`]).
    #[test]
    fn editors_find_descriptions_and_keys() {
        fn check(part: &Json) {
            if let Json::Object(members) = part {
                let has = |key: &str| members.contains_key(key);
                assert!(!has("$ref") || members.len() == 1, "beside a reference: {part}");
                assert!(!has("allOf") || !has("description"), "a description that is not seen: {part}");
                assert!(!has("allOf") || !has("properties"), "keys that are not offered: {part}");
                members.values().for_each(check);
            }
            part.as_array().into_iter().flatten().for_each(check);
        }
        check(&schema());
    }
}

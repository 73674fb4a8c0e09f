//! Defaults in the reference are those that hold where a key is left out.

use cellrate_proto::switch::FORMS;
use cellrate_proto::uili::SHAPES;
use cellrate_scenario::{Document, Scenario, schema};
use serde_json::Value;

/// A source before a switch; `defaults` stands in `[defaults]`.
fn resolve(defaults: &str) -> Scenario {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\nswitch = [{{ name = \"sw\" }}]\n\
         link = [{{ between = [\"a\", \"sw\"] }}, {{ between = [\"sw\", \"b\"] }}]\n\
         vc = [{{ name = \"vc\", path = [\"a\", \"sw\", \"b\"] }}]\n\
         [defaults]\nlink = {{ rate = \"150 Mbps\", length = \"1000 km\" }}\n{defaults}\n"
    );
    let scenario = Document::parse(&text, "t").and_then(|document| document.resolve());
    scenario.unwrap_or_else(|error| panic!("{error}"))
}

/// The keys of every table in the schema of which `wanted` says so.
fn keys<'a>(schema: &'a Value, wanted: &dyn Fn(&Value) -> bool, found: &mut Vec<&'a Value>) {
    match schema {
        Value::Object(members) => {
            let properties = members.get("properties").filter(|properties| wanted(properties));
            found.extend(properties);
            members.values().for_each(|member| keys(member, wanted, found));
        }
        Value::Array(members) => members.iter().for_each(|member| keys(member, wanted, found)),
        _ => {}
    }
}

/// The description of a key: its own, or that of the part which says for several what they are.
fn about<'a>(schema: &'a Value, key: &'a Value) -> Option<&'a str> {
    let elsewhere = key["$ref"].as_str().and_then(|place| schema.pointer(&place[1..]));
    let key = elsewhere.unwrap_or(key);
    key["description"].as_str().or_else(|| about(schema, key.pointer("/allOf/0")?))
}

/// The default of a key as it would be written; `None` where it is a phrase.
fn written(schema: &Value, key: &Value) -> Option<String> {
    let (_, default) = about(schema, key)?.rsplit_once(" Default: ")?;
    let default = default.strip_suffix('.')?;
    if default.parse::<f64>().is_ok() || matches!(default, "true" | "false") || default.starts_with('"') {
        return Some(default.to_string());
    }
    // A ratio, and a number of cells, without the quotes that a file needs.
    let number = default.strip_suffix(" cells").unwrap_or(default);
    let is_value = number.split('/').all(|part| part.parse::<u32>().is_ok());
    is_value.then(|| format!("\"{default}\""))
}

/// The lines that change nothing, each the default of a key of the first such table.
fn held(schema: &Value, wanted: &dyn Fn(&Value) -> bool, with: &dyn Fn(&str) -> String) -> String {
    let mut found = Vec::new();
    keys(schema, wanted, &mut found);
    let plain = resolve(&with(""));
    let table = found.first().and_then(|found| found.as_object()).expect("the table");
    let mut lines = String::new();
    for (name, key) in table {
        let Some(value) = written(schema, key) else { continue };
        if with("").contains(&format!(", {name} = ")) {
            continue;
        }
        let line = format!("{name} = {value}");
        assert_eq!(resolve(&with(&format!(", {line}"))), plain, "{line}");
        lines.push_str(&line);
        lines.push('\n');
    }
    lines
}

#[test]
fn of_switch_algorithms() {
    let schema = schema();
    let mut lines = String::new();
    for form in FORMS {
        let kind = form.shape.name;
        let required: String = form
            .shape
            .keys
            .iter()
            .filter(|key| key.required)
            .map(|key| format!(", {} = \"250 cells\"", key.name))
            .collect();
        let wanted = |keys: &Value| keys["type"]["const"] == kind;
        let with = |more: &str| format!("switch.algorithm = {{ type = \"{kind}\"{required}{more} }}");
        lines.push_str(&format!("[{kind}]\n{}", held(&schema, &wanted, &with)));
    }
    insta::assert_snapshot!(lines);
}

#[test]
fn of_sources() {
    let wanted = |keys: &Value| keys.get("adtf").is_some();
    let with = |more: &str| format!("abr = {{ {} }}", more.trim_start_matches(", "));
    insta::assert_snapshot!(held(&schema(), &wanted, &with));
}

#[test]
fn of_policies() {
    let schema = schema();
    let mut lines = String::new();
    for shape in SHAPES {
        let kind = shape.name;
        // TOF has no effect with the other floor.
        let beside = if kind == "time-based" { ", floor = \"multiple\"" } else { "" };
        let wanted = |keys: &Value| keys["type"]["const"] == kind;
        let with = |more: &str| format!("abr = {{ uili = {{ type = \"{kind}\"{beside}{more} }} }}");
        lines.push_str(&format!("[{kind}]\n{}", held(&schema, &wanted, &with)));
    }
    insta::assert_snapshot!(lines);
}

//! As much of JSON Schema as the schema of the format uses.

use serde_json::{Value as Json, json};

/// A TOML text as JSON.
pub fn json(text: &str) -> Json {
    fn value(of: &toml::Value) -> Json {
        match of {
            toml::Value::String(text) => json!(text),
            toml::Value::Integer(number) => json!(number),
            toml::Value::Float(number) => json!(number),
            toml::Value::Boolean(flag) => json!(flag),
            toml::Value::Datetime(date) => json!(date.to_string()),
            toml::Value::Array(values) => values.iter().map(value).collect(),
            toml::Value::Table(table) => {
                Json::Object(table.iter().map(|(key, v)| (key.clone(), value(v))).collect())
            }
        }
    }
    value(&toml::Value::Table(toml::from_str(text).unwrap()))
}

/// Whether a value fits a schema; panics at a keyword that it does not know.
pub fn validate(schema: &Json, value: &Json) -> Result<(), String> {
    fits(schema, schema, value)
}

/// Whether a value fits a part of the schema `whole`.
fn fits(whole: &Json, schema: &Json, value: &Json) -> Result<(), String> {
    let Json::Object(rules) = schema else { return Ok(()) };
    let fail = |what: String| Err(format!("{what} in {value}"));
    for (keyword, rule) in rules {
        let number = || rule.as_f64().unwrap();
        match keyword.as_str() {
            "$schema" | "title" | "description" | "$defs" => {}
            "$ref" => {
                let path = rule.as_str().unwrap().strip_prefix('#').unwrap();
                fits(whole, whole.pointer(path).unwrap_or_else(|| panic!("nothing at {rule}")), value)?;
            }
            "type" => {
                let holds = match rule.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    "boolean" => value.is_boolean(),
                    other => panic!("type {other}"),
                };
                if !holds {
                    return fail(format!("not of type {rule}"));
                }
            }
            "const" if value != rule => return fail(format!("not {rule}")),
            "enum" if !rule.as_array().unwrap().contains(value) => return fail(format!("none of {rule}")),
            "const" | "enum" => {}
            "pattern" => {
                let pattern = regex_lite::Regex::new(rule.as_str().unwrap()).unwrap();
                if value.as_str().is_some_and(|text| !pattern.is_match(text)) {
                    return fail(format!("does not match {rule}"));
                }
            }
            "maxLength" if value.as_str().is_some_and(|text| text.len() as f64 > number()) => {
                return fail("too long".into());
            }
            "minimum" if value.as_f64().is_some_and(|value| value < number()) => {
                return fail(format!("below {rule}"));
            }
            "maximum" if value.as_f64().is_some_and(|value| value > number()) => {
                return fail(format!("above {rule}"));
            }
            "minItems" if value.as_array().is_some_and(|items| (items.len() as f64) < number()) => {
                return fail("too few".into());
            }
            "maxItems" if value.as_array().is_some_and(|items| items.len() as f64 > number()) => {
                return fail("too many".into());
            }
            "maxLength" | "minimum" | "maximum" | "minItems" | "maxItems" => {}
            "allOf" => rule.as_array().unwrap().iter().try_for_each(|way| fits(whole, way, value))?,
            "anyOf" => {
                let ways: Vec<_> =
                    rule.as_array().unwrap().iter().map(|way| fits(whole, way, value)).collect();
                if !ways.iter().any(Result::is_ok) {
                    return fail(format!("fits no way: {ways:?}"));
                }
            }
            "items" => value.as_array().into_iter().flatten().try_for_each(|item| fits(whole, rule, item))?,
            "prefixItems" => {
                for (rule, item) in
                    rule.as_array().unwrap().iter().zip(value.as_array().into_iter().flatten())
                {
                    fits(whole, rule, item)?;
                }
            }
            "required" => {
                for key in rule.as_array().unwrap() {
                    if value.is_object() && value.get(key.as_str().unwrap()).is_none() {
                        return fail(format!("no {key}"));
                    }
                }
            }
            "properties" => {
                for (key, inner) in value.as_object().into_iter().flatten() {
                    if let Some(rule) = rule.get(key) {
                        fits(whole, rule, inner).map_err(|error| format!("{key}: {error}"))?;
                    }
                }
            }
            "additionalProperties" => {
                for (key, inner) in value.as_object().into_iter().flatten() {
                    if rules.get("properties").is_some_and(|known| known.get(key).is_some()) {
                        continue;
                    }
                    if rule == &json!(false) {
                        return fail(format!("unknown key {key}"));
                    }
                    fits(whole, rule, inner)?;
                }
            }
            other => panic!("keyword {other}"),
        }
    }
    Ok(())
}

//! `{i}` in the texts of a group: the number of a member.

use std::borrow::Cow;

use crate::text::tree::{Node, Value};

/// `text` with the number `i` for `{i}`, and one more or less for `{i+1}` and `{i-1}`, whatever number stands there.
pub(crate) fn numbered(text: &str, i: usize) -> Cow<'_, str> {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("{i") {
        let (before, pattern) = rest.split_at(at);
        let end = pattern.find('}');
        match end.and_then(|end| number(&pattern[2..end], i)) {
            Some(number) => {
                result.push_str(before);
                result.push_str(&number.to_string());
                rest = &pattern[end.unwrap_or(0) + 1..];
            }
            None => {
                result.push_str(&rest[..at + 2]);
                rest = &rest[at + 2..];
            }
        }
    }
    if result.is_empty() && rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    result.push_str(rest);
    Cow::Owned(result)
}

/// The member's number with what a pattern adds to it: nothing, `+1`, `-1`.
fn number(shift: &str, i: usize) -> Option<i64> {
    let i = i as i64;
    let of_digits = |digits: &str| {
        let is_number =
            !digits.is_empty() && digits.len() <= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { digits.parse::<i64>().ok() } else { None }
    };
    match shift.as_bytes().first() {
        None => Some(i),
        Some(b'+') => of_digits(&shift[1..]).map(|shift| i + shift),
        Some(b'-') => of_digits(&shift[1..]).map(|shift| i - shift),
        Some(_) => None,
    }
}

/// Whether there is the number of a member in `text`: `{i}`, or one more or less.
pub(crate) fn has_number(text: &str) -> bool {
    first_number(text).is_some()
}

/// Texts before and behind the first `{i}`, `{i+1}` and the like.
pub(crate) fn first_number(text: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    while let Some(at) = text[from..].find("{i").map(|at| from + at) {
        let end = text[at..].find('}').map(|end| at + end);
        if let Some(end) = end.filter(|&end| number(&text[at + 2..end], 0).is_some()) {
            return Some((&text[..at], &text[end + 1..]));
        }
        from = at + 2;
    }
    None
}

/// Whether a name is one that a pattern with `{i}` stands for, or the same.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    match first_number(pattern) {
        None => pattern == name,
        Some((before, after)) => {
            let middle = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            middle.is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()))
        }
    }
}

/// Text for the first member of a group of a text with `{i}`; `None` if it is the same for all, or no text.
pub(crate) fn of_first_member(node: &Node) -> Option<Node> {
    match numbered(node.text()?, 1) {
        Cow::Owned(text) => Some(Node { place: node.place, value: Value::from(&*text) }),
        Cow::Borrowed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_for_patterns_and_nothing_else() {
        assert_eq!(numbered("sw{i}-sw{i+1}-{i-1}", 3), "sw3-sw4-2");
        for text in ["plain", "{i", "{ii}", "{i+}", "{i+x}", "{i*2}", "{i+9999999}"] {
            assert_eq!(numbered(text, 3), text);
        }
        assert_eq!(numbered("{i{i}", 3), "{i3");
    }

    #[test]
    fn a_pattern_stands_for_numbers_only() {
        assert!(matches("vc{i+15}", "vc16") && matches("a{i}b", "a1b") && !matches("vc{i+x}", "vc1"));
        assert!(has_number("h{i+15}") && !has_number("{i") && !has_number("{ii}") && has_number("{i{i}"));
        assert!(matches("vc{i}", "vc12") && matches("vc1", "vc1"));
        assert!(!matches("vc{i}", "vc") && !matches("vc{i}", "vcx") && !matches("vc1", "vc2"));
    }
}

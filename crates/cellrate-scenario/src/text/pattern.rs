//! `{i}` in the texts of a group: the number of a member.

use crate::text::tree::{Node, Value};

/// A text with `{i}` in it, or with `{i+1}` and `{i-1}` for one more or less, taken apart.
pub(crate) struct Pattern {
    /// Texts before each `{i}`, and what that adds to the number of a member.
    numbers: Vec<(Box<str>, i64)>,
    /// The text behind the last.
    rest: Box<str>,
}

impl Pattern {
    /// `text` as a pattern, if it is one.
    pub fn of(text: &str) -> Option<Pattern> {
        let (mut numbers, mut rest) = (Vec::new(), text);
        while let Some((before, shift, behind)) = split(rest) {
            numbers.push((before.into(), shift));
            rest = behind;
        }
        (!numbers.is_empty()).then(|| Pattern { numbers, rest: rest.into() })
    }

    /// The text of member `i`.
    pub fn member(&self, i: usize) -> String {
        let mut text = String::new();
        for (before, shift) in &self.numbers {
            text.push_str(before);
            text.push_str(&(i as i64 + shift).to_string());
        }
        text.push_str(&self.rest);
        text
    }
}

/// The first `{i}` of `text`, or `{i+1}` and the like, as what it adds to the number of a member, with the texts before
/// and behind it.
fn split(text: &str) -> Option<(&str, i64, &str)> {
    text.match_indices('{').find_map(|(at, _)| {
        let (shift, behind) = text[at + 1..].strip_prefix('i')?.split_once('}')?;
        Some((&text[..at], added(shift)?, behind))
    })
}

/// The number that a pattern adds to that of a member: none, `+1`, `-1`.
fn added(shift: &str) -> Option<i64> {
    let of_digits = |digits: &str| {
        let is_number =
            !digits.is_empty() && digits.len() <= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { digits.parse::<i64>().ok() } else { None }
    };
    match shift.as_bytes().first() {
        None => Some(0),
        Some(b'+') => of_digits(&shift[1..]),
        Some(b'-') => of_digits(&shift[1..]).map(|shift| -shift),
        Some(_) => None,
    }
}

/// Whether there is the number of a member in `text`: `{i}`, or one more or less.
pub(crate) fn has_number(text: &str) -> bool {
    first_number(text).is_some()
}

/// Texts before and behind the first `{i}`, `{i+1}` and the like.
pub(crate) fn first_number(text: &str) -> Option<(&str, &str)> {
    split(text).map(|(before, _, behind)| (before, behind))
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
    let first = Pattern::of(node.text()?)?.member(1);
    Some(Node { place: node.place, value: Value::from(&*first) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_for_patterns_and_nothing_else() {
        let numbered =
            |text: &str| Pattern::of(text).map_or_else(|| text.to_string(), |pattern| pattern.member(3));
        assert_eq!(numbered("sw{i}-sw{i+1}-{i-1}"), "sw3-sw4-2");
        for text in ["plain", "{i", "{ii}", "{i+}", "{i+x}", "{i*2}", "{i+9999999}"] {
            assert_eq!(numbered(text), text);
        }
        assert_eq!(numbered("{i{i}"), "{i3");
    }

    #[test]
    fn a_pattern_stands_for_numbers_only() {
        assert!(matches("vc{i+15}", "vc16") && matches("a{i}b", "a1b") && !matches("vc{i+x}", "vc1"));
        assert!(has_number("h{i+15}") && !has_number("{i") && !has_number("{ii}") && has_number("{i{i}"));
        assert!(matches("vc{i}", "vc12") && matches("vc1", "vc1"));
        assert!(!matches("vc{i}", "vc") && !matches("vc{i}", "vcx") && !matches("vc1", "vc2"));
    }
}

//! Errors of scenarios, with their place: file, line, column, key, what was given, and what to write instead.

use std::borrow::Cow;
use std::fmt;

/// A scenario that cannot be used. Displayed as one paragraph followed by the line in question with a caret below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    file: String,
    line: usize,
    column: usize,
    width: usize,
    source_line: String,
    key: String,
    message: String,
    remedy: String,
}

impl ScenarioError {
    /// The file as it was named to the parser, or `setting` for an override given beside the file.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// Line, counted from 1.
    pub fn line(&self) -> usize {
        self.0.line
    }

    /// Column in characters, counted from 1.
    pub fn column(&self) -> usize {
        self.0.column
    }

    /// How many characters of the line are in question, 1 at least.
    pub fn width(&self) -> usize {
        self.0.width
    }

    /// The dotted path of the key, such as `vc.vc1.abr.nrm`; empty where the text is no TOML.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// The fault, with the value that was given.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Allowed values, or a remedy.
    pub fn remedy(&self) -> &str {
        &self.0.remedy
    }

    /// The line of the text that is in question.
    pub fn source_line(&self) -> &str {
        &self.0.source_line
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { file, line, column, width, source_line, key, message, remedy } = &*self.0;
        write!(f, "{file}:{line}:{column}: ")?;
        if !key.is_empty() {
            write!(f, "{key}: ")?;
        }
        write!(f, "{message}.")?;
        if !remedy.is_empty() {
            write!(f, " {remedy}{}", if remedy.ends_with('?') { "" } else { "." })?;
        }
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        let (shown, before) = excerpt(source_line, column - 1);
        // Tabs are kept, so that the caret stands below its character whatever a tab is wide.
        let indent: String = shown.chars().take(before).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let carets = "^".repeat((*width).min(MOST_SHOWN));
        write!(f, "\n{margin} |\n{number} | {shown}\n{margin} | {indent}{carets}")
    }
}

/// Most characters that are shown of a line: lists may be very long.
const MOST_SHOWN: usize = 160;

/// Part of a line that is shown where the character behind the first `before` ones is in question, and how many stand
/// before that there.
fn excerpt(line: &str, before: usize) -> (Cow<'_, str>, usize) {
    if line.chars().count() <= MOST_SHOWN {
        return (line.into(), before);
    }
    let first = before.saturating_sub(MOST_SHOWN / 2);
    let shown: String = line.chars().skip(first).take(MOST_SHOWN).collect();
    let head = if first > 0 { "..." } else { "" };
    let tail = if line.chars().count() > first + MOST_SHOWN { "..." } else { "" };
    ([head, &shown, tail].concat().into(), before - first + head.len())
}

impl std::error::Error for ScenarioError {}

/// A stretch of one of the texts a document was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Place {
    /// 0 for the file, then the overrides in the order they were given.
    pub text: u32,
    /// First byte.
    pub start: u32,
    /// First byte after.
    pub end: u32,
}

/// An error while its place is still a stretch of bytes.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub place: Place,
    pub message: String,
    pub remedy: String,
}

impl Fault {
    pub fn new(place: Place, message: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault { place, message: message.into(), remedy: remedy.into() }
    }
}

/// A text that a document, or a part of it, was read from.
#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    pub name: String,
    pub text: String,
}

impl SourceText {
    /// Turns a fault in this text into an error; `key` is the dotted path of the key in question.
    pub fn error(&self, fault: Fault, key: String) -> ScenarioError {
        let boundary = |mut at: usize| {
            at = at.min(self.text.len());
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (start, end) = (boundary(fault.place.start as usize), boundary(fault.place.end as usize));
        let line_start = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = self.text[start..].find('\n').map_or(self.text.len(), |newline| start + newline);
        let source_line = self.text[line_start..line_end].trim_end_matches('\r');
        let shown_end = end.clamp(start, line_end);
        ScenarioError(Box::new(Details {
            file: self.name.clone(),
            line: self.text[..start].matches('\n').count() + 1,
            column: self.text[line_start..start].chars().count() + 1,
            width: self.text[start..shown_end].chars().count().max(1),
            source_line: source_line.to_string(),
            key,
            message: fault.message,
            remedy: fault.remedy,
        }))
    }
}

/// The one of `candidates` that `given` was probably meant to be.
pub(crate) fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given: Vec<char> = given.chars().take(64).flat_map(char::to_lowercase).collect();
    let allowed = (given.len() / 3).max(1) + 1;
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(&given, &candidate.to_lowercase()), candidate))
        .filter(|&(distance, candidate)| distance <= allowed && distance < candidate.chars().count())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// "Did you mean" for a name, or else the list of what there is.
pub(crate) fn suggestion(given: &str, what: &str, candidates: &[&str]) -> String {
    const SHOWN: usize = 24;
    let near = nearest(given, candidates.iter().copied());
    let list = match candidates.len() {
        0 => format!("there are no {what}"),
        n if n > SHOWN => format!("{what}: {} and {} more", candidates[..SHOWN].join(", "), n - SHOWN),
        _ => format!("{what}: {}", candidates.join(", ")),
    };
    match near {
        Some(near) => format!("Did you mean \"{near}\"? ({list})"),
        None => capitalised(&list),
    }
}

pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other.
fn edit_distance(from: &[char], to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replace = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_what_is_around_the_error_is_shown() {
        assert_eq!(excerpt("short", 3), ("short".into(), 3));
        let line: String = (0..100).map(|number| format!("{number},")).collect();
        let at = line.find("70,").unwrap();
        let (shown, before) = excerpt(&line, at);
        assert!(
            shown.starts_with("...") && shown.ends_with("...") && shown.len() == MOST_SHOWN + 6,
            "{shown}"
        );
        assert!(shown[before..].starts_with("70,"), "{shown}");
        let (shown, before) = excerpt(&line, 0);
        assert!(shown.starts_with("0,1,") && shown.ends_with("...") && before == 0, "{shown}");
        let (shown, before) = excerpt(&line, line.len() - 3);
        assert!(shown.starts_with("...") && shown[before..] == *"99,", "{shown}");
    }

    #[test]
    fn the_caret_stands_below_the_place_and_columns_count_characters() {
        let source = SourceText { name: "a.toml".into(), text: "x = 1\n\tü = \"bad\"\n".into() };
        // Line 2: a tab, u-umlaut (2 bytes), " = ", then the value at byte 12, column 6.
        let place = Place { text: 0, start: 12, end: 17 };
        let error = source.error(Fault::new(place, "it is bad", "Write a good one"), "ü".into());
        assert_eq!((error.line(), error.column()), (2, 6));
        assert_eq!(
            error.to_string(),
            "a.toml:2:6: ü: it is bad. Write a good one.\n  |\n2 | \tü = \"bad\"\n  | \t    ^^^^^"
        );
    }

    #[test]
    fn a_place_beyond_the_text_is_its_end() {
        let source = SourceText { name: "a.toml".into(), text: String::new() };
        let error = source.error(Fault::new(Place { text: 0, start: 7, end: 9 }, "m", ""), String::new());
        assert_eq!((error.line(), error.column()), (1, 1));
    }

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not_offered() {
        assert_eq!(nearest("lenght", ["length", "delay", "rate"]), Some("length"));
        assert_eq!(nearest("NRM", ["nrm", "crm"]), Some("nrm"));
        assert_eq!(nearest("colour", ["length", "delay", "rate"]), None);
        assert_eq!(nearest("x", ["a"]), None);
    }
}

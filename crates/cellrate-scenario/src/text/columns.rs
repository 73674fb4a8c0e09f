//! Rows and columns of tables in files.

/// The rows of a table, each the number of its line and its text: lines with a digit that are no comments.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_row = |line: &str| {
        !line.starts_with(['#', '%']) && line.contains(|character: char| character.is_ascii_digit())
    };
    let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines().map(str::trim));
    lines.filter(move |(_, line)| is_row(line))
}

/// The columns of a line: what semicolons, tabs or commas part, empty ones counted, and what spaces part within that.
pub(crate) fn columns(line: &str) -> Vec<&str> {
    let mark = [';', '\t', ','].into_iter().find(|mark| line.contains(*mark));
    let cells: Vec<&str> = match mark {
        Some(mark) => line.split(mark).map(str::trim).collect(),
        None => vec![line],
    };
    let words = cells.into_iter().flat_map(|cell| {
        let mut words: Vec<&str> = cell.split_whitespace().collect();
        if words.is_empty() {
            words.push("");
        }
        words
    });
    words.map(|word| word.trim_matches('"')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_cells_are_columns_and_spaces_are_not() {
        assert_eq!(columns("1;;700"), ["1", "", "700"]);
        assert_eq!(columns("1,,700,"), ["1", "", "700", ""]);
        assert_eq!(columns("1\t\t700"), ["1", "", "700"]);
        assert_eq!(columns("1   I  700"), ["1", "I", "700"]);
        assert_eq!(columns("2, B, 40.0, \"700\""), ["2", "B", "40.0", "700"]);
    }
}

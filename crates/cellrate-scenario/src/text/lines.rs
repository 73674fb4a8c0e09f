//! Lines by their names, with the rates that cells can have of them.

/// Names, and what cells have with framing and overhead taken off \[bit/s\].
///
/// SONET and SDH: 260 of 270 columns (ITU-T I.432.2). T1 and E1: 24 and 30 of the time slots (ITU-T G.804), E3 and E4
/// in the frames of G.832, E3 and DS3 with PLCP as in G.804 and ATM Forum af-phy-0054, DS3 without it all but one bit
/// in 85. At 25.6 Mbps an octet pair goes with each cell and one more each 125 us (the PCR that Linux gives such
/// adapters).
const LINES: [(&str, f64); 18] = [
    ("DS0", 64e3),
    ("T1", 1.536e6),
    ("DS1", 1.536e6),
    ("E1", 1.92e6),
    ("ATM-25", 59_111.0 * 424.0),
    ("E3", 33.92e6),
    ("E3-PLCP", 30.528e6),
    ("DS3", 44.736e6 * 84.0 / 85.0),
    ("T3", 44.736e6 * 84.0 / 85.0),
    ("DS3-PLCP", 40.704e6),
    ("E4", 138.24e6),
    ("OC-3", 149.76e6),
    ("STM-1", 149.76e6),
    ("OC-12", 599.04e6),
    ("STM-4", 599.04e6),
    ("OC-24", 1_198.08e6),
    ("OC-48", 2_396.16e6),
    ("STM-16", 2_396.16e6),
];

/// The rate of the line with this name \[bit/s\], as scenarios write it.
pub(super) fn rate(name: &str) -> Option<f64> {
    LINES.iter().find(|line| line.0 == name).map(|line| line.1)
}

/// The name of a line as scenarios write it, of one that is written with other capitals, hyphens or blanks.
pub(super) fn name_like(text: &str) -> Option<&'static str> {
    let letters = |text: &str| -> String {
        text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted = letters(text);
    names().find(|name| letters(name) == wanted)
}

/// All names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    LINES.iter().map(|line| line.0)
}

//! Explanations in words: what a person reads, on the command line and in the lab.

use cellrate_proto::Time;
use cellrate_proto::units::BITS_PER_CELL;

use super::{Passage, RateStep, ReturnedCell};

/// Lines about the last of `steps`, which are those of `source` up to `at`, and about the last that moved ACR, if that
/// is another one.
pub(super) fn words(steps: &[&RateStep], source: &str, at: Time) -> Vec<String> {
    let Some(last) = steps.last() else {
        let at = ms(at.as_secs_f64());
        return vec![format!(
            "Up to {at} ms nothing has moved the ACR of {source}: it is that of the beginning, min(ICR, TBE/FRTT) \
             (rule 2)."
        )];
    };
    let mut lines = step_in_words(last);
    match steps.iter().rev().find(|step| step.moves()) {
        None => lines.push(
            "Nothing has moved ACR: it is that of the beginning, min(ICR, TBE/FRTT) (rule 2).".to_owned(),
        ),
        Some(moved) if !std::ptr::eq(*moved, *last) => {
            lines.push("The last step that moved ACR:".to_owned());
            lines.extend(step_in_words(moved));
        }
        Some(_) => {}
    }
    lines
}

fn step_in_words(step: &RateStep) -> Vec<String> {
    let (event, rule) = match step.event {
        "brm" => ("a BRM came back", ""),
        "idle" => ("an FRM left, more than ADTF after the one before", "rule 5: back to ICR"),
        "missing_brms" => {
            ("an FRM left, and CRM of them or more without a BRM", "rule 6: down by CDF, not below MCR")
        }
        "unused" => (
            "an FRM left, and the use-it-or-lose-it policy found the rate unused",
            "rule 13: down to what the policy says, not below MCR",
        ),
        _ => ("the connection began anew", "rule 2: min(ICR, TBE/FRTT)"),
    };
    let mut lines = vec![format!("{} ms: {event}.", ms(step.at_s))];
    match &step.brm {
        Some(brm) => {
            lines.extend(way(brm));
            lines.extend(obeyed(step, brm));
        }
        None => {
            lines.push(format!("  {rule}: {}", from_to(step.before_cells_per_s, step.after_cells_per_s)));
        }
    }
    lines
}

/// Where the cell began, and what each switch wrote into it.
fn way(brm: &ReturnedCell) -> impl Iterator<Item = String> {
    brm.way.iter().enumerate().map(|(place, passage)| {
        let said = match place.checked_sub(1) {
            None => began(passage, brm),
            Some(before) => written(&brm.way[before], passage),
        };
        format!("  {} ms, {}: {said}", ms(passage.at_s), passage.port)
    })
}

fn began(passage: &Passage, brm: &ReturnedCell) -> String {
    let node = &passage.node;
    let origin = if brm.bn {
        format!("{node} originated it (BN = 1)")
    } else if passage.control.is_none() {
        format!("{node} turned the FRM around")
    } else {
        format!("{node} sent it, where the control loop ends")
    };
    let mut told = format!("{origin}, with ER {} Mbps", mbps(passage.er_cells_per_s));
    for (bit, _) in [("CI", passage.ci), ("NI", passage.ni)].into_iter().filter(|&(_, is_set)| is_set) {
        told += &format!(", {bit} = 1");
    }
    match &brm.efci_from {
        Some(port) if passage.ci => told + &format!("; {port} had marked the data before it (EFCI)"),
        _ => told,
    }
}

fn written(before: &Passage, passage: &Passage) -> String {
    let mut done = Vec::new();
    if passage.er_cells_per_s != before.er_cells_per_s {
        done.push(format!("lowered ER {}", from_to(before.er_cells_per_s, passage.er_cells_per_s)));
    }
    for (bit, was, is_set) in [("CI", before.ci, passage.ci), ("NI", before.ni, passage.ni)] {
        if is_set && !was {
            done.push(format!("set {bit}"));
        }
    }
    let by = passage.control.as_ref().unwrap_or(&passage.node);
    if done.is_empty() { format!("{by} left it as it was") } else { format!("{by} {}", done.join(" and ")) }
}

/// Words for the changes that rules 8 and 9 made to ACR.
fn obeyed(step: &RateStep, brm: &ReturnedCell) -> Vec<String> {
    let (before, after) = (step.before_cells_per_s, step.after_cells_per_s);
    let indicated = step.indicated_cells_per_s.unwrap_or(before);
    let mut lines = Vec::new();
    if step.rules.is_empty() {
        lines.push(format!("  ACR stayed at {} Mbps", mbps(before)));
    }
    if step.rules.contains(&8) {
        let why = if brm.ci { "CI = 1, down by RDF" } else { "neither CI nor NI, up by RIF x PCR" };
        lines.push(format!("  rule 8: {why}: {}", from_to(before, indicated)));
    }
    if step.rules.contains(&9) {
        let is_held = brm.er_cells_per_s < after && after == brm.mcr_cells_per_s;
        let floor = if is_held { ", and not below MCR" } else { "" };
        lines.push(format!("  rule 9: at most ER{floor}: {}", from_to(indicated, after)));
    }
    lines
}

fn ms(seconds: f64) -> String {
    format!("{:.6}", seconds * 1e3)
}

/// A rate with three digits behind the point and a comma at each thousand.
fn mbps(cells_per_s: f64) -> String {
    let plain = format!("{:.3}", cells_per_s * BITS_PER_CELL as f64 / 1e6);
    let (whole, rest) = plain.split_at(plain.len() - 4);
    let mut text = String::with_capacity(plain.len() + 4);
    for (place, digit) in whole.char_indices() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

fn from_to(before: f64, after: f64) -> String {
    format!("from {} to {} Mbps", mbps(before), mbps(after))
}

#[cfg(test)]
mod tests {
    use super::mbps;

    #[test]
    fn rates_have_a_comma_at_each_thousand() {
        let of = |bps: f64| mbps(bps / 424.0);
        assert_eq!(of(999_999_000.0), "999.999");
        assert_eq!(of(1_000_000_000.0), "1,000.000");
        assert_eq!(of(1_234_567_890_000.0), "1,234,567.890");
        assert_eq!(of(0.0), "0.000");
    }
}

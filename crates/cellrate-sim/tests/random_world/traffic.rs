//! Open-loop traffic of any kind that is declared, with values that its keys allow.

use cellrate_proto::declaration::{Dimension, Kind, Range, Shape};
use cellrate_proto::{CellRate, Duration};
use cellrate_scenario::traffic::SHAPES;
use cellrate_scenario::{Document, Scenario, Traffic};
use cellrate_sim::random::{Owner, Random, Stream};

use super::{Generator, Style};

/// In every fourth network a third of the senders of open-loop traffic have other such traffic.
pub fn vary(scenario: &mut Scenario, number: u64) {
    let dice = Random::new(number, Stream::Traffic(Owner::named("dice 22")));
    let mut dice = Generator { dice, style: Style::Mixed };
    if !dice.one_in(4) {
        return;
    }
    for connection in &mut scenario.connections {
        for flow in [&mut connection.forward, &mut connection.backward] {
            let peak = flow.sender.pcr();
            if let Some(traffic) = &mut flow.traffic
                && matches!(
                    traffic,
                    Traffic::Constant(_) | Traffic::OnOff(_) | Traffic::Limited(_) | Traffic::Timed(_)
                )
                && dice.one_in(3)
            {
                *traffic = declared(&mut dice, peak, scenario.duration);
            }
        }
    }
}

/// Traffic of a kind that the dice choose, read from a text as a scenario has it. Values that do not fit together are
/// drawn anew.
pub(super) fn declared(dice: &mut Generator, peak: CellRate, duration: Duration) -> Traffic {
    let shape = &SHAPES[dice.below(SHAPES.len() as u64) as usize];
    let mut tries = (0..1_000).filter_map(|_| {
        let keys = table(shape, dice, peak, duration);
        let written =
            format!("{{ type = \"{}\"{} {keys} }}", shape.name, if keys.is_empty() { "" } else { "," });
        read(&written)
    });
    tries.next().unwrap_or_else(|| panic!("no values were found that fit the keys of {}", shape.name))
}

fn read(traffic: &str) -> Option<Traffic> {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         link = [{{ between = [\"a\", \"b\"], rate = \"100 Mbps\", length = \"1 km\" }}]\n\
         vc = [{{ name = \"v\", path = [\"a\", \"b\"], category = \"ubr\", traffic = {traffic} }}]\n"
    );
    let mut scenario = Document::parse(&text, "t.toml").and_then(|document| document.resolve()).ok()?;
    scenario.connections.remove(0).forward.traffic
}

/// The keys of a table: those that must be there, and each of the others in half of all cases.
fn table(shape: &Shape, dice: &mut Generator, peak: CellRate, duration: Duration) -> String {
    let mut keys = Vec::new();
    for key in shape.keys {
        if key.required || dice.one_in(2) {
            keys.push(format!("{} = {}", key.name, value(key.kind, dice, peak, duration)));
        }
    }
    keys.join(", ")
}

fn value(kind: Kind, dice: &mut Generator, peak: CellRate, duration: Duration) -> String {
    let mut of = |kind: Kind| value(kind, dice, peak, duration);
    match kind {
        Kind::Pair(first, second) => format!("[{}, {}]", of(*first), of(*second)),
        Kind::Table(shape) => format!("{{ {} }}", table(shape, dice, peak, duration)),
        Kind::Or(kinds) => value(kinds[dice.below(kinds.len() as u64) as usize], dice, peak, duration),
        Kind::List(element, least) => {
            let count = least + dice.below(3) as usize;
            let all: Vec<String> = (0..count).map(|_| value(*element, dice, peak, duration)).collect();
            format!("[{}]", all.join(", "))
        }
        Kind::Quantity(Dimension::Time) | Kind::Positive(Dimension::Time) => {
            format!("\"{} us\"", 1 + dice.below(duration.as_ps() / 1_000_000))
        }
        Kind::Quantity(Dimension::Rate) | Kind::Positive(Dimension::Rate) => {
            format!("\"{} cells/s\"", (peak * dice.pick(&[0.05, 0.3, 1.0, 1.7])).as_cells_per_s())
        }
        Kind::Quantity(Dimension::Cells) | Kind::Positive(Dimension::Cells) => {
            format!("\"{} cells\"", 1 + dice.below(40))
        }
        Kind::Ratio(Range { low, high, .. }) => {
            format!("{}", low + (high.min(low + 4.0) - low) * dice.pick(&[0.1, 0.5, 0.9]))
        }
        Kind::Integer(low, high) => (low + dice.below((high - low).min(20) as u64 + 1) as i64).to_string(),
        Kind::Boolean => dice.one_in(2).to_string(),
        Kind::Choice(words) => format!("\"{}\"", words[dice.below(words.len() as u64) as usize]),
        other => unreachable!("random networks draw no {other:?}: write here how"),
    }
}

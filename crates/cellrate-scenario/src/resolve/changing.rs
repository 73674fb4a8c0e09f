//! Links that change in time: steps of their rate, delay and loss.

use cellrate_proto::{BitRate, Time};

use crate::courses::Delays;
use crate::format::{Change, LinkTable};
use crate::model::{InFlight, LineState, Link, LinkStep};
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::quantity;
use crate::text::tree::{Node, Value};
use crate::text::written::Written;

/// Courses that the rate and the delay of a link follow beside `changes`, from 0 on.
pub(super) struct Courses {
    pub rate: Vec<(Time, BitRate)>,
    pub delay: Delays,
}

/// Takes what `keys` say of changes into its `link`, which is as it begins but for them, and what it follows; `names`
/// are those of its ends. Where the rate changes, the place of what says so.
pub(super) fn set(
    link: &mut Link,
    names: [&str; 2],
    keys: &LinkTable,
    courses: &Courses,
) -> Result<Option<Place>, Fault> {
    let mut step = LinkStep { at: Time::ZERO, lines: [link.first_state(); 2] };
    let mut steps: Vec<LinkStep> = Vec::new();
    let mut before: Option<&Node> = None;
    let changes = keys.changes.as_ref();
    for node in changes.map_or(Ok(&[][..]), check::list)? {
        for (key, course) in [("rate", &keys.rate), ("delay", &keys.delay)] {
            let own = node.table().and_then(|change| change.node(key));
            if let (Some(own), Some(Value::Table(_))) = (own, course.as_ref().map(|node| &node.value)) {
                let message =
                    format!("the {key} of the link follows a file or an orbit, and a change sets it, too");
                return Err(Fault::new(own.place, message, format!("Leave out one of the two {key}s")));
            }
        }
        let last = steps.last().map(|step| step.at);
        step = changed(node, names, step)?;
        // Both lines may change at one instant, each in its own way.
        let from = |change: &Node| change.table().and_then(|table| table.text("from").map(str::to_owned));
        let beside = match (before.and_then(from), from(node)) {
            (Some(one), Some(other)) => one != other,
            _ => false,
        };
        if last.is_some_and(|last| step.at < last || step.at == last && !beside) {
            let message = format!("the change at {} is not after the one before it", step.at);
            return Err(Fault::new(node.place, message, "Write changes in order of time"));
        }
        if last == Some(step.at)
            && let Some(first) = steps.pop()
        {
            for (line, first) in step.lines.iter_mut().zip(first.lines) {
                if first.in_flight == InFlight::Lost {
                    line.in_flight = InFlight::Lost;
                }
            }
        }
        before = (last != Some(step.at)).then_some(node);
        steps.push(step);
    }
    if courses.rate.len() > 1 || courses.delay.len() > 1 {
        steps = together(link, &steps, courses);
    }
    // The lines may begin apart: then the first step is one.
    if let Some(first) =
        steps.first().filter(|first| first.at == Time::ZERO && first.lines[0] == first.lines[1])
    {
        let line = first.lines[0];
        (link.rate, link.delay, link.line.loss) = (line.rate, line.delay, line.cell_loss);
        steps.remove(0);
    }
    link.changes = steps.into();
    let place = keys.rate.as_ref().filter(|_| courses.rate.len() > 1).or(changes).map(|node| node.place);
    Ok(place.filter(|_| link.changes_rate() || link.rate == BitRate::default()))
}

/// Changes and courses merged into one list of steps. What changes nothing is left out.
fn together(link: &Link, changes: &[LinkStep], courses: &Courses) -> Vec<LinkStep> {
    let follows_rate = courses.rate.len() > 1;
    let follows_delay = courses.delay.len() > 1;
    let mut instants: Vec<Time> = changes.iter().map(|step| step.at).collect();
    instants.extend(courses.rate.iter().map(|&(at, _)| at));
    instants.extend(courses.delay.iter().map(|&(at, _)| at));
    instants.sort_unstable();
    instants.dedup();
    let mut step = LinkStep { at: Time::ZERO, lines: [link.first_state(); 2] };
    let mut steps = Vec::new();
    for at in instants {
        let before = step;
        step = LinkStep { at, lines: kept(step.lines) };
        if let Ok(place) = changes.binary_search_by_key(&at, |change| change.at) {
            step = LinkStep { at, ..changes[place] };
        }
        let place = courses.rate.partition_point(|&(of, _)| of <= at);
        if follows_rate && let Some(&(_, rate)) = place.checked_sub(1).and_then(|last| courses.rate.get(last))
        {
            step.lines.iter_mut().for_each(|line| line.rate = rate);
        }
        let place = courses.delay.partition_point(|&(of, _)| of <= at);
        if follows_delay
            && let Some(&(of, (delay, in_flight))) =
                place.checked_sub(1).and_then(|last| courses.delay.get(last))
        {
            step.lines.iter_mut().for_each(|line| line.delay = delay);
            if of == at && in_flight == InFlight::Lost {
                step.lines.iter_mut().for_each(|line| line.in_flight = InFlight::Lost);
            }
        }
        let is_new = step.lines != kept(before.lines);
        if at == Time::ZERO || is_new {
            steps.push(step);
        }
    }
    steps
}

/// These, with what is on them kept.
fn kept(lines: [LineState; 2]) -> [LineState; 2] {
    lines.map(|line| LineState { in_flight: InFlight::Kept, ..line })
}

/// State of a link between nodes of these names after a change of `before`.
fn changed(node: &Node, names: [&str; 2], before: LinkStep) -> Result<LinkStep, Fault> {
    let values = Written::of(node);
    let change = Change::read(&values)?;
    if !["rate", "delay", "loss", "in_flight"].iter().any(|key| values.node(key).is_some()) {
        let remedy = "Write what it changes: rate, delay, loss or in_flight";
        return Err(Fault::new(node.place, "the change changes nothing", remedy));
    }
    let from = match &change.from {
        None => None,
        Some(from) => {
            let name = check::text(from)?;
            let Some(end) = names.iter().position(|end| *end == name) else {
                let [one, other] = names;
                let message = format!("\"{}\" is not an end of the link", quantity::shortened(name));
                return Err(Fault::new(from.place, message, format!("Write \"{one}\" or \"{other}\"")));
            };
            Some(end)
        }
    };
    let mut lines = kept(before.lines);
    for (_, line) in lines.iter_mut().enumerate().filter(|(end, _)| from.is_none_or(|from| from == *end)) {
        line.rate = change.rate.unwrap_or(line.rate);
        line.delay = change.delay.unwrap_or(line.delay);
        line.cell_loss = change.loss.unwrap_or(line.cell_loss);
        line.in_flight = change.in_flight;
    }
    Ok(LinkStep { at: change.at, lines })
}

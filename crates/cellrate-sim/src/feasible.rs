//! Whether a scenario can be simulated at all, and what it takes: known before a run.

use cellrate_engine::schedule::Schedule;
use cellrate_proto::Time;
use cellrate_scenario::{Every, Scenario, Traffic};

use crate::assembly::assemble;
use crate::error::RunError;
use crate::mechanisms::Mechanisms;
use crate::simulation::check_size;
use cellrate_engine::names;
use cellrate_engine::plugins::Plugins;

/// Whether [`run`](crate::run) can take `scenario`, as far as can be said before.
///
/// # Errors
/// [`RunError::TooLarge`], [`RunError::BacklogTooLong`] and [`RunError::TooLong`], as a run gives them.
pub fn check(scenario: &Scenario) -> Result<(), RunError> {
    check_size(scenario)?;
    let end = Time::ZERO + scenario.duration;
    // No network has so many leaves; only where that would be too many they are counted.
    let many = 16 * (scenario.ports().len() + scenario.flows().len() + scenario.probes.len()) + 64;
    if end <= Schedule::last_instant(many) {
        return Ok(());
    }
    match assemble(scenario, &[], Plugins::default(), Mechanisms::default()) {
        Ok(assembly) => assembly.kernel.check_length(),
        Err(RunError::MissingPlugin(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Memory that a part of a scenario takes in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The kind of entries that it comes from, such as "probe": a key of the scenario.
    pub key: &'static str,
    /// Things that take the most memory, for people.
    pub what: String,
    /// All of it \[octets\].
    pub octets: u64,
}

/// A value of a series with its instant: 16 octets, twice that while the series grows, and as much again on the way to
/// whoever wants it, with what the allocator adds (measured).
const OCTETS_OF_A_VALUE: u64 = 54;

/// A TCP connection at both of its ends, with an empty queue.
const OCTETS_OF_TCP: u64 = 2_048;

/// An end of a connection, and the places of its direction at the ports (measured).
const OCTETS_OF_A_FLOW: u64 = 1_024;

/// Least memory that a run of `scenario` takes, the largest share first. Series of changes, queues and lists of frames
/// or bursts grow with what happens, and are not in it.
pub fn footprint(scenario: &Scenario) -> Vec<Share> {
    let mut series = Share { key: "probe", what: String::new(), octets: 0 };
    let mut most = 0;
    for probe in &scenario.probes {
        let Every::Interval(every) = probe.every else { continue };
        let count = scenario.duration.as_ps() / every.as_ps() + 1;
        series.octets = series.octets.saturating_add(count.saturating_mul(OCTETS_OF_A_VALUE));
        if count > most {
            most = count;
            let (name, entity, _) = names::describe(scenario, probe.quantity);
            series.what =
                format!("{name} of {entity} every {every} of {} has {count} values", scenario.duration);
        }
    }
    let mut traffic = Share { key: "vc", what: String::new(), octets: 0 };
    let mut most = 0;
    for flow in scenario.flows() {
        let octets =
            OCTETS_OF_A_FLOW + scenario.flow(flow).traffic.as_ref().map_or(0, |it| octets_of(scenario, it));
        traffic.octets = traffic.octets.saturating_add(octets);
        if octets > most {
            most = octets;
            traffic.what = format!("{} takes the most of it", names::flow_name(scenario, flow));
        }
    }
    let mut shares = vec![series, traffic];
    shares.sort_by_key(|share| std::cmp::Reverse(share.octets));
    shares
}

fn octets_of(scenario: &Scenario, traffic: &Traffic) -> u64 {
    match traffic {
        Traffic::Tcp(tcp) => u64::from(tcp.connections) * OCTETS_OF_TCP,
        // The noise is made for the whole length at once, in a sequence whose length is a power of two, as complex
        // numbers and their transform.
        Traffic::Video(video) => {
            let references = scenario.duration.as_ps() / video.reference_interval[0].as_ps().max(1) + 1;
            let length = references.checked_next_power_of_two().unwrap_or(u64::MAX);
            u64::from(video.programs).saturating_mul(length).saturating_mul(64)
        }
        other => other.kind().octets(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_scenario::Document;

    fn scenario(duration: &str, traffic: &str, every: &str) -> Scenario {
        let text = format!(
            "name = \"f\"\nduration = \"{duration}\"\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
             link = [{{ between = [\"a\", \"b\"], rate = \"10 Mbps\", length = \"1 km\" }}]\n\
             vc = [{{ name = \"v\", path = [\"a\", \"b\"], category = \"ubr\", traffic = {traffic} }}]\n\
             probe = [{{ record = [\"received\"], every = \"{every}\" }}]\n"
        );
        Document::parse(&text, "f.toml").and_then(|document| document.resolve()).expect("it is sound")
    }

    #[test]
    fn series_take_what_they_take() {
        let shares = footprint(&scenario("400 us", "{ type = \"greedy\" }", "1 ps"));
        assert_eq!((shares[0].key, shares[0].octets), ("probe", 400_000_001 * 54));
        assert_eq!(shares[0].what, "received of v every 1 ps of 400 us has 400000001 values");
        let shares = footprint(&scenario("1 ms", "{ type = \"tcp\", connections = 60000 }", "1 ms"));
        assert_eq!((shares[0].key, shares[0].octets > 60_000 * 2_000), ("vc", true));
    }

    #[test]
    fn a_run_that_is_too_long_is_known_before() {
        let too_long =
            |duration| check(&scenario(duration, "{ type = \"constant\", rate = \"1 kbps\" }", "100 s"));
        assert_eq!(too_long("1000 s"), Ok(()));
        assert!(
            matches!(too_long("8000000 s"), Err(RunError::TooLong { .. })),
            "{:?}",
            too_long("8000000 s")
        );
    }
}

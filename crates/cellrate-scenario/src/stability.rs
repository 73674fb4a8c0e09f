//! Stability of the rates that a port hands out, as far as it is known before a run.
//!
//! A port that computes rates is an integrator with a delay: what it answers reaches the sources, and what they then
//! send reaches the port, one round trip later. Such a loop settles while its gain per second times its delay is below
//! pi / 2, and swings above. The pages of the algorithms (docs/algorithms) say where each gain comes from.

use std::collections::BTreeMap;

use cellrate_proto::Duration;
use cellrate_proto::switch::{LoadAveraging, QueueControl, SwitchAlgorithmConfig};

use crate::fair::{Bottleneck, FairShare, max_min};
use crate::model::{PortIndex, Scenario, Sender};

/// The largest product of gain and delay with which a loop settles.
pub const LIMIT: f64 = std::f64::consts::FRAC_PI_2;

/// A port whose algorithm cannot settle, by the rule of its page.
#[derive(Clone, Debug, PartialEq)]
pub struct CannotSettle {
    /// The port.
    pub port: PortIndex,
    /// Name of the algorithm.
    pub algorithm: &'static str,
    /// Connections that have their bottleneck here.
    pub connections: usize,
    /// Mean of their delays, from the port to the source and back, and of an averaging interval or more.
    pub delay: Duration,
    /// Gain times delay, above [`LIMIT`].
    pub gain_delay: f64,
    /// A change under which it would settle, as a phrase.
    pub remedy: String,
}

/// The ports of `scenario` that cannot settle with the connections whose bottleneck they are, all of them greedy.
///
/// Nothing is known of ports of other algorithms, and of scenarios whose MCRs cannot be kept.
pub fn cannot_settle(scenario: &Scenario) -> Vec<CannotSettle> {
    let has_rule = |port: PortIndex| gain(scenario, port, Loops::default()).is_some();
    if !scenario.ports().any(has_rule) {
        return Vec::new();
    }
    let mut flows: BTreeMap<PortIndex, Vec<FairShare>> = BTreeMap::new();
    for share in max_min(scenario, None).unwrap_or_default() {
        if let Bottleneck::Port(port) = share.bottleneck {
            flows.entry(port).or_default().push(share);
        }
    }
    flows.iter().filter_map(|(&port, flows)| judge(scenario, port, flows)).collect()
}

fn judge(scenario: &Scenario, port: PortIndex, flows: &[FairShare]) -> Option<CannotSettle> {
    let there_and_back = |share: &FairShare| -> f64 {
        let before = scenario.way_to(share.flow, port);
        2.0 * before.iter().map(|step| scenario.link(step.link).longest_delay().as_secs_f64()).sum::<f64>()
    };
    let until_rm = |share: &FairShare| match &scenario.flow(share.flow).sender {
        Sender::Abr(sender) => 0.5 * f64::from(sender.parameters.nrm) / share.rate.as_cells_per_s(),
        Sender::Peak(_) => 0.0,
    };
    let mean = |of: &dyn Fn(&FairShare) -> f64| {
        Duration::from_secs_f64(flows.iter().map(of).sum::<f64>() / flows.len() as f64)
    };
    let loops =
        Loops { connections: flows.len(), there_and_back: mean(&there_and_back), until_rm: mean(&until_rm) };
    let Gain { algorithm, per_second, delay, remedy } = gain(scenario, port, loops)?;
    let gain_delay = per_second * delay.as_secs_f64();
    (gain_delay > LIMIT).then(|| CannotSettle {
        port,
        algorithm,
        connections: flows.len(),
        delay,
        gain_delay,
        remedy: remedy(LIMIT / gain_delay),
    })
}

struct Gain {
    algorithm: &'static str,
    per_second: f64,
    delay: Duration,
    /// Given by how much the gain is to shrink.
    remedy: Box<dyn Fn(f64) -> String>,
}

/// The control loops of the connections that have their bottleneck at a port.
#[derive(Clone, Copy, Default)]
struct Loops {
    connections: usize,
    /// Mean time from the port to the source and back.
    there_and_back: Duration,
    /// Mean time until an answer finds an RM cell: half the time between them.
    until_rm: Duration,
}

/// The gain and the delay of these loops, if the port's algorithm has a rule.
fn gain(scenario: &Scenario, port: PortIndex, loops: Loops) -> Option<Gain> {
    let Loops { connections, there_and_back: way, until_rm } = loops;
    let cell = scenario.link(port.link()).fastest_rate().cell_time();
    match &scenario.port(port).control.algorithm {
        SwitchAlgorithmConfig::Phantom(phantom) => {
            let interval = phantom.interval.length(cell);
            let (alpha, factor) = (phantom.alpha, phantom.utilization_factor);
            Some(Gain {
                algorithm: "Phantom",
                per_second: alpha * connections as f64 * factor / interval.as_secs_f64(),
                delay: together(&[way, until_rm, Duration::from_ps(interval.as_ps() / 2)]),
                remedy: Box::new(move |by| format!("alpha below 1/{:.0}", 1.0 / (alpha * by))),
            })
        }
        SwitchAlgorithmConfig::Capc(capc) => {
            // Growth and shrinking alternate: the gain of the loop lies between the two.
            let (interval, rup, rdn) = (capc.interval.length(cell), capc.rup, capc.rdn);
            Some(Gain {
                algorithm: "CAPC",
                per_second: (rup * rdn).sqrt() / interval.as_secs_f64(),
                delay: together(&[way, interval]),
                remedy: Box::new(move |by| {
                    format!("rup and rdn below {:.3} and {:.3}, or a longer interval", rup * by, rdn * by)
                }),
            })
        }
        SwitchAlgorithmConfig::Erica(erica) => {
            let QueueControl::QueueingDelay(control) = &erica.queue_control else { return None };
            let interval = erica.interval.length(cell);
            let lag = match erica.load_averaging {
                LoadAveraging::None => 1.0,
                LoadAveraging::Ratio { alpha }
                | LoadAveraging::Components { alpha }
                | LoadAveraging::Rates { alpha } => 1.0 / alpha,
            };
            let t0 = control.t0;
            // In a dead band the queue rests.
            let per_second = if control.t1 > control.t0 { 0.0 } else { control.slope_at_rest() };
            Some(Gain {
                algorithm: "ERICA+",
                per_second,
                delay: together(&[way, Duration::from_ps((interval.as_ps() as f64 * lag) as u64)]),
                remedy: Box::new(move |by| {
                    format!("t0 above {:.2} ms, or a smaller a", t0.as_secs_f64() * 1e3 / by)
                }),
            })
        }
        SwitchAlgorithmConfig::Pi(pi) => {
            // The queue sums up what comes beyond the line, and the rate the queue: s^2 + (kp s + ki) e^(-s delay) = 0.
            // At the frequency where the loop's gain is 1 the proportional part leads by `lead`, which delay uses up.
            let interval = pi.interval.length(cell);
            let seconds = interval.as_secs_f64();
            let (kp, ki) = (pi.proportional / seconds, pi.integral / (seconds * seconds));
            let square = f64::midpoint(kp * kp, (kp.powi(4) + 4.0 * ki * ki).sqrt());
            let lead = (kp * square.sqrt() / ki).atan();
            Some(Gain {
                algorithm: "the PI controller",
                per_second: square.sqrt() * LIMIT / lead,
                delay: together(&[way, until_rm, interval]),
                remedy: Box::new(move |by| {
                    format!(
                        "an interval above {:.1} ms, or a smaller proportional and a still smaller integral part",
                        seconds * 1e3 / by
                    )
                }),
            })
        }
        _ => None,
    }
}

/// All spans together; as long as a span can be where that is less, as with connections whose share is nothing: they
/// wait for an RM cell for ever.
fn together(spans: &[Duration]) -> Duration {
    Duration::from_ps(spans.iter().map(|span| span.as_ps()).fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;

    /// `count` connections over lines of so many kilometres each, with this algorithm in the switch.
    fn found(algorithm: &str, count: u32, km: u32) -> Vec<CannotSettle> {
        let text = format!(
            "name = \"t\"\nduration = \"1 s\"\n\
             defaults.link = {{ rate = \"149.76 Mbps\", length = \"{km} km\" }}\n\
             host = [{{ name = \"s{{i}}\", count = {count} }}, {{ name = \"d\" }}]\n\
             switch = [{{ name = \"sw\", algorithm = {{ {algorithm} }} }}]\n\
             link = [{{ between = [\"s{{i}}\", \"sw\"], count = {count} }}, {{ between = [\"sw\", \"d\"] }}]\n\
             vc = [{{ name = \"v{{i}}\", count = {count}, path = [\"s{{i}}\", \"sw\", \"d\"] }}]\n"
        );
        let scenario = Document::parse(&text, "t").and_then(|document| document.resolve()).unwrap();
        cannot_settle(&scenario)
    }

    #[test]
    fn connections_whose_share_is_nothing_wait_for_ever_for_an_answer() {
        let spans = [Duration::FOREVER, Duration::from_ms(5)];
        assert_eq!(together(&spans), Duration::FOREVER);
    }

    #[test]
    fn phantom_settles_on_short_lines_and_not_on_long_ones() {
        // 20 connections of 1000 km before the switch, 17,485 cells/s each: 10 ms, half of 32 cells' 1.83 ms, half of
        // 0.5 ms; 1/128 x 20 x 5 / 0.5 ms times these 11.165 ms.
        let [one] = &found("type = \"phantom\"", 20, 1000)[..] else { panic!("one port") };
        assert!((one.gain_delay - 17.4454).abs() < 1e-3, "{}", one.gain_delay);
        assert_eq!((one.algorithm, one.connections), ("Phantom", 20));
        assert_eq!(one.remedy, "alpha below 1/1422");
        // The page of Phantom: ten connections 100 km away need an alpha below 1/108.
        assert_eq!(found("type = \"phantom\", alpha = 0.009174", 10, 100), []);
        assert_eq!(found("type = \"phantom\", alpha = 0.009346", 10, 100).len(), 1);
    }

    #[test]
    fn capc_and_erica_plus_have_rules_too_and_others_none() {
        assert_eq!(found("type = \"capc\"", 10, 10), []);
        assert_eq!(found("type = \"capc\"", 10, 1000)[0].algorithm, "CAPC");
        // 0.15 / (1.15 x 0.5 ms) = 261 per second: 10 ms and an interval of 5 ms are 3.9.
        let one = &found("type = \"erica+\"", 10, 1000)[0];
        assert!((one.gain_delay - 0.015 * 0.15 / (1.15 * 0.0005)).abs() < 1e-6, "{}", one.gain_delay);
        assert_eq!(found("type = \"erica+\", interval = \"1 ms\"", 10, 10), []);
        assert_eq!(found("type = \"erica+\", t1 = \"1 ms\"", 10, 1000), []);
        assert_eq!(found("type = \"erica\"", 10, 1000), []);
        assert_eq!(found("type = \"eprca\", threshold = \"100 cells\"", 10, 1000), []);
    }

    /// kp = 200/s, ki = 10,000/s^2: w = 205.8/s, atan(kp w / ki) = 1.3325, and so 6.474 ms. Of these an interval takes
    /// 1 ms and the wait for an RM cell 16 cells of a tenth of the line, 0.453 ms: 5.02 ms are left, 502 km and back.
    #[test]
    fn the_pi_controller_settles_while_its_lead_lasts() {
        assert_eq!(found("type = \"pi\"", 10, 495), []);
        let one = &found("type = \"pi\"", 10, 510)[0];
        assert_eq!((one.algorithm, one.connections), ("the PI controller", 10));
        assert!(one.gain_delay > LIMIT && one.gain_delay < LIMIT * 1.02, "{}", one.gain_delay);
        // An interval ten times as long makes the loop ten times as slow.
        assert_eq!(found("type = \"pi\", interval = \"10 ms\"", 10, 5000), []);
        assert_eq!(found("type = \"pi\", interval = \"10 ms\"", 10, 6000).len(), 1);
    }
}

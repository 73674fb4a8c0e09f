//! Satellites in low circular orbits: how long light takes to them and back in time.
//!
//! The Earth is a sphere that does not turn, and the point on it that a satellite is seen from lies below its way or
//! beside it. With psi the angle between the two from the centre of the Earth, R its radius and r that of the orbit,
//! the distance is d^2 = R^2 + r^2 - 2 R r cos psi, and psi follows the satellite's pass by cos psi = cos psi0 cos w t,
//! t since it is highest, w = sqrt(mu / r^3).

use cellrate_proto::declaration::{Dimension, Kind, Setting, Shape, key, required};
use cellrate_proto::{Duration, Time};

use super::{Delays, check_number};
use crate::keys::{SPAN, TIME};
use crate::model::InFlight;
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::{optional, or_default, word};
use crate::text::tree::{Node, Table};

/// Mean radius of the Earth \[km\].
const EARTH: f64 = 6371.0;
/// Its gravitational parameter \[km^3/s^2\].
const MU: f64 = 398_600.441_8;
/// Speed of light \[km/s\].
const LIGHT: f64 = 299_792.458;

const ELEVATION: Kind = Kind::Quantity(Dimension::Angle);

pub(super) const SHAPE: Shape = Shape {
    name: "leo",
    about: "The delay over satellites in a low circular orbit, one behind the other: each serves from `hand_over` before it sets until it sets at `minimum_elevation`. The Earth is a sphere of 6371 km that does not turn.",
    keys: &[
        required(
            "altitude",
            Kind::Quantity(Dimension::Length),
            "Altitude of the orbit above the ground: 1 km to 50000 km.",
        ),
        required(
            "minimum_elevation",
            ELEVATION,
            "Elevation below which a satellite is not used, such as \"25 deg\".",
        ),
        key(
            "highest_elevation",
            ELEVATION,
            "\"90 deg\"",
            "Elevation of a satellite in the middle of its pass; above `minimum_elevation`.",
        ),
        key(
            "hand_over",
            SPAN,
            "the whole pass",
            "How long each satellite serves, which is also its distance in time to the next one. At most the whole pass, from rise to set.",
        ),
        key(
            "legs",
            Kind::Integer(1, 2),
            "2",
            "Number of times that the path goes between ground and satellite: 1 to a switch on board, 2 up and down again (bent pipe).",
        ),
        key("beside", TIME, "\"0 ms\"", "Delay on the ground and in the satellite, in addition to the legs."),
        key("step", SPAN, "\"100 ms\"", "How long each delay holds: that at the beginning of the step."),
        key(
            "in_flight",
            InFlight::KIND,
            "\"kept\"",
            "Fate of the cells on the line at a hand-over, as in `changes`.",
        ),
    ],
};

/// A circular orbit, and how satellites on it pass.
#[derive(Clone, Copy, Debug)]
struct Orbit {
    /// Radius \[km\].
    radius: f64,
    /// Angular speed \[rad/s\].
    speed: f64,
    /// Least angle of a pass, from the centre of the Earth \[rad\].
    closest: f64,
}

impl Orbit {
    /// So high \[km\], with passes that come to this elevation \[rad\].
    fn new(altitude: f64, highest: f64) -> Orbit {
        let radius = EARTH + altitude;
        let speed = (MU / radius.powi(3)).sqrt();
        let mut orbit = Orbit { radius, speed, closest: 0.0 };
        orbit.closest = orbit.angle(highest);
        orbit
    }

    /// The angle from the centre of the Earth at which a satellite has this elevation \[rad\].
    fn angle(&self, elevation: f64) -> f64 {
        (EARTH * elevation.cos() / self.radius).acos() - elevation
    }

    /// How far it is `t` after it is highest \[km\]; t in seconds.
    fn distance(&self, t: f64) -> f64 {
        let cosine = self.closest.cos() * (self.speed * t).cos();
        (EARTH * EARTH + self.radius * self.radius - 2.0 * EARTH * self.radius * cosine).sqrt()
    }

    /// When it comes down to this elevation, after it is highest \[s\].
    fn sets(&self, elevation: f64) -> f64 {
        (self.angle(elevation).cos() / self.closest.cos()).min(1.0).acos() / self.speed
    }
}

/// The delays of a link over such satellites.
pub(super) fn delays(node: &Node, table: &Table, end: Time) -> Result<Delays, Fault> {
    let needed = |key: &'static str| table.node(key).ok_or_else(|| check::missing(node.place, key, ""));
    let (altitude_node, least_node) = (needed("altitude")?, needed("minimum_elevation")?);
    let altitude = quantity::kilometres(altitude_node)?;
    if !(1.0..=50_000.0).contains(&altitude) {
        let message = format!("an orbit {} high is out of range", altitude_node.plain());
        return Err(Fault::new(altitude_node.place, message, "Write 1 km to 50000 km"));
    }
    let least = quantity::elevation(least_node)?;
    let highest = or_default(table, &SHAPE, "highest_elevation", quantity::elevation)?;
    if highest <= least {
        let place = table.node("highest_elevation").map_or(least_node.place, |node| node.place);
        let message = "the satellite is never above its minimum elevation";
        return Err(Fault::new(place, message, "Write a highest elevation above the minimum"));
    }
    let orbit = Orbit::new(altitude, highest);
    let sets = orbit.sets(least);
    let pass = Duration::from_secs_f64(2.0 * sets);
    let hand_over = optional(table, "hand_over", quantity::span)?.unwrap_or(pass);
    if hand_over > pass {
        let place = table.node("hand_over").map_or(node.place, |node| node.place);
        let message = format!("a satellite serves for {hand_over}, and its pass takes {pass}");
        return Err(Fault::new(place, message, "Write at most the pass, or a lower minimum elevation"));
    }
    let step = or_default(table, &SHAPE, "step", quantity::span)?;
    check_number(node, table, end, step.min(hand_over))?;
    let legs = or_default(table, &SHAPE, "legs", |node| check::integer(node, 1, 2))? as f64;
    let beside = or_default(table, &SHAPE, "beside", quantity::time)?;
    let at_hand_over = word(table, "in_flight", InFlight::named);
    let delay_at = |served: Duration| {
        let t = sets - (hand_over - served).as_secs_f64();
        beside + Duration::from_secs_f64(legs * orbit.distance(t) / LIGHT)
    };
    let mut delays = Vec::new();
    let mut taken = Time::ZERO;
    while taken < end {
        let mut served = Duration::ZERO;
        while served < hand_over && taken + served < end {
            let is_first = served == Duration::ZERO && taken > Time::ZERO;
            let in_flight = if is_first { at_hand_over } else { InFlight::Kept };
            delays.push((taken + served, (delay_at(served), in_flight)));
            served += step;
        }
        taken += hand_over;
    }
    Ok(delays)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(distance: f64) -> f64 {
        (distance / LIGHT * 1e7).round() / 1e4
    }

    fn rounded(value: f64, digits: i32) -> f64 {
        (value * 10.0_f64.powi(digits)).round() / 10.0_f64.powi(digits)
    }

    #[test]
    fn an_orbit_at_550_km_and_one_at_1200_km() {
        let zenith = 90.0_f64.to_radians();
        let low = Orbit::new(550.0, zenith);
        // Period, speed, and the way when overhead, a minute later and at 60 degrees.
        let period = 2.0 * std::f64::consts::PI / low.speed / 60.0;
        assert_eq!((rounded(period, 2), rounded(low.speed * low.radius, 3)), (95.5, 7.589));
        assert_eq!((rounded(low.distance(0.0), 3), ms(low.distance(0.0))), (550.0, 1.8346));
        assert_eq!((rounded(low.distance(60.0), 3), ms(low.distance(60.0))), (702.345, 2.3428));
        let at_60 = low.distance(low.sets(60.0_f64.to_radians()));
        assert_eq!((rounded(at_60, 2), ms(at_60)), (626.89, 2.0911));
        // The slant range by elevation alone.
        let slant = |e: f64| {
            (EARTH * e.sin()).hypot((2.0 * EARTH * 550.0 + 550.0_f64.powi(2)).sqrt()) - EARTH * e.sin()
        };
        for degrees in [10.0, 25.0, 40.0, 60.0, 89.0_f64] {
            let elevation = degrees.to_radians();
            assert!((low.distance(low.sets(elevation)) - slant(elevation)).abs() < 1e-6, "{degrees}");
        }
        let high = Orbit::new(1200.0, zenith);
        assert_eq!(rounded(2.0 * std::f64::consts::PI / high.speed / 60.0, 2), 109.27);
        assert_eq!([0.0, 60.0].map(|t| ms(high.distance(t))), [4.0028, 4.2186]);
    }

    #[test]
    fn a_pass_beside_the_zenith_is_shorter_and_comes_to_its_highest_elevation() {
        let (least, highest) = (25.0_f64.to_radians(), 50.0_f64.to_radians());
        let (over, beside) = (Orbit::new(550.0, 90.0_f64.to_radians()), Orbit::new(550.0, highest));
        assert!(beside.sets(least) < over.sets(least));
        assert!((beside.distance(0.0) - over.distance(over.sets(highest))).abs() < 1e-6);
        assert!((beside.distance(beside.sets(least)) - over.distance(over.sets(least))).abs() < 1e-6);
    }
}

//! Whittle's estimator of the Hurst parameter: the one whose spectrum fits the periodogram best.

use super::fft::{Complex, Transform};
use super::paxson::Density;

/// The Hurst parameter of a sequence taken to be fractional Gaussian noise.
pub fn estimate(values: &[f64]) -> f64 {
    let bins = binned(&periodogram(values));
    // The likelihood has one maximum; golden section.
    let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut low, mut high) = (0.501, 0.999);
    while high - low > 1e-4 {
        let [a, b] = [high - ratio * (high - low), low + ratio * (high - low)];
        if misfit(&bins, a) < misfit(&bins, b) { high = b } else { low = a }
    }
    0.5 * (low + high)
}

/// Power at the frequencies 2 pi j / n, j from 1 on, with those frequencies.
fn periodogram(values: &[f64]) -> Vec<(f64, f64)> {
    let count = values.len();
    let transform = Transform::new(count, count);
    let mut points = vec![Complex::default(); count];
    values.iter().enumerate().for_each(|(j, &value)| points[transform.place(j)].re = value);
    transform.run(&mut points, count);
    let step = 2.0 * std::f64::consts::PI / values.len() as f64;
    let power = |j: usize| points[j].re * points[j].re + points[j].im * points[j].im;
    (1..values.len() / 2).map(|j| (step * j as f64, power(j))).collect()
}

/// Frequency, power and number of frequencies, those close to each other together: the spectrum hardly changes there.
fn binned(periodogram: &[(f64, f64)]) -> Vec<(f64, f64, f64)> {
    let mut bins = Vec::new();
    let mut rest = periodogram;
    let mut done = 0;
    while !rest.is_empty() {
        let (bin, after) = rest.split_at((1 + done / 50).min(rest.len()));
        let count = bin.len() as f64;
        let sum = |part: fn(&(f64, f64)) -> f64| bin.iter().map(part).sum::<f64>();
        bins.push((sum(|bin| bin.0) / count, sum(|bin| bin.1) / count, count));
        done += bin.len();
        rest = after;
    }
    bins
}

/// Whittle's function with the scale eliminated.
fn misfit(bins: &[(f64, f64, f64)], hurst: f64) -> f64 {
    let density = Density::new(hurst);
    let (mut ratio, mut logarithm, mut total) = (0.0, 0.0, 0.0);
    for &(lambda, power, count) in bins {
        let density = density.at(lambda);
        ratio += count * power / density;
        logarithm += count * density.ln();
        total += count;
    }
    (ratio / total).ln() + logarithm / total
}

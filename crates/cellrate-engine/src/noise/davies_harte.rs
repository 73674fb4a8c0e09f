//! Exact fractional Gaussian noise by circulant embedding (Davies and Harte, Biometrika 74, 1987): the covariances of
//! n + 1 values, laid in a circle of 2n, have a transform that is nowhere negative; Gaussian noise with that spectrum
//! has these covariances.

use super::fft::{Complex, Transform};
use crate::random::Random;

/// Deviation of each frequency and the transform, which all sequences of a length and Hurst parameter have in common.
#[derive(Debug)]
pub struct Spectrum {
    deviations: Vec<f64>,
    transform: Transform,
}

impl Spectrum {
    pub fn new(count: usize, hurst: f64) -> Spectrum {
        let circle = 2 * count;
        let transform = Transform::new(circle, circle);
        let mut spectrum = vec![Complex::default(); circle];
        for k in 0..=count {
            let covariance = Complex { re: covariance(k, hurst), im: 0.0 };
            spectrum[transform.place(k)] = covariance;
            // The other way round the circle.
            spectrum[transform.place((circle - k) % circle)] = covariance;
        }
        transform.run(&mut spectrum, circle);
        // Rounding alone can make it negative.
        let deviation = |value: &Complex| libm::sqrt(value.re.max(0.0) / circle as f64);
        Spectrum { deviations: spectrum.iter().map(deviation).collect(), transform }
    }

    pub fn sequence(&self, random: &mut Random, values: usize) -> Vec<f64> {
        let mut spectrum = vec![Complex::default(); self.deviations.len()];
        for (k, deviation) in self.deviations.iter().enumerate() {
            let [re, im] = random.gaussian_pair();
            spectrum[self.transform.place(k)] = Complex { re: deviation * re, im: deviation * im };
        }
        self.transform.run(&mut spectrum, values);
        spectrum[..values].iter().map(|value| value.re).collect()
    }
}

/// Covariance of two values `lag` apart: half the second difference of |lag|^2H.
fn covariance(lag: usize, hurst: f64) -> f64 {
    let power = |k: f64| libm::pow(k, 2.0 * hurst);
    let lag = lag as f64;
    0.5 * (power(lag + 1.0) - 2.0 * power(lag) + power((lag - 1.0).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covariances_are_those_of_the_definition() {
        assert_eq!(covariance(0, 0.8), 1.0);
        assert!((covariance(1, 0.8) - 0.515_716_566).abs() < 1e-9);
        assert!(covariance(5, 0.5).abs() < 1e-12, "white noise");
    }
}

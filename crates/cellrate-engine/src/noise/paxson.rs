//! Fractional Gaussian noise from an approximate spectrum (Paxson, Fast Approximation of Self-Similar Network Traffic,
//! LBL-36750, 1995): each frequency gets its power times an exponential variable of mean 1 and a uniform phase, and the
//! inverse transform is the sequence. Its mean over the whole sequence is 0.

use super::fft::{Complex, Transform};
use crate::random::Random;

/// Power of each frequency and the transform, which all sequences of a length and Hurst parameter have in common.
#[derive(Debug)]
pub struct Spectrum {
    /// From the first frequency on.
    power: Vec<f64>,
    /// The power of both sides together, which is the variance.
    total: f64,
    transform: Transform,
}

impl Spectrum {
    pub fn new(count: usize, values: usize, hurst: f64) -> Spectrum {
        let half = count / 2;
        let frequency = |j: usize| 2.0 * std::f64::consts::PI * j as f64 / count as f64;
        let density = Density::new(hurst);
        // Most of the time goes here, into powers.
        let power: Vec<f64> = (1..=half).map(|j| density.at(frequency(j))).collect();
        let total = 2.0 * power.iter().sum::<f64>() - power[half - 1];
        Spectrum { power, total, transform: Transform::new(count, values) }
    }

    pub fn sequence(&self, random: &mut Random, values: usize) -> Vec<f64> {
        let half = self.power.len();
        let count = 2 * half;
        let of_more;
        let transform = match values <= self.transform.values() {
            true => &self.transform,
            false => {
                of_more = Transform::new(count, values);
                &of_more
            }
        };
        let mut spectrum = vec![Complex::default(); count];
        for (j, power) in (1..=half).zip(&self.power) {
            let amplitude = libm::sqrt(power / self.total * -libm::log(1.0 - random.uniform()));
            let (sine, cosine) = libm::sincos(2.0 * std::f64::consts::PI * random.uniform());
            let value = Complex { re: amplitude * cosine, im: amplitude * sine };
            let place = transform.place(j);
            if j == half {
                // This one is its own mirror image, and so a real number; of twice the power to keep its share.
                spectrum[place] = Complex { re: value.re * std::f64::consts::SQRT_2, im: 0.0 };
            } else {
                spectrum[place] = value;
                spectrum[transform.place(count - j)] = Complex { re: value.re, im: -value.im };
            }
        }
        transform.run(&mut spectrum, values);
        spectrum[..values].iter().map(|value| value.re).collect()
    }
}

/// Power of fractional Gaussian noise with a Hurst parameter: Paxson's approximation, equations (4) to (8), within
/// 0.5 % from H = 0.5 on.
#[derive(Debug)]
pub struct Density {
    hurst: f64,
    /// Factor before 1 - cos(lambda) in equation (4).
    factor: f64,
    /// Constant that is taken off the sum.
    correction: f64,
}

impl Density {
    pub fn new(hurst: f64) -> Density {
        let factor = 2.0 * libm::sin(std::f64::consts::PI * hurst) * libm::tgamma(2.0 * hurst + 1.0);
        Density { hurst, factor, correction: libm::pow(2.0, -7.65 * hurst - 7.4) }
    }

    /// Power at the angular frequency `lambda`, up to a factor that does not depend on it.
    pub fn at(&self, lambda: f64) -> f64 {
        let Density { hurst, factor, correction } = *self;
        let (d, d_prime) = (-2.0 * hurst - 1.0, -2.0 * hurst);
        let a = |k: f64| 2.0 * k * std::f64::consts::PI + lambda;
        let b = |k: f64| 2.0 * k * std::f64::consts::PI - lambda;
        let powers = |k: f64, exponent: f64| libm::pow(a(k), exponent) + libm::pow(b(k), exponent);
        let three = powers(1.0, d) + powers(2.0, d) + powers(3.0, d);
        let tail = (powers(3.0, d_prime) + powers(4.0, d_prime)) / (8.0 * hurst * std::f64::consts::PI);
        let sum = (1.0002 - 0.000_134 * lambda) * (three + tail - correction);
        factor * (1.0 - libm::cos(lambda)) * (libm::pow(lambda, d) + sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_density_is_the_infinite_sum_within_half_a_percent() {
        for hurst in [0.5, 0.6, 0.8, 0.9] {
            for lambda in [0.01_f64, 0.3, 1.0, 2.0, std::f64::consts::PI] {
                let d = -2.0 * hurst - 1.0;
                let term = |k: i32| {
                    let k = 2.0 * std::f64::consts::PI * f64::from(k);
                    libm::pow(k + lambda, d) + libm::pow(k - lambda, d)
                };
                let sum = libm::pow(lambda, d) + (1..20_000).map(term).sum::<f64>();
                let exact = 2.0
                    * (std::f64::consts::PI * hurst).sin()
                    * libm::tgamma(2.0 * hurst + 1.0)
                    * (1.0 - lambda.cos())
                    * sum;
                let found = Density::new(hurst).at(lambda);
                assert!((found / exact - 1.0).abs() < 0.005, "H {hurst}, {lambda}: {found} for {exact}");
            }
        }
    }

    #[test]
    fn white_noise_is_flat() {
        // H = 0.5 is white: the same power at every frequency.
        let white = Density::new(0.5);
        let ratio = white.at(3.0) / white.at(0.1);
        assert!((ratio - 1.0).abs() < 0.005, "{ratio}");
    }
}

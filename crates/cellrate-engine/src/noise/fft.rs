//! The discrete Fourier transform of a power of two of points, by Cooley and Tukey's first algorithm: slower than a
//! library's, but the same to the last bit on every processor.

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    pub re: f64,
    pub im: f64,
}

/// The transform of a number of points, with the roots of unity that it takes.
#[derive(Debug)]
pub struct Transform {
    /// exp(-pi i k / 2^s) for k below 2^s, s from 0 on: with them two transforms of 2^s points become one.
    roots: Vec<Vec<Complex>>,
}

impl Transform {
    /// That of `n` points, a power of two from 2 on.
    pub fn new(n: usize) -> Transform {
        assert!(n.is_power_of_two() && n >= 2, "{n} points");
        let step = -2.0 * std::f64::consts::PI / n as f64;
        let root = |k: usize| {
            let (im, re) = libm::sincos(step * k as f64);
            Complex { re, im }
        };
        let all: Vec<Complex> = (0..n / 2).map(root).collect();
        let of_step = |stage| all.iter().step_by((n / 2) >> stage).copied().collect();
        Transform { roots: (0..n.trailing_zeros()).map(of_step).collect() }
    }

    /// X_k = sum over j of x_j exp(-2 pi i j k / n), in place.
    pub fn run(&self, points: &mut [Complex]) {
        let n = points.len();
        assert_eq!(n, 1 << self.roots.len(), "a transform of as many points");
        let shift = usize::BITS - n.trailing_zeros();
        for place in 0..n {
            let mirrored = place.reverse_bits() >> shift;
            if place < mirrored {
                points.swap(place, mirrored);
            }
        }
        let (_, more) = self.roots.split_first().expect("a transform of two points or more");
        for pair in points.chunks_exact_mut(2) {
            // The first root is 1.
            let [a, b] = [pair[0], pair[1]];
            pair[0] = Complex { re: a.re + b.re, im: a.im + b.im };
            pair[1] = Complex { re: a.re - b.re, im: a.im - b.im };
        }
        for roots in more {
            for block in points.chunks_exact_mut(2 * roots.len()) {
                let (low, high) = block.split_at_mut(roots.len());
                for ((a, b), w) in low.iter_mut().zip(high).zip(roots) {
                    let t = Complex { re: b.re * w.re - b.im * w.im, im: b.re * w.im + b.im * w.re };
                    *b = Complex { re: a.re - t.re, im: a.im - t.im };
                    *a = Complex { re: a.re + t.re, im: a.im + t.im };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_that_defines_it() {
        let n = 32;
        let points: Vec<Complex> =
            (0..n).map(|j| Complex { re: ((j * j) % 7) as f64 - 3.0, im: ((3 * j) % 5) as f64 }).collect();
        let mut fast = points.clone();
        Transform::new(n).run(&mut fast);
        for (k, found) in fast.iter().enumerate() {
            let (mut re, mut im) = (0.0, 0.0);
            for (j, x) in points.iter().enumerate() {
                let angle = -2.0 * std::f64::consts::PI * (j * k) as f64 / n as f64;
                re += x.re * angle.cos() - x.im * angle.sin();
                im += x.re * angle.sin() + x.im * angle.cos();
            }
            assert!((found.re - re).abs() < 1e-12 && (found.im - im).abs() < 1e-12, "{k}");
        }
    }
}

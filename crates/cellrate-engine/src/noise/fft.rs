//! The discrete Fourier transform of a power of two of points, by Cooley and Tukey's first algorithm: slower than a
//! library's, but the same to the last bit on every processor.
//!
//! The transform may be asked for its first values alone. These take half of the work of two transforms of half as many
//! points, and of those the first values alone, too; so sums that lead to no other values are left out, and those that
//! are made are made in the same order.

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    pub re: f64,
    pub im: f64,
}

/// The transform of a number of points, with the roots of unity that it takes.
#[derive(Debug)]
pub struct Transform {
    /// exp(-pi i k / 2^s) for k below 2^s, s from 0 on: with them two transforms of 2^s points become one. Of long ones
    /// no more than values may be asked for.
    roots: Vec<Vec<Complex>>,
    points: usize,
    values: usize,
}

/// Points of a part that is transformed step by step, to all of its values: it fits into the cache nearest to the
/// processor.
const AT_ONCE: usize = 512;

impl Transform {
    /// The transform of `points` points, a power of two from 2 on, for its first `values` values at most.
    pub fn new(points: usize, values: usize) -> Transform {
        assert!(points.is_power_of_two() && points >= 2, "{points} points");
        let step = -2.0 * std::f64::consts::PI / points as f64;
        let root = |k: usize| {
            let (im, re) = libm::sincos(step * k as f64);
            Complex { re, im }
        };
        let of_stage = |stage: u32| {
            let apart = (points / 2) >> stage;
            (0..values.max(AT_ONCE).min(1 << stage)).map(|k| root(k * apart)).collect()
        };
        Transform { roots: (0..points.trailing_zeros()).map(of_stage).collect(), points, values }
    }

    /// Most values that may be asked for.
    pub fn values(&self) -> usize {
        self.values
    }

    /// Place that the point number `j` takes for [`Transform::run`].
    #[inline]
    pub fn place(&self, j: usize) -> usize {
        j.reverse_bits() >> (usize::BITS - self.points.trailing_zeros())
    }

    /// X_k = sum over j of x_j exp(-2 pi i j k / n) for the first `values` k, in place. The points x_j stand at their
    /// [places](Transform::place); what stands behind the values afterwards means nothing.
    pub fn run(&self, points: &mut [Complex], values: usize) {
        assert!(points.len() == self.points && values <= self.values, "a transform of as many points");
        self.run_part(points, values);
    }

    /// Transforms a part of the points that stands by itself.
    fn run_part(&self, points: &mut [Complex], values: usize) {
        if points.len() > AT_ONCE {
            let (low, high) = points.split_at_mut(points.len() / 2);
            self.run_part(low, values);
            self.run_part(high, values);
            let roots = &self.roots[low.len().trailing_zeros() as usize];
            if values > low.len() {
                return low.iter_mut().zip(high).zip(roots).for_each(|((a, b), &w)| join(a, b, w));
            }
            for ((a, b), &w) in low.iter_mut().zip(high).zip(roots).take(values) {
                *a = plus(*a, times(*b, w));
            }
            return;
        }
        for pair in points.as_chunks_mut::<2>().0 {
            // The first root is 1.
            let [a, b] = *pair;
            *pair = [plus(a, b), minus(a, b)];
        }
        for (stage, roots) in (1..points.len().trailing_zeros()).zip(&self.roots[1..]) {
            // Loops of few rounds, often: their number is known to the compiler.
            match stage {
                1 => join_blocks::<2, 4>(points, roots),
                2 => join_blocks::<4, 8>(points, roots),
                3 => join_blocks::<8, 16>(points, roots),
                _ => {
                    for block in points.chunks_exact_mut(2 << stage) {
                        let (low, high) = block.split_at_mut(1 << stage);
                        low.iter_mut().zip(high).zip(roots).for_each(|((a, b), &w)| join(a, b, w));
                    }
                }
            }
        }
    }
}

/// Joins the halves of each block of `BLOCK` points.
fn join_blocks<const HALF: usize, const BLOCK: usize>(points: &mut [Complex], roots: &[Complex]) {
    let roots = roots.first_chunk::<HALF>().expect("a root for each pair");
    for block in points.as_chunks_mut::<BLOCK>().0 {
        for (k, &w) in roots.iter().enumerate() {
            let (mut a, mut b) = (block[k], block[HALF + k]);
            join(&mut a, &mut b, w);
            (block[k], block[HALF + k]) = (a, b);
        }
    }
}

/// Two values of one transform from one of each of two, of half as many points.
#[inline(always)]
fn join(a: &mut Complex, b: &mut Complex, root: Complex) {
    let t = times(*b, root);
    (*a, *b) = (plus(*a, t), minus(*a, t));
}

#[inline(always)]
fn plus(a: Complex, b: Complex) -> Complex {
    Complex { re: a.re + b.re, im: a.im + b.im }
}

#[inline(always)]
fn minus(a: Complex, b: Complex) -> Complex {
    Complex { re: a.re - b.re, im: a.im - b.im }
}

#[inline(always)]
fn times(a: Complex, b: Complex) -> Complex {
    Complex { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transformed(points: &[Complex], values: usize) -> Vec<Complex> {
        let transform = Transform::new(points.len(), values);
        let mut placed = vec![Complex::default(); points.len()];
        points.iter().enumerate().for_each(|(j, &point)| placed[transform.place(j)] = point);
        transform.run(&mut placed, values);
        placed.truncate(values);
        placed
    }

    fn points(n: usize) -> Vec<Complex> {
        (0..n).map(|j| Complex { re: ((j * j) % 7) as f64 - 3.0, im: ((3 * j) % 5) as f64 }).collect()
    }

    #[test]
    fn it_is_the_sum_that_defines_it() {
        for n in [2, 32, 2 * AT_ONCE] {
            let points = points(n);
            for (k, found) in transformed(&points, n).iter().enumerate() {
                let (mut re, mut im) = (0.0, 0.0);
                for (j, x) in points.iter().enumerate() {
                    let angle = -2.0 * std::f64::consts::PI * ((j * k) % n) as f64 / n as f64;
                    re += x.re * angle.cos() - x.im * angle.sin();
                    im += x.re * angle.sin() + x.im * angle.cos();
                }
                assert!((found.re - re).abs() < 1e-9 && (found.im - im).abs() < 1e-9, "{k} of {n}");
            }
        }
    }

    #[test]
    fn its_first_values_are_those_of_all() {
        for n in [8, 4 * AT_ONCE] {
            let points = points(n);
            let all = transformed(&points, n);
            for values in [1, 3, n / 4, n / 2, n / 2 + 1] {
                assert_eq!(transformed(&points, values), all[..values], "{values} of {n}");
            }
        }
    }
}

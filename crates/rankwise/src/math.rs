//! Wide loops with run-time dispatch: plain Rust that the compiler vectorises, compiled for AVX-512, for AVX2 with
//! FMA, and for the baseline; the processor decides which one runs. No intrinsics, no build flags.

use rayon::prelude::*;

/// A floating-point type that kernels are computed in.
pub(crate) trait Real: bytemuck::Pod + Send + Sync + PartialOrd + std::fmt::Debug {
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// −∞
    const LOWEST: Self;
    /// ∞
    const HIGHEST: Self;
    /// Rounds.
    fn from_f64(value: f64) -> Self;
    /// Widens.
    fn to_f64(self) -> f64;
    /// Rounds or keeps.
    fn to_f32(self) -> f32;
    /// a + b
    fn plus(self, other: Self) -> Self;
    /// a − b
    fn minus(self, other: Self) -> Self;
    /// a · b
    fn times(self, other: Self) -> Self;
    /// a / b
    fn over(self, other: Self) -> Self;
    /// self · b + c, fused where the instruction set fuses.
    fn times_plus<const FMA: bool>(self, b: Self, c: Self) -> Self;
    /// The larger one.
    fn at_least(self, low: Self) -> Self;
    /// e^self within 2 units in the last place; smallest normal number instead of underflow.
    fn exp<const FMA: bool>(self) -> Self;
    /// tanh(self) within a few units of 1.
    fn tanh<const FMA: bool>(self) -> Self;
}

macro_rules! real {
    ($T:ty, $magic:expr, $mantissa_bits:expr, $lowest:expr, $highest:expr, $ln2_high:expr, $ln2_low:expr, [$($coefficient:expr),*]) => {
        impl Real for $T {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const LOWEST: Self = <$T>::NEG_INFINITY;
            const HIGHEST: Self = <$T>::INFINITY;
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $T
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                self / other
            }
            #[inline(always)]
            fn times_plus<const FMA: bool>(self, b: Self, c: Self) -> Self {
                if FMA { self.mul_add(b, c) } else { self * b + c }
            }
            #[inline(always)]
            fn at_least(self, low: Self) -> Self {
                if self > low { self } else { low }
            }
            #[inline(always)]
            fn exp<const FMA: bool>(self) -> Self {
                // e^x = 2^n · e^r with n = round(x / ln 2). Adding `magic` rounds to an integer and leaves n in the
                // low bits, which then go straight into the exponent.
                let x = self.at_least($lowest);
                let x = if x < $highest { x } else { $highest };
                let shifted = x.times_plus::<FMA>(std::f64::consts::LOG2_E as $T, $magic);
                let n = shifted - $magic;
                let r = n.times_plus::<FMA>(-$ln2_high, x);
                let r = n.times_plus::<FMA>(-$ln2_low, r);
                let mut sum: $T = 0.0;
                $(sum = sum.times_plus::<FMA>(r, $coefficient as f64 as $T);)*
                <$T>::from_bits(sum.to_bits().wrapping_add(shifted.to_bits() << $mantissa_bits))
            }
            #[inline(always)]
            fn tanh<const FMA: bool>(self) -> Self {
                1.0 - 2.0 / (<$T as Real>::exp::<FMA>(2.0 * self) + 1.0)
            }
        }
    };
}

// Coefficients of the polynomials with the least relative error on |r| ≤ ½ ln 2: 2e-9 for f32, 3e-18 for f64.
real!(
    f32,
    12_582_912.0f32,
    23,
    -87.0f32,
    88.0f32,
    0.693_359_4f32,
    -2.121_944_4e-4f32,
    [0.00138368357425, 0.00837482405059, 0.0416682261893, 0.166664200721, 0.499999920751, 1.00000003634, 1.0]
);
real!(
    f64,
    6_755_399_441_055_744.0f64,
    52,
    -708.0f64,
    709.0f64,
    0.693_147_180_369_123_8f64,
    1.908_214_929_270_587_7e-10f64,
    [
        2.499_429_334_573_046_4e-8,
        2.763_230_822_445_254_4e-7,
        2.755_762_265_202_448_8e-6,
        2.480_148_648_128_35e-5,
        1.984_126_943_243_443_8e-4,
        1.388_888_895_126_120_4e-3,
        8.333_333_333_559_452e-3,
        4.166_666_666_649_263e-2,
        0.166_666_666_666_661_7,
        0.500_000_000_000_001_8,
        1.0,
        1.0
    ]
);

/// Defines a function over `T: Real` that is compiled for several instruction sets; inside, `FMA` says whether fused
/// multiply-add is at hand.
macro_rules! wide {
    ($(#[$meta:meta])* $vis:vis fn $name:ident<$T:ident $(, const $N:ident: usize)?>($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name<$T: $crate::math::Real $(, const $N: usize)?>($($arg: $ty),*) $(-> $ret)? {
            #[allow(clippy::too_many_arguments)]
            #[inline(always)]
            fn body<$T: $crate::math::Real, const FMA: bool $(, const $N: usize)?>($($arg: $ty),*) $(-> $ret)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[allow(clippy::too_many_arguments)]
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
                fn avx512<$T: $crate::math::Real $(, const $N: usize)?>($($arg: $ty),*) $(-> $ret)? {
                    body::<$T, true $(, $N)?>($($arg),*)
                }
                #[allow(clippy::too_many_arguments)]
                #[target_feature(enable = "avx2,fma")]
                fn avx2<$T: $crate::math::Real $(, const $N: usize)?>($($arg: $ty),*) $(-> $ret)? {
                    body::<$T, true $(, $N)?>($($arg),*)
                }
                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                {
                    // SAFETY: the processor has just said that it has these instructions.
                    return unsafe { avx512::<$T $(, $N)?>($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: as above.
                    return unsafe { avx2::<$T $(, $N)?>($($arg),*) };
                }
            }
            // Every aarch64 processor fuses; on others an emulated fused multiply-add would be slow.
            body::<$T, { cfg!(target_arch = "aarch64") } $(, $N)?>($($arg),*)
        }
    };
}
pub(crate) use wide;

/// Sums that advance together.
const WIDTH: usize = 16;

wide! {
    /// Σ a·b
    pub(crate) fn dot<T>(a: &[T], b: &[T]) -> T {
        let mut sums = [T::ZERO; WIDTH];
        let (wide_a, rest_a) = a.as_chunks::<WIDTH>();
        let (wide_b, rest_b) = b.as_chunks::<WIDTH>();
        for (a, b) in wide_a.iter().zip(wide_b) {
            for lane in 0..WIDTH {
                sums[lane] = a[lane].times_plus::<FMA>(b[lane], sums[lane]);
            }
        }
        let mut sum = rest_a.iter().zip(rest_b).fold(T::ZERO, |sum, (&a, &b)| a.times_plus::<FMA>(b, sum));
        for lane in sums {
            sum = sum.plus(lane);
        }
        sum
    }
}

wide! {
    /// x += factor·row
    pub(crate) fn add_multiple<T>(x: &mut [T], factor: T, row: &[T]) {
        for (x, &value) in x.iter_mut().zip(row) {
            *x = factor.times_plus::<FMA>(value, *x);
        }
    }
}

/// Factors a small symmetric positive semidefinite matrix, row by row, into L·Lᵀ in its lower triangle; `ridge` is added to
/// the diagonal. Whether that was possible: pivots may be a little negative by rounding, about as much as the ridge.
pub(crate) fn cholesky(matrix: &mut [f64], n: usize, ridge: f64) -> bool {
    for a in 0..n {
        let (before, row) = matrix.split_at_mut(a * n);
        for b in 0..a {
            row[b] = (row[b] - dot(&row[..b], &before[b * n..b * n + b])) / before[b * n + b];
        }
        let left = row[a] - dot(&row[..a], &row[..a]);
        if left.is_nan() || left < -10.0 * ridge {
            return false;
        }
        row[a] = (left.max(0.0) + ridge).sqrt();
    }
    true
}

/// x = L⁻¹·x
pub(crate) fn solve_lower(factor: &[f64], n: usize, x: &mut [f64]) {
    for a in 0..n {
        let row = &factor[a * n..];
        x[a] = (x[a] - dot(&row[..a], &x[..a])) / row[a];
    }
}

/// x = L⁻ᵀ·x
pub(crate) fn solve_upper(factor: &[f64], n: usize, x: &mut [f64]) {
    for a in (0..n).rev() {
        let row = &factor[a * n..];
        x[a] /= row[a];
        let value = x[a];
        add_multiple(&mut x[..a], -value, &row[..a]);
    }
}

/// Adds Σ x xᵀ over vectors of length `dim`, one after the other, to the lower triangle.
pub(crate) fn add_products(matrix: &mut [f64], vectors: &[f64], dim: usize) {
    matrix.par_chunks_mut(dim.max(1) * 16).enumerate().for_each(|(tile, rows)| {
        for vector in vectors.chunks_exact(dim) {
            for (k, row) in rows.chunks_exact_mut(dim).enumerate() {
                let at = tile * 16 + k;
                add_multiple(&mut row[..=at], vector[at], &vector[..=at]);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::Real;

    #[test]
    fn exp_is_accurate_in_both_precisions() {
        for step in -87_000..88_000 {
            let x = step as f64 * 1e-3;
            let exact = (x as f32 as f64).exp();
            assert!(((x as f32).exp_for_test() as f64 / exact - 1.0).abs() < 2.5e-7, "{x}");
        }
        for step in -70_800..70_900 {
            let x = step as f64 * 1e-2;
            assert!((Real::exp::<false>(x) / x.exp() - 1.0).abs() < 5e-16, "{x}");
            assert!((Real::exp::<true>(x) / x.exp() - 1.0).abs() < 5e-16, "{x}");
        }
        assert!(Real::exp::<true>(-1e9f64) < 1e-300);
        assert!(Real::exp::<true>(-1e9f32) < 1e-37);
        assert_eq!(Real::exp::<true>(0.0f64), 1.0);
        assert_eq!(Real::exp::<true>(0.0f32), 1.0);
    }

    #[test]
    fn tanh_is_accurate() {
        for step in -4000..4000 {
            let x = step as f64 * 1e-2;
            assert!((Real::tanh::<true>(x) - x.tanh()).abs() < 4e-16, "{x}");
        }
    }

    trait ForTest {
        fn exp_for_test(self) -> f32;
    }
    impl ForTest for f32 {
        fn exp_for_test(self) -> f32 {
            Real::exp::<true>(self)
        }
    }
}

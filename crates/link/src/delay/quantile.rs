//! Quantiles of the standard normal distribution.

/// A quotient of two polynomials, each with its coefficients from the highest power down.
type Rational = ([f64; 8], [f64; 8]);

/// Wichura 1988, AS 241, procedure PPND16: for |p - 1/2| up to 0.425.
#[expect(clippy::excessive_precision, reason = "these are the digits that the paper prints")]
const CENTRE: Rational = (
    [
        2_509.080_928_730_122_672_7,
        33_430.575_583_588_128_105,
        67_265.770_927_008_700_853,
        45_921.953_931_549_871_457,
        13_731.693_765_509_461_125,
        1_971.590_950_306_551_442_7,
        133.141_667_891_784_377_45,
        3.387_132_872_796_366_608,
    ],
    [
        5_226.495_278_852_854_561,
        28_729.085_735_721_942_674,
        39_307.895_800_092_710_61,
        21_213.794_301_586_595_867,
        5_394.196_021_424_751_107_7,
        687.187_007_492_057_908_3,
        42.313_330_701_600_911_252,
        1.0,
    ],
);

/// The same, for p down to exp(-25).
#[expect(clippy::excessive_precision, reason = "these are the digits that the paper prints")]
const SIDE: Rational = (
    [
        7.745_450_142_783_414_076_4e-4,
        0.022_723_844_989_269_184_583_3,
        0.241_780_725_177_450_611_77,
        1.270_458_252_452_368_382_58,
        3.647_848_324_763_204_605_04,
        5.769_497_221_460_691_405_5,
        4.630_337_846_156_545_295_9,
        1.423_437_110_749_683_577_34,
    ],
    [
        1.050_750_071_644_416_843_24e-9,
        5.475_938_084_995_344_946e-4,
        0.015_198_666_563_616_457_196_6,
        0.148_103_976_427_480_074_59,
        0.689_767_334_985_100_004_55,
        1.676_384_830_183_803_849_4,
        2.053_191_626_637_758_821_87,
        1.0,
    ],
);

/// The same, below.
#[expect(clippy::excessive_precision, reason = "these are the digits that the paper prints")]
const TAIL: Rational = (
    [
        2.010_334_399_292_288_132_65e-7,
        2.711_555_568_743_487_578_15e-5,
        0.001_242_660_947_388_078_438_60,
        0.026_532_189_526_576_123_093,
        0.296_560_571_828_504_891_23,
        1.784_826_539_917_291_335_8,
        5.463_784_911_164_114_369_9,
        6.657_904_643_501_103_777_2,
    ],
    [
        2.044_263_103_389_939_785_64e-15,
        1.421_511_758_316_445_888_7e-7,
        1.846_318_317_510_054_681_8e-5,
        7.868_691_311_456_132_591e-4,
        0.014_875_361_290_850_614_852_5,
        0.136_929_880_922_735_805_31,
        0.599_832_206_555_887_937_69,
        1.0,
    ],
);

/// The number below which a standard normal variable lies with `probability`, which is above 0 and below 1; exact to
/// about 1 in 10^16 (Wichura 1988, "Algorithm AS 241: The percentage points of the normal distribution").
pub(super) fn quantile(probability: f64) -> f64 {
    let centred = probability - 0.5;
    if centred.abs() <= 0.425 {
        return centred * quotient(&CENTRE, 0.180_625 - centred * centred);
    }
    let rarer = if centred < 0.0 { probability } else { 1.0 - probability };
    let r = libm::sqrt(-libm::log(rarer));
    let size = if r <= 5.0 { quotient(&SIDE, r - 1.6) } else { quotient(&TAIL, r - 5.0) };
    if centred < 0.0 { -size } else { size }
}

fn quotient((above, below): &Rational, r: f64) -> f64 {
    let polynomial = |coefficients: &[f64; 8]| coefficients.iter().fold(0.0, |sum, next| sum * r + next);
    polynomial(above) / polynomial(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Percentage points that books print, and the test values of the paper (p = 0.25, 0.001 and 10^-20).
    #[test]
    fn quantiles_are_those_of_the_tables() {
        let known = [
            (0.25, -0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_813_5),
            (1e-20, -9.262_340_089_798_408),
            (0.975, 1.959_963_984_540_054),
            (0.5, 0.0),
        ];
        for (probability, expected) in known {
            let error = quantile(probability) - expected;
            assert!(error.abs() <= 1e-14 * f64::max(1.0, f64::abs(expected)), "{probability}: off by {error}");
        }
    }
}

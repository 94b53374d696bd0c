//! Channel quality indicators, and sizes of transport blocks.

use crate::decibels::Decibels;

/// A table of channel quality indicators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CqiTable {
    /// Up to 64-QAM: TS 38.214, table 5.2.2.1-2; TS 36.213, table 7.2.3-1.
    #[default]
    Qam64,
    /// Up to 256-QAM: TS 38.214, table 5.2.2.1-3; TS 36.213, table 7.2.3-2.
    Qam256,
}

/// Bits per symbol, and 1,024 times the code rate, by CQI from 1 on.
type Row = (u32, u32);

#[rustfmt::skip]
const QAM64: [Row; 15] = [
    (2, 78), (2, 120), (2, 193), (2, 308), (2, 449), (2, 602), (4, 378), (4, 490), (4, 616),
    (6, 466), (6, 567), (6, 666), (6, 772), (6, 873), (6, 948),
];
#[rustfmt::skip]
const QAM256: [Row; 15] = [
    (2, 78), (2, 193), (2, 449), (4, 378), (4, 490), (4, 616), (6, 466), (6, 567), (6, 666), (6, 772), (6, 873),
    (8, 711), (8, 797), (8, 885), (8, 948),
];
/// The ratios of signal to noise from which on a tenth of blocks is lost at most, in decibels, by CQI of the table up to 64-QAM: Brueninghaus and others 2005.
#[rustfmt::skip]
const SIXTY_FOUR: [f64; 15] = [-6.7, -4.7, -2.3, 0.2, 2.4, 4.3, 5.9, 8.1, 10.3, 11.7, 14.1, 16.3, 18.7, 21.0, 22.7];
/// The same up to 256-QAM: equal efficiencies need the same, and above them each bit per symbol 3.01 dB more, as in Shannon's formula.
#[rustfmt::skip]
const BEYOND: [f64; 15] = [-6.7, -2.3, 2.4, 5.9, 8.1, 10.3, 11.7, 14.1, 16.3, 18.7, 21.0, 22.7, 24.7, 26.8, 28.3];

/// The sizes of blocks up to 3,824 bits: TS 38.214, table 5.1.3.2-1.
#[rustfmt::skip]
const SIZES: [u64; 93] = [
    24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 208, 224, 240, 256, 272, 288, 304, 320,
    336, 352, 368, 384, 408, 432, 456, 480, 504, 528, 552, 576, 608, 640, 672, 704, 736, 768, 808, 848, 888, 928, 984, 1032, 1064, 1128, 1160,
    1192, 1224, 1256, 1288, 1320, 1352, 1416, 1480, 1544, 1608, 1672, 1736, 1800, 1864, 1928, 2024, 2088, 2152, 2216, 2280, 2408, 2472, 2536,
    2600, 2664, 2728, 2792, 2856, 2976, 3104, 3240, 3368, 3496, 3624, 3752, 3824,
];

impl CqiTable {
    fn row(self, cqi: u8) -> Option<Row> {
        let rows = match self {
            Self::Qam64 => &QAM64,
            Self::Qam256 => &QAM256,
        };
        rows.get(usize::from(cqi).checked_sub(1)?).copied()
    }

    /// Returns the greatest CQI at which a block is lost in at most a tenth of all cases at this ratio of signal to noise and interference; zero: out of range.
    pub fn cqi(self, ratio: Decibels) -> u8 {
        let thresholds = match self {
            Self::Qam64 => &SIXTY_FOUR,
            Self::Qam256 => &BEYOND,
        };
        u8::try_from(thresholds.partition_point(|least| *least <= ratio.0)).unwrap_or(15)
    }
}

/// Returns the bits of a transport block on so many resource elements (of all layers together) with this CQI: TS 38.214, 5.1.3.2. Zero with CQI 0 or without any
/// element.
pub fn transport_block(table: CqiTable, cqi: u8, elements: u64) -> u64 {
    let Some((bits, rate)) = table.row(cqi) else { return 0 };
    // Everything times 1,024, so that it is a whole number.
    let wanted = elements * u64::from(bits) * u64::from(rate);
    if wanted == 0 {
        return 0;
    }
    if wanted <= 3_824 << 10 {
        let step = (wanted >> 10).max(1).ilog2().saturating_sub(6).max(3);
        let rounded = (wanted >> (10 + step) << step).max(24);
        return SIZES[SIZES.partition_point(|size| *size < rounded).min(SIZES.len() - 1)];
    }
    let less = wanted - (24 << 10);
    let step = (less >> 10).ilog2() - 5;
    // Halves are rounded up.
    let rounded = ((less >> (9 + step)) + 1) >> 1 << step;
    let rounded = rounded.max(3_840) + 24;
    let parts = match rounded {
        _ if rate <= 256 => rounded.div_ceil(3_816),
        8_449.. => rounded.div_ceil(8_424),
        _ => 1,
    };
    8 * parts * rounded.div_ceil(8 * parts) - 24
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out by hand from the formulas.
    #[test]
    fn sizes_are_those_of_the_standard() {
        // 132 * 78 * 2 / 1024 = 20.1 bits: 24 at least.
        assert_eq!(transport_block(CqiTable::Qam64, 1, 132), 24);
        // 3 * 132 * 602 * 2 / 1024 = 465.6: steps of 8, 464; the next size is 480.
        assert_eq!(transport_block(CqiTable::Qam64, 6, 3 * 132), 480);
        // 13200 * 948 * 6 / 1024 = 73321.9 less 24: steps of 2^11, 36 of them, 73,728; 9 parts with 24 bits of CRC: 8 * 9 * 1025 - 24.
        assert_eq!(transport_block(CqiTable::Qam64, 15, 13_200), 73_776);
        assert_eq!(transport_block(CqiTable::Qam64, 0, 13_200), 0);
        assert_eq!(transport_block(CqiTable::Qam256, 15, 0), 0);
    }

    #[test]
    fn sizes_are_within_the_steps_of_the_efficiency() {
        for table in [CqiTable::Qam64, CqiTable::Qam256] {
            for cqi in 1..=15 {
                let (bits, rate) = table.row(cqi).expect("it is a row");
                let mut before = 0;
                for blocks in 1..=275 {
                    let exact = f64::from(blocks * 132 * bits * rate) / 1024.0;
                    let size = transport_block(table, cqi, u64::from(blocks) * 132);
                    assert!(size >= before, "{table:?} {cqi} {blocks}");
                    before = size;
                    let off = (size as f64 - exact) / exact;
                    // The sizes of small blocks are those of a table, which has larger steps.
                    let step = if exact <= 3_824.0 { 0.05 } else { 0.03 };
                    assert!(exact < 1_000.0 || off.abs() < step, "{table:?} {cqi} {blocks}: {size} for {exact}");
                }
            }
        }
    }

    #[test]
    fn indicators_follow_from_ratios() {
        let cqi = |ratio| CqiTable::Qam64.cqi(Decibels(ratio));
        assert_eq!([-7.0, -6.7, 0.0, 22.69, 22.7, 60.0].map(cqi), [0, 1, 3, 14, 15, 15]);
        assert_eq!(CqiTable::Qam256.cqi(Decibels(22.7)), 12);
    }
}

//! How long a PPDU, what one station sends at once, is on the air.

use netloom_units::{Bytes, Duration};

/// The timing of PPDUs of one mode: preamble and header, then whole symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ppdu {
    /// Preamble and header.
    pub(crate) preamble: Duration,
    /// A symbol.
    pub(crate) symbol: Duration,
    /// So many symbols…
    pub(crate) symbols: u64,
    /// … carry so many bits.
    pub(crate) bits: u64,
    /// Bits around the data: service field and tail.
    pub(crate) overhead: u64,
    /// The data takes a multiple of this.
    pub(crate) step: Duration,
    /// Silence that belongs to the PPDU.
    pub(crate) extension: Duration,
}

impl Ppdu {
    /// Returns how long a PPDU is on the air that carries so many bytes of the MAC.
    #[inline]
    pub fn duration(&self, size: Bytes) -> Duration {
        let bits = self.overhead + 8 * size.get();
        let symbols = (bits * self.symbols).div_ceil(self.bits);
        let (data, step) = (self.symbol.as_nanos() * symbols, self.step.as_nanos());
        self.preamble + Duration::from_nanos(data.div_ceil(step) * step) + self.extension
    }

    /// Returns the bits per second of the data, rounded down.
    pub fn bits_per_second(&self) -> u64 {
        self.bits * 1_000_000_000 / (self.symbols * self.symbol.as_nanos())
    }
}

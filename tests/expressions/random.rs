//! Random numbers from a seed, so that a failure can be repeated.

/// A generator (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        // Zero would stay zero.
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below the end.
    pub fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }

    /// True once in that many times.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// A number between both, the ends included.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        let count = (i128::from(most) - i128::from(least) + 1) as u128;
        (i128::from(least) + (u128::from(self.next()) % count) as i128) as i64
    }

    pub fn choose<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }
}

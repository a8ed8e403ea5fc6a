//! How a value lies in memory against how a pack of such values does: what loads and stores need to
//! know to be written once for all types.

/// What a type of value is made of, in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout(usize);

impl Layout {
    /// Nothing is known: values are put into packs and taken out of them one by one.
    pub const LANES: Layout = Layout(0);

    /// Words of so many bytes (1, 2, 4 or 8) one after the other.
    ///
    /// # Safety
    ///
    /// A value is `size_of` / `bytes` such words, any bits of which are a value, and can be copied bit
    /// by bit; a pack of values is for each of these words, in the same order, the words of all lanes
    /// one after the other.
    pub const unsafe fn words(bytes: usize) -> Layout {
        Layout(bytes)
    }

    /// The bytes of a word, 0 where nothing is known.
    pub const fn word(self) -> usize {
        self.0
    }
}

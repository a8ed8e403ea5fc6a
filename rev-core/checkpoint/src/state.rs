//! What a loop works on.

use std::io::{self, Read, Write};

use ndarray::{Array, Dimension};
use rev_core::scalar::{Batch, Complex};

/// A value that can be kept, in memory and on disk: numbers, vectors and arrays of them, tuples.
///
/// For a type of one's own each function does the same with every field.
pub trait State: Clone {
    /// Its bytes on disk.
    fn bytes(&self) -> u64;

    /// Becomes another value. Where that has the same shape nothing is allocated.
    fn assign(&mut self, from: &Self);

    /// Sets every number to zero.
    fn clear(&mut self);

    /// Writes its bytes, little-endian.
    ///
    /// # Errors
    ///
    /// The writer's.
    fn write(&self, to: &mut dyn Write) -> io::Result<()>;

    /// Reads the bytes of a value of the same shape.
    ///
    /// # Errors
    ///
    /// The reader's; too few bytes.
    fn read(&mut self, from: &mut dyn Read) -> io::Result<()>;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl State for $number {
            fn bytes(&self) -> u64 {
                size_of::<$number>() as u64
            }
            fn assign(&mut self, from: &Self) {
                *self = *from;
            }
            fn clear(&mut self) {
                *self = <$number>::default();
            }
            fn write(&self, to: &mut dyn Write) -> io::Result<()> {
                to.write_all(&self.to_le_bytes())
            }
            fn read(&mut self, from: &mut dyn Read) -> io::Result<()> {
                let mut bytes = [0; size_of::<$number>()];
                from.read_exact(&mut bytes)?;
                *self = <$number>::from_le_bytes(bytes);
                Ok(())
            }
        }
    )*};
}
numbers!(f32, f64, i8, i16, i32, i64, i128, u8, u16, u32, u64, u128, isize, usize);

/// Delegates to what `$elements` visits.
macro_rules! elementwise {
    ([$($generics:tt)*] $all:ty, |$s:ident| $shared:expr, $exclusive:expr, |$from:ident| $assign:expr) => {
        impl<$($generics)*> State for $all {
            fn bytes(&self) -> u64 {
                let $s = self;
                $shared.map(State::bytes).sum()
            }
            fn assign(&mut self, $from: &Self) {
                let $s = self;
                $assign
            }
            fn clear(&mut self) {
                let $s = self;
                $exclusive.for_each(State::clear);
            }
            fn write(&self, to: &mut dyn Write) -> io::Result<()> {
                let $s = self;
                $shared.try_for_each(|e| e.write(to))
            }
            fn read(&mut self, from: &mut dyn Read) -> io::Result<()> {
                let $s = self;
                $exclusive.try_for_each(|e| e.read(from))
            }
        }
    };
}
elementwise!([E: State] Vec<E>, |s| s.iter(), s.iter_mut(), |from| {
    if s.len() == from.len() { s.iter_mut().zip(from).for_each(|(to, from)| to.assign(from)) } else { s.clone_from(from) }
});
elementwise!([E: State, D: Dimension] Array<E, D>, |s| s.iter(), s.iter_mut(), |from| {
    if s.shape() == from.shape() { s.zip_mut_with(from, State::assign) } else { s.clone_from(from) }
});
elementwise!([E: State, const N: usize] [E; N], |s| s.iter(), s.iter_mut(), |from| {
    s.iter_mut().zip(from).for_each(|(to, from)| to.assign(from))
});
elementwise!([E: State, const N: usize] Batch<E, N>, |s| s.0.iter(), s.0.iter_mut(), |from| s.0.assign(&from.0));
elementwise!([E: State] Complex<E>, |s| [&s.re, &s.im].into_iter(), [&mut s.re, &mut s.im].into_iter(), |from| {
    s.re.assign(&from.re);
    s.im.assign(&from.im);
});

macro_rules! tuples {
    ($(($($name:ident $index:tt)*))*) => {$(
        impl<$($name: State),*> State for ($($name,)*) {
            fn bytes(&self) -> u64 {
                0 $(+ self.$index.bytes())*
            }
            fn assign(&mut self, from: &Self) {
                $(self.$index.assign(&from.$index);)*
            }
            fn clear(&mut self) {
                $(self.$index.clear();)*
            }
            fn write(&self, to: &mut dyn Write) -> io::Result<()> {
                $(self.$index.write(to)?;)*
                Ok(())
            }
            fn read(&mut self, from: &mut dyn Read) -> io::Result<()> {
                $(self.$index.read(from)?;)*
                Ok(())
            }
        }
    )*};
}
tuples! {
    (A 0)
    (A 0 B 1)
    (A 0 B 1 C 2)
    (A 0 B 1 C 2 D 3)
    (A 0 B 1 C 2 D 3 E 4)
    (A 0 B 1 C 2 D 3 E 4 F 5)
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6)
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7)
}

//! Reading packs from the elements of arrays and writing them back, whatever the elements are.
//!
//! Elements that are made of equal words ([`Layout`](rev_core::lanes::Layout)) are moved word by word:
//! all lanes' first words, then all lanes' second ones. The lanes of one word lie side by side, at a
//! constant distance or anywhere; the first and every other word have loads of their own, the others are
//! gathered and scattered. Other elements are cloned one by one.

use std::mem::{size_of, MaybeUninit};

use rev_core::lanes::{self, Isa, Laned, Mask, Pack, WIDTH};
#[cfg(target_arch = "x86_64")]
use rev_core::lanes::{LaneMask, Level};
use rev_core::scalar::Zero;

use super::access::Located;
use super::index::{Indices, Pattern, Places, Unknown};
#[cfg(target_arch = "x86_64")]
use super::{transpose, x86};

/// Whether a lane that runs is active, of a mask that isn't a part of a group.
#[cfg_attr(optimized, inline(always))]
pub(super) fn active<S: Isa, M: Mask>(s: S, m: M, k: usize) -> bool {
    m.is_all() || m.bits(s) >> k & 1 != 0
}

/// The lanes of such a mask.
#[cfg(target_arch = "x86_64")]
#[cfg_attr(optimized, inline(always))]
fn bits<S: Isa, M: Mask>(s: S, m: M) -> LaneMask {
    match m.is_all() {
        true => S::ALL,
        false => m.bits(s),
    }
}

/// Calls a function with each of the first `n` lanes and its place. What it takes along of packs has to be copies: one lane taken
/// from a pack by a number keeps the pack from being held in registers.
#[cold]
#[inline(never)]
pub(super) fn each_of_part(n: usize, places: Places, mut f: impl FnMut(usize, isize)) {
    for k in 0..n {
        f(k, places.at(k));
    }
}

/// How elements and packs of words lie: how many bytes a word is, how many an element has, and how many bytes these are apart.
#[derive(Clone, Copy)]
struct Words {
    size: usize,
    count: usize,
    apart: usize,
}

/// Calls a function for a type of words of so many bytes.
macro_rules! by_word {
    ($(const $of:block)? $($bytes:expr)?, |$w:ident| $body:expr) => {
        match $(const $of)? $($bytes)? {
            8 => {
                type $w = u64;
                $body
            }
            4 => {
                type $w = u32;
                $body
            }
            2 => {
                type $w = u16;
                $body
            }
            _ => {
                type $w = u8;
                $body
            }
        }
    };
}

/// Calls a function with each word of the first `n` lanes: where it is in memory, and in a pack.
#[cfg_attr(optimized, inline(always))]
fn each_word(n: usize, places: &Places, words: Words, mut moved: impl FnMut(isize, usize)) {
    for j in 0..words.count {
        let (far, row) = ((j * words.apart) as isize, j * WIDTH * words.size);
        for k in 0..n {
            moved(places.at(k).wrapping_add(far), row + k * words.size);
        }
    }
}

/// [`read_words`] for the first `n` lanes, to a pack of zeros.
///
/// # Safety
///
/// As there.
#[cold]
#[inline(never)]
unsafe fn read_part(n: usize, base: *const u8, places: &Places, words: Words, to: *mut u8) {
    by_word!(words.size, |W| each_word(n, places, words, |from, at| {
        // SAFETY: as required of the caller.
        unsafe {
            to.add(at).cast::<W>().write_unaligned(base.wrapping_offset(from).cast::<W>().read_unaligned())
        }
    }));
}

/// [`write_words`] for the first `n` lanes.
///
/// # Safety
///
/// As there.
#[cold]
#[inline(never)]
unsafe fn write_part(n: usize, base: *mut u8, places: &Places, words: Words, from: *const u8) {
    by_word!(words.size, |W| each_word(n, places, words, |to, at| {
        // SAFETY: as required of the caller.
        unsafe {
            base.wrapping_offset(to).cast::<W>().write_unaligned(from.add(at).cast::<W>().read_unaligned())
        }
    }));
}

/// Whether no lane is.
#[cfg_attr(optimized, inline(always))]
pub(super) fn none<S: Isa, M: Mask>(s: S, m: M) -> bool {
    !m.is_all() && m.bits(s) == 0
}

/// Whether elements of a type are equal words, and there are any.
#[cfg_attr(optimized, inline(always))]
pub(super) const fn in_words<E: Laned>() -> bool {
    let word = E::LAYOUT.word();
    word != 0
        && size_of::<E>() != 0
        && size_of::<E>().is_multiple_of(word)
        && size_of::<Pack<E>>() == WIDTH * size_of::<E>()
}

/// How many words an element is.
const fn words<E: Laned>() -> usize {
    match E::LAYOUT.word() {
        0 => 0,
        word => size_of::<E>() / word,
    }
}

/// The elements of the active lanes.
///
/// # Safety
///
/// Each active lane's is a live element that nobody changes meanwhile.
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn read<S, M, E, X, const R: usize>(s: S, m: M, at: Located<E, X, R>) -> Pack<E>
where
    S: Isa,
    M: Mask,
    E: Laned + Zero,
    X: Indices<R>,
{
    let base = at.ptr.cast_const();
    // SAFETY (of all calls): as required of the caller
    if none(s, m) || const { size_of::<E>() == 0 } {
        lanes::broadcast(s, E::zero())
    } else if const { !X::LINEAR && !X::VARYING } {
        lanes::broadcast(s, unsafe { (*base.wrapping_byte_offset(at.places(s).start)).clone() })
    } else if const { in_words::<E>() } {
        let word = E::LAYOUT.word();
        match at.side_by_side(s) {
            Some(places) if m.part().is_none() || const { masks_rows::<S, E>() } => unsafe {
                read_words::<S, M, E, X>(s, m, base.cast(), places, word)
            },
            _ => match m.part() {
                Some(n) => unsafe { read_words_of_part(n, base.cast(), at.places(s), word) },
                None => unsafe { read_words::<S, M, E, Unknown<X>>(s, m, base.cast(), at.apart(s), word) },
            },
        }
    } else {
        let places = at.places(s);
        let mut all = lanes::broadcast(s, E::zero());
        if let Some(n) = m.part() {
            let mut some = lanes::broadcast(s, E::zero());
            each_of_part(n, places, |k, place| {
                lanes::set(&mut some, k, unsafe { (*base.wrapping_byte_offset(place)).clone() });
            });
            return some;
        }
        for k in 0..S::LANES {
            if active(s, m, k) {
                let element = base.wrapping_byte_offset(places.at(k));
                lanes::set(&mut all, k, unsafe { (*element).clone() });
            }
        }
        all
    }
}

/// Writes the elements of the active lanes, in the order of the lanes.
///
/// # Safety
///
/// Each active lane's is a live element that nobody else reaches meanwhile.
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn write<S, M, E, X, const R: usize>(s: S, m: M, at: Located<E, X, R>, v: &Pack<E>)
where
    S: Isa,
    M: Mask,
    E: Laned,
    X: Indices<R>,
{
    let base = at.ptr;
    // SAFETY (of all calls): as required of the caller
    if none(s, m) || const { size_of::<E>() == 0 } {
    } else if const { in_words::<E>() && (X::LINEAR || X::VARYING) } {
        let word = E::LAYOUT.word();
        match at.side_by_side(s) {
            Some(places) if m.part().is_none() || const { masks_rows::<S, E>() } => unsafe {
                write_words::<S, M, E, X>(s, m, base.cast(), places, word, v)
            },
            _ => match m.part() {
                Some(n) => unsafe { write_words_of_part(n, base.cast(), at.places(s), word, v) },
                None => unsafe {
                    write_words::<S, M, E, Unknown<X>>(s, m, base.cast(), at.apart(s), word, v)
                },
            },
        }
    } else {
        let places = at.places(s);
        if let Some(n) = m.part() {
            let v = v.clone();
            return each_of_part(n, places, |k, place| unsafe {
                *base.wrapping_byte_offset(place) = lanes::get(&v, k)
            });
        }
        for k in 0..S::LANES {
            if active(s, m, k) {
                unsafe { *base.wrapping_byte_offset(places.at(k)) = lanes::get(v, k) };
            }
        }
    }
}

/// [`read_words`] for the first `n` lanes. The pack has an address of its own, so that another one keeps none.
///
/// # Safety
///
/// As there.
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn read_words_of_part<E: Laned>(
    n: usize,
    base: *const u8,
    places: Places,
    apart: usize,
) -> Pack<E> {
    let mut some = MaybeUninit::<Pack<E>>::zeroed();
    let words = Words { size: E::LAYOUT.word(), count: words::<E>(), apart };
    // SAFETY: as required of the caller; any bits are a value.
    unsafe {
        read_part(n, base, &places, words, some.as_mut_ptr().cast());
        some.assume_init()
    }
}

/// The reverse.
///
/// # Safety
///
/// As [`write_words`].
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn write_words_of_part<E: Laned>(
    n: usize,
    base: *mut u8,
    places: Places,
    apart: usize,
    v: &Pack<E>,
) {
    let v = v.clone();
    let words = Words { size: E::LAYOUT.word(), count: words::<E>(), apart };
    // SAFETY: as required of the caller.
    unsafe { write_part(n, base, &places, words, std::ptr::from_ref(&v).cast()) };
}

/// The words of elements, which lie `apart` bytes from each other.
///
/// # Safety
///
/// Each active lane's place, from `base`, is as in [`read`], and the elements are in words. Of a part of a group, every lane's place is,
/// or the elements lie in a row that [`masks_rows`].
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn read_words<S, M, E, X>(
    s: S,
    m: M,
    base: *const u8,
    places: Places,
    apart: usize,
) -> Pack<E>
where
    S: Isa,
    M: Mask,
    E: Laned,
    X: Pattern,
{
    let mut all = MaybeUninit::<Pack<E>>::uninit();
    if const { S::LANES < WIDTH } {
        let word = const { WIDTH * E::LAYOUT.word() };
        let idle = const { (WIDTH - S::LANES) * E::LAYOUT.word() };
        for j in 1..=const { words::<E>() } {
            // SAFETY: what each word has for the lanes that don't run, at its end.
            unsafe { all.as_mut_ptr().cast::<u8>().add(j * word - idle).write_bytes(0, idle) };
        }
    }
    #[cfg(target_arch = "x86_64")]
    if m.is_all() && const { moves_whole::<S, E>() } && apart == WORD {
        // SAFETY: as required of the caller; the token says that there is AVX-512.
        return unsafe {
            transpose::read_whole(S::LANES, base, &places, size_of::<E>() / WORD, all.as_mut_ptr().cast());
            all.assume_init()
        };
    }
    by_word!(const { E::LAYOUT.word() }, |W| {
        let to = all.as_mut_ptr().cast::<W>();
        for j in 0..const { size_of::<E>() / size_of::<W>() } {
            let from = base.wrapping_add(j * apart);
            // SAFETY: a pack has WIDTH words for each of an element's (`Layout`); the rest by the caller.
            unsafe { load::<S, M, W, X>(s, m, from, &places, to.add(j * WIDTH)) };
        }
    });
    // SAFETY: all words are written, and any bits are a value.
    unsafe { all.assume_init() }
}

/// The reverse of [`read_words`].
///
/// # Safety
///
/// As [`write`], and the elements are in words.
#[cfg_attr(optimized, inline(always))]
pub(super) unsafe fn write_words<S, M, E, X>(
    s: S,
    m: M,
    base: *mut u8,
    places: Places,
    apart: usize,
    v: &Pack<E>,
) where
    S: Isa,
    M: Mask,
    E: Laned,
    X: Pattern,
{
    #[cfg(target_arch = "x86_64")]
    if m.is_all() && const { moves_whole::<S, E>() } && apart == WORD {
        let from = std::ptr::from_ref(v).cast();
        // SAFETY: as required of the caller; the token says that there is AVX-512.
        return unsafe { transpose::write_whole(S::LANES, base, &places, size_of::<E>() / WORD, from) };
    }
    by_word!(const { E::LAYOUT.word() }, |W| {
        let from = std::ptr::from_ref(v).cast::<W>();
        for j in 0..const { size_of::<E>() / size_of::<W>() } {
            let to = base.wrapping_add(j * apart);
            // SAFETY: as in `read_words`.
            unsafe { store::<S, M, W, X>(s, m, to, &places, from.add(j * WIDTH)) };
        }
    });
}

/// Something that a word of an array can be moved as.
trait Word: Copy + Default {}
impl Word for u64 {}
impl Word for u32 {}
impl Word for u16 {}
impl Word for u8 {}

/// Whether the code is for a processor with an instruction set and for words of so many bytes.
#[cfg(target_arch = "x86_64")]
const fn is<S: Isa, W>(level: Level, bytes: usize) -> bool {
    S::LEVEL as usize == level as usize && size_of::<W>() == bytes
}

/// Bytes of the words that are moved in whole elements.
#[cfg(target_arch = "x86_64")]
const WORD: usize = 8;

/// Whether elements that lie in a row are words of which the processor loads and stores some by an instruction.
const fn masks_rows<S: Isa, E: Laned>() -> bool {
    #[cfg(target_arch = "x86_64")]
    let (long, short) =
        (S::LEVEL as usize != Level::Portable as usize, S::LEVEL as usize == Level::Avx512 as usize);
    #[cfg(not(target_arch = "x86_64"))]
    let (long, short) = (false, false);
    let word = E::LAYOUT.word();
    size_of::<E>() == word && (word == 8 && long || word == 4 && short)
}

/// Whether an element is so many words that it is moved as one.
#[cfg(target_arch = "x86_64")]
const fn moves_whole<S: Isa, E: Laned>() -> bool {
    S::LEVEL as usize == Level::Avx512 as usize
        && E::LAYOUT.word() == WORD
        && size_of::<E>() / WORD >= transpose::FROM
}

/// The lanes of one word, to as many words in a row as lanes run; inactive lanes' are zeros.
#[cfg_attr(optimized, inline(always))]
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
unsafe fn load<S, M, W, X>(s: S, m: M, base: *const u8, places: &Places, to: *mut W)
where
    S: Isa,
    M: Mask,
    W: Word,
    X: Pattern,
{
    let start = base.wrapping_offset(places.start);
    if const { X::KNOWN && !X::VARYING } && places.step == const { size_of::<W>() as isize } {
        // SAFETY: as required of the caller.
        return unsafe { load_row::<S, M, W>(s, m, start.cast(), to) };
    }
    #[cfg(target_arch = "x86_64")]
    if const { is::<S, W>(Level::Avx512, 8) || is::<S, W>(Level::Avx512, 4) } {
        // SAFETY (of both): as required of the caller; the token says that the processor has the instructions.
        if const { X::KNOWN && !X::VARYING && size_of::<W>() == 8 } && places.step == 16 {
            return unsafe { x86::load_every_other(S::LANES, bits(s, m), start.cast(), to.cast()) };
        }
        let all = places.all::<S, X>(s);
        return unsafe {
            match const { size_of::<W>() } {
                8 => x86::gather_8(S::LANES, bits(s, m), start, &all, to.cast()),
                _ => x86::gather_4(S::LANES, bits(s, m), start, &all, to.cast()),
            }
        };
    }
    #[cfg(target_arch = "x86_64")]
    if const { is::<S, W>(Level::Avx2, 8) } {
        for j in 0..S::LANES / 4 {
            let mut words = [0; 4];
            for (k, to) in words.iter_mut().enumerate() {
                // SAFETY: as required of the caller, and a W is a u64.
                *to = unsafe { std::mem::transmute_copy(&word::<S, M, W>(s, m, base, places, 4 * j + k)) };
            }
            // SAFETY: `to` has room for all lanes; the token says that there is AVX2.
            unsafe { x86::put_4_of_8(words, to.add(4 * j).cast()) };
        }
        return;
    }
    for k in 0..S::LANES {
        // SAFETY: as required of the caller; `to` has room for all lanes.
        unsafe { to.add(k).write(word::<S, M, W>(s, m, base, places, k)) };
    }
}

/// The word of one lane, 0 where the lane isn't active.
#[cfg_attr(optimized, inline(always))]
unsafe fn word<S: Isa, M: Mask, W: Word>(s: S, m: M, base: *const u8, places: &Places, k: usize) -> W {
    match active(s, m, k) {
        // SAFETY: as required of the caller.
        true => unsafe { base.wrapping_offset(places.at(k)).cast::<W>().read_unaligned() },
        false => W::default(),
    }
}

/// The reverse of [`load`]; inactive lanes' aren't written.
#[cfg_attr(optimized, inline(always))]
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
unsafe fn store<S, M, W, X>(s: S, m: M, base: *mut u8, places: &Places, from: *const W)
where
    S: Isa,
    M: Mask,
    W: Word,
    X: Pattern,
{
    let start = base.wrapping_offset(places.start);
    if const { X::KNOWN && !X::VARYING } && places.step == const { size_of::<W>() as isize } {
        // SAFETY: as required of the caller.
        return unsafe { store_row::<S, M, W>(s, m, start.cast(), from) };
    }
    #[cfg(target_arch = "x86_64")]
    if const { is::<S, W>(Level::Avx512, 8) || is::<S, W>(Level::Avx512, 4) } {
        // SAFETY (of both): as in `load`.
        if const { X::KNOWN && !X::VARYING && size_of::<W>() == 8 } && places.step == 16 {
            return unsafe { x86::store_every_other(S::LANES, bits(s, m), start.cast(), from.cast()) };
        }
        let all = places.all::<S, X>(s);
        return unsafe {
            match const { size_of::<W>() } {
                8 => x86::scatter_8(S::LANES, bits(s, m), start, &all, from.cast()),
                _ => x86::scatter_4(S::LANES, bits(s, m), start, &all, from.cast()),
            }
        };
    }
    for k in 0..S::LANES {
        if active(s, m, k) {
            // SAFETY: as required of the caller.
            unsafe { base.wrapping_offset(places.at(k)).cast::<W>().write_unaligned(*from.add(k)) };
        }
    }
}

/// Loads words that lie side by side.
#[cfg_attr(optimized, inline(always))]
unsafe fn load_row<S: Isa, M: Mask, W: Word>(s: S, m: M, from: *const W, to: *mut W) {
    // SAFETY (of all): as required of the callers; the token says that there are the instructions.
    if m.is_whole() {
        return unsafe {
            std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), S::LANES * size_of::<W>())
        };
    }
    #[cfg(target_arch = "x86_64")]
    {
        if const { is::<S, W>(Level::Avx512, 8) } {
            return unsafe { x86::load_8(S::LANES, m.bits(s), from.cast(), to.cast()) };
        }
        if const { is::<S, W>(Level::Avx512, 4) } {
            return unsafe { x86::load_4(S::LANES, m.bits(s), from.cast(), to.cast()) };
        }
        if const { is::<S, W>(Level::Avx2, 8) } {
            return unsafe { x86::load_8_avx2(S::LANES, m.bits(s), from.cast(), to.cast()) };
        }
    }
    for k in 0..S::LANES {
        let word = match active(s, m, k) {
            true => unsafe { from.wrapping_add(k).read_unaligned() },
            false => W::default(),
        };
        unsafe { to.add(k).write(word) };
    }
}

/// Stores words side by side.
#[cfg_attr(optimized, inline(always))]
unsafe fn store_row<S: Isa, M: Mask, W: Word>(s: S, m: M, to: *mut W, from: *const W) {
    // SAFETY (of all): as required of the callers; the token says that there are the instructions.
    if m.is_whole() {
        return unsafe {
            std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), S::LANES * size_of::<W>())
        };
    }
    #[cfg(target_arch = "x86_64")]
    {
        if const { is::<S, W>(Level::Avx512, 8) } {
            return unsafe { x86::store_8(S::LANES, m.bits(s), to.cast(), from.cast()) };
        }
        if const { is::<S, W>(Level::Avx512, 4) } {
            return unsafe { x86::store_4(S::LANES, m.bits(s), to.cast(), from.cast()) };
        }
        if const { is::<S, W>(Level::Avx2, 8) } {
            return unsafe { x86::store_8_avx2(S::LANES, m.bits(s), to.cast(), from.cast()) };
        }
    }
    for k in 0..S::LANES {
        if active(s, m, k) {
            unsafe { to.wrapping_add(k).write_unaligned(*from.add(k)) };
        }
    }
}

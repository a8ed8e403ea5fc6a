//! Words, lines and numbers of a text file, each with the place it came from, so that the readers
//! of the formats say only what they expect and in which order.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The most numbers that a file's sizes may ask for (4 GiB of `f64`); sizes above it are refused
/// before anything is allocated.
pub const MAX_NUMBERS: usize = 1 << 29;

/// The most numbers that a file may ask for which doesn't hold them. ADBench's largest problem has 158 million.
pub const MAX_REPEATED: usize = 160_000_000;

/// The longest line in bytes that is read.
pub const MAX_LINE: usize = 1 << 28;

/// How much of a wrong word an error repeats.
const SHOWN: usize = 40;

/// A file that isn't what its format says: shown as `FILE:LINE: expected …, found …`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}:{line}: expected {expected}, found {found}", file.display())]
pub struct ReadError {
    /// The file, as it was named by the caller.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What should have stood there.
    pub expected: String,
    /// What stood there.
    pub found: String,
}

/// A text file, read word by word or line by line; empty lines don't count.
pub(super) struct Words {
    input: BufReader<File>,
    file: PathBuf,
    /// The current line and where in it the next word is looked for.
    text: Vec<u8>,
    at: usize,
    line: usize,
}

/// A word: where it lies in the current line.
struct Word(std::ops::Range<usize>);

impl Words {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Words, ReadError> {
        let unreadable = |e: io::Error| ReadError {
            file: path.to_path_buf(),
            line: 1,
            expected: "a file that can be read".into(),
            found: e.to_string(),
        };
        let file = File::open(path).map_err(unreadable)?;
        if file.metadata().map_err(unreadable)?.is_dir() {
            return Err(unreadable(io::Error::other("a directory")));
        }
        let input = BufReader::with_capacity(1 << 16, file);
        Ok(Words { input, file: path.to_path_buf(), text: Vec::new(), at: 0, line: 0 })
    }

    /// An error at the current line.
    pub fn error(&self, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        let (expected, found) = (expected.into(), found.into());
        ReadError { file: self.file.clone(), line: self.line.max(1), expected, found }
    }

    /// Reads the next line; false at the end of the file.
    fn next_line(&mut self, expected: &str) -> Result<bool, ReadError> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let read = self.input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut text);
        self.text = text;
        self.at = 0;
        let length = read.map_err(|e| self.error(expected, e.to_string()))?;
        if length == 0 {
            return Ok(false);
        }
        self.line += 1;
        if length > MAX_LINE {
            return Err(self.error(expected, format!("a line of more than {MAX_LINE} bytes")));
        }
        Ok(true)
    }

    /// The next word of the current line.
    fn word_here(&mut self) -> Option<Word> {
        let rest = &self.text[self.at..];
        let start = self.at + rest.iter().position(|b| !b.is_ascii_whitespace())?;
        let word = &self.text[start..];
        let end = start + word.iter().position(u8::is_ascii_whitespace).unwrap_or(word.len());
        self.at = end;
        Some(Word(start..end))
    }

    /// The next word of the file.
    fn word(&mut self, expected: &str) -> Result<Word, ReadError> {
        loop {
            if let Some(word) = self.word_here() {
                return Ok(word);
            }
            if !self.next_line(expected)? {
                return Err(self.error(expected, "the end of the file"));
            }
        }
    }

    /// The next word of a line on which `count` words have to stand, `done` of which are read.
    fn word_of(&mut self, done: usize, count: usize, expected: &str) -> Result<Word, ReadError> {
        if done == 0 {
            self.end_of_line(expected)?;
            return self.word(expected);
        }
        self.word_here().ok_or_else(|| {
            self.error(format!("{expected} ({count} words on the line)"), format!("a line of {done}"))
        })
    }

    /// Requires that nothing is left on the current line.
    pub fn end_of_line(&mut self, expected: &str) -> Result<(), ReadError> {
        match self.word_here() {
            None => Ok(()),
            Some(word) => {
                Err(self.error(format!("the end of the line before {expected}"), self.shown(&word)))
            }
        }
    }

    /// Requires that nothing is left in the file.
    pub fn end_of_file(&mut self) -> Result<(), ReadError> {
        let expected = "the end of the file";
        loop {
            if let Some(word) = self.word_here() {
                return Err(self.error(expected, self.shown(&word)));
            }
            if !self.next_line(expected)? {
                return Ok(());
            }
        }
    }

    fn shown(&self, word: &Word) -> String {
        let text = String::from_utf8_lossy(&self.text[word.0.clone()]);
        let cut: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
        let more = if text.chars().nth(SHOWN).is_some() { "…" } else { "" };
        format!("`{cut}{more}`")
    }

    fn text(&self, word: &Word) -> &str {
        std::str::from_utf8(&self.text[word.0.clone()]).unwrap_or("")
    }

    fn float(&self, word: &Word, expected: &str) -> Result<f64, ReadError> {
        match self.text(word).parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            Ok(_) => Err(self.error(format!("{expected} (a finite number)"), self.shown(word))),
            Err(_) => Err(self.error(format!("{expected} (a number)"), self.shown(word))),
        }
    }

    fn integer(&self, word: &Word, range: RangeInclusive<usize>, expected: &str) -> Result<usize, ReadError> {
        match self.text(word).parse::<usize>() {
            Ok(n) if range.contains(&n) => Ok(n),
            _ => {
                let (low, high) = range.into_inner();
                Err(self.error(format!("{expected} (a whole number from {low} to {high})"), self.shown(word)))
            }
        }
    }

    /// The next number of the file, wherever its line begins.
    pub fn number(&mut self, expected: &str) -> Result<f64, ReadError> {
        let word = self.word(expected)?;
        self.float(&word, expected)
    }

    /// A line of exactly `count` numbers, added to `out`.
    pub fn line_of_numbers(
        &mut self,
        count: usize,
        expected: &str,
        out: &mut Vec<f64>,
    ) -> Result<(), ReadError> {
        for done in 0..count {
            let word = self.word_of(done, count, expected)?;
            out.push(self.float(&word, expected)?);
        }
        Ok(())
    }

    /// A line of exactly `N` numbers.
    pub fn line_of<const N: usize>(&mut self, expected: &str) -> Result<[f64; N], ReadError> {
        let mut numbers = [0.0; N];
        for (done, number) in numbers.iter_mut().enumerate() {
            let word = self.word_of(done, N, expected)?;
            *number = self.float(&word, expected)?;
        }
        Ok(numbers)
    }

    /// A line that begins with `N` whole numbers below the given limits, each with its name.
    /// `count` words stand on the line.
    pub fn indices<const N: usize>(
        &mut self,
        count: usize,
        below: [(usize, &str); N],
    ) -> Result<[usize; N], ReadError> {
        let mut indices = [0; N];
        for (done, ((limit, name), index)) in below.into_iter().zip(&mut indices).enumerate() {
            let word = self.word_of(done, count, name)?;
            *index = self.integer(&word, 0..=limit.saturating_sub(1), name)?;
        }
        Ok(indices)
    }

    /// The next `N` numbers of a line that [`Words::indices`] began.
    pub fn rest_of_line<const N: usize>(
        &mut self,
        count: usize,
        expected: &str,
    ) -> Result<[f64; N], ReadError> {
        let mut numbers = [0.0; N];
        for (done, number) in numbers.iter_mut().enumerate() {
            let word = self.word_of(count - N + done, count, expected)?;
            *number = self.float(&word, expected)?;
        }
        Ok(numbers)
    }

    /// The next whole number of the current line, the last of `count` words.
    pub fn last_integer(&mut self, count: usize, max: usize, expected: &str) -> Result<usize, ReadError> {
        let word = self.word_of(count - 1, count, expected)?;
        self.integer(&word, 0..=max, expected)
    }

    /// The sizes on the first line, each at least 1, and the check that the numbers they ask for, which `total` counts,
    /// are at most `most`.
    pub fn sizes(
        &mut self,
        names: [&str; 3],
        most: usize,
        total: impl FnOnce([usize; 3]) -> Option<usize>,
    ) -> Result<[usize; 3], ReadError> {
        let mut sizes = [0; 3];
        for (done, (name, size)) in names.into_iter().zip(&mut sizes).enumerate() {
            let word = self.word_of(done, 3, name)?;
            *size = self.integer(&word, 1..=MAX_NUMBERS, name)?;
        }
        match total(sizes) {
            Some(count) if count <= most => Ok(sizes),
            _ => Err(self.error(
                format!("sizes that ask for at most {most} numbers"),
                format!("`{} {} {}`", sizes[0], sizes[1], sizes[2]),
            )),
        }
    }
}

/// A vector that grows as a file is read: room for `count` elements when that is little, else for
/// a first part, so that a file that promises much and holds little costs little.
pub(super) fn room_for<T>(count: usize) -> Vec<T> {
    Vec::with_capacity(count.min(1 << 16))
}

/// `count` equal elements, `None` when there is no memory for them.
pub(super) fn repeated<T: Clone>(element: T, count: usize) -> Option<Vec<T>> {
    collected(count, std::iter::repeat_n(element, count))
}

/// `count` elements of an iterator, `None` when there is no memory for them.
pub(super) fn collected<T>(count: usize, elements: impl Iterator<Item = T>) -> Option<Vec<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(count).ok()?;
    all.extend(elements.take(count));
    Some(all)
}

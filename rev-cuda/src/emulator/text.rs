//! The characters of a PTX text: comments left out, lines counted, words and numbers read.

use super::syntax::Operand;
use super::SyntaxError;

/// A place in a text.
pub(crate) struct Text<'a> {
    rest: &'a str,
    line: u32,
}

impl<'a> Text<'a> {
    pub fn new(text: &'a str) -> Text<'a> {
        Text { rest: text, line: 1 }
    }

    /// The line of the next word.
    pub fn line(&mut self) -> u32 {
        self.skip();
        self.line
    }

    pub fn error(&mut self, expected: &str) -> SyntaxError {
        let line = self.line();
        let found: String = self.rest.chars().take_while(|c| *c != '\n').take(30).collect();
        let found = if found.is_empty() { "the end".to_string() } else { format!("`{}`", found.trim_end()) };
        SyntaxError::new(line, format!("expected {expected}, found {found}"))
    }

    pub fn at_end(&mut self) -> bool {
        self.skip();
        self.rest.is_empty()
    }

    /// The next character that isn't blank or comment.
    pub fn peek(&mut self) -> Option<char> {
        self.skip();
        self.rest.chars().next()
    }

    pub fn accept(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.advance(c.len_utf8());
        }
        found
    }

    pub fn expect(&mut self, c: char, where_: &str) -> Result<(), SyntaxError> {
        if self.accept(c) {
            return Ok(());
        }
        Err(self.error(&format!("`{c}` {where_}")))
    }

    /// Leaves out what is left of the line.
    pub fn skip_line(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.advance(end);
    }

    /// Leaves out a quoted text.
    pub fn quoted(&mut self) -> Result<(), SyntaxError> {
        self.expect('"', "before a text")?;
        match self.rest.find('"') {
            Some(end) => self.advance(end + 1),
            None => return Err(self.error("a closing `\"`")),
        }
        Ok(())
    }

    /// A name, directive, opcode or number: letters, digits, `_`, `$`, `%`, `.` and `::`.
    pub fn word(&mut self) -> Option<&'a str> {
        self.skip();
        let bytes = self.rest.as_bytes();
        let mut end = 0;
        while let Some(c) = bytes.get(end) {
            if c.is_ascii_alphanumeric() || b"_$%.".contains(c) {
                end += 1;
            } else if *c == b':' && bytes.get(end + 1) == Some(&b':') {
                end += 2;
            } else {
                break;
            }
        }
        let word = &self.rest[..end];
        self.advance(end);
        (end > 0).then_some(word)
    }

    /// The next word, left where it is.
    pub fn peek_word(&mut self) -> Option<&'a str> {
        let (rest, line) = (self.rest, self.line);
        let word = self.word();
        (self.rest, self.line) = (rest, line);
        word
    }

    pub fn expect_word(&mut self, what: &str) -> Result<&'a str, SyntaxError> {
        match self.peek_word() {
            Some(word) => {
                self.word();
                Ok(word)
            }
            None => Err(self.error(what)),
        }
    }

    pub fn unsigned(&mut self, what: &str) -> Result<u32, SyntaxError> {
        let line = self.line();
        match self.number(what)? {
            Operand::Int(v) if (0..=i128::from(u32::MAX)).contains(&v) => Ok(v as u32),
            _ => Err(SyntaxError::new(line, format!("{what} must be an integer of at most 32 bits"))),
        }
    }

    /// A constant, with its sign.
    pub fn number(&mut self, what: &str) -> Result<Operand, SyntaxError> {
        let negative = self.accept('-');
        self.skip();
        let line = self.line;
        let bytes = self.rest.as_bytes();
        if !bytes.first().is_some_and(u8::is_ascii_digit) {
            return Err(self.error(what));
        }
        let hex = matches!(bytes, [b'0', b'x' | b'X' | b'f' | b'F' | b'd' | b'D' | b'b' | b'B', ..]);
        let mut end = 1;
        while let Some(c) = bytes.get(end) {
            let exponent = !hex && matches!(c, b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E');
            if !(c.is_ascii_alphanumeric() || *c == b'.' || exponent) {
                break;
            }
            end += 1;
        }
        let word = &self.rest[..end];
        self.advance(end);
        constant(word, negative)
            .ok_or_else(|| SyntaxError::new(line, format!("expected {what}, found `{word}`")))
    }

    fn advance(&mut self, bytes: usize) {
        self.line += self.rest[..bytes].matches('\n').count() as u32;
        self.rest = &self.rest[bytes..];
    }

    fn skip(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.advance(blank);
            if self.rest.starts_with("//") {
                self.skip_line();
            } else if self.rest.starts_with("/*") {
                let end = self.rest.find("*/").map_or(self.rest.len(), |n| n + 2);
                self.advance(end);
            } else {
                return;
            }
        }
    }
}

/// The manual's section on constants: decimal, `0x`, `0` (octal) and `0b` integers with an optional
/// `U`; `0f` and eight, `0d` and sixteen hexadecimal digits for the bits of a float; decimal floats.
fn constant(word: &str, negative: bool) -> Option<Operand> {
    let lower = word.to_ascii_lowercase();
    if let Some(bits) = lower.strip_prefix("0f") {
        let v = f32::from_bits(u32::from_str_radix(bits, 16).ok().filter(|_| bits.len() == 8)?);
        return Some(Operand::Single(if negative { -v } else { v }));
    }
    if let Some(bits) = lower.strip_prefix("0d") {
        let v = f64::from_bits(u64::from_str_radix(bits, 16).ok().filter(|_| bits.len() == 16)?);
        return Some(Operand::Double(if negative { -v } else { v }));
    }
    let digits = lower.trim_end_matches('u');
    let magnitude = if let Some(hex) = digits.strip_prefix("0x") {
        u64::from_str_radix(hex, 16).ok()?
    } else if let Some(binary) = digits.strip_prefix("0b") {
        u64::from_str_radix(binary, 2).ok()?
    } else if lower.contains(['.', 'e']) {
        let v: f64 = lower.parse().ok()?;
        return Some(Operand::Double(if negative { -v } else { v }));
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8).ok()?
    } else {
        digits.parse().ok()?
    };
    let v = i128::from(magnitude);
    Some(Operand::Int(if negative { -v } else { v }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants() {
        let read = |text: &str| Text::new(text).number("a number").ok();
        assert_eq!(read("0f3F800000"), Some(Operand::Single(1.0)));
        assert_eq!(read("-0d4000000000000000"), Some(Operand::Double(-2.0)));
        assert_eq!(read("1.5e-3"), Some(Operand::Double(1.5e-3)));
        assert_eq!(read("0xFFu"), Some(Operand::Int(255)));
        assert_eq!(read("017"), Some(Operand::Int(15)));
        assert_eq!(read("0b101"), Some(Operand::Int(5)));
        assert_eq!(read("- 7"), Some(Operand::Int(-7)));
        assert_eq!(read("18446744073709551615"), Some(Operand::Int(u64::MAX.into())));
        for wrong in ["0f3F80000", "0d0", "12z", "0x", "%r1", "18446744073709551616"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn comments_are_left_out_and_lines_counted() {
        let mut text = Text::new("a // x\n /* y\n z */ b");
        assert_eq!(text.word(), Some("a"));
        assert_eq!(text.line(), 3);
        assert_eq!(text.word(), Some("b"));
        assert!(text.at_end());
    }
}

//! Damaged texts, for readers that must refuse them without a panic.

use crate::dice::Dice;

/// The words of a text, with the space that follows each.
fn words(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut last = ' ';
    for c in text.chars() {
        match out.last_mut() {
            Some(word) if c.is_whitespace() || (is_name(c) && is_name(last)) => word.push(c),
            _ => out.push(c.to_string()),
        }
        last = c;
    }
    out
}

/// The text with one to three words or short parts left out, repeated, exchanged, or replaced by others.
pub fn mangle(text: &str, others: &[&str], dice: &mut Dice) -> String {
    let mut words = words(text);
    for _ in 0..1 + dice.below(3) {
        if words.is_empty() {
            break;
        }
        let (at, to) = (dice.below(words.len()), dice.below(words.len()));
        let other = format!("{} ", dice.pick(others).copied().unwrap_or_default());
        match dice.below(6) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[to].clone()),
            2 => words.swap(at, to),
            3 => words[at] = other,
            4 => words.insert(at, other),
            _ => {
                let end = (at + dice.below(8)).min(words.len());
                let part = words[at..end].to_vec();
                drop(words.splice(to..to, part));
            }
        }
    }
    words.concat()
}

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

/// Another word of the kind, so that some damaged texts are programs: names, numbers, signs.
fn alike(words: &[String], at: usize, dice: &mut Dice) -> usize {
    let kind = |word: &str| word.chars().next().map(|c| (c.is_alphabetic(), c.is_numeric()));
    let some = (0..20).map(|_| dice.below(words.len()));
    let some: Vec<usize> = some.collect();
    some.iter().copied().find(|to| kind(&words[*to]) == kind(&words[at])).unwrap_or(some[0])
}

/// The text with one to three words or short parts left out, repeated, exchanged, or replaced by others.
pub fn mangle(text: &str, others: &[&str], dice: &mut Dice) -> String {
    let mut words = words(text);
    for _ in 0..1 + dice.below(3) {
        if words.is_empty() {
            break;
        }
        let at = dice.below(words.len());
        let to = alike(&words, at, dice);
        let other = format!("{} ", dice.pick(others).copied().unwrap_or_default());
        match dice.below(7) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[to].clone()),
            2 => words.swap(at, to),
            3 => words[at] = words[to].clone(),
            4 if dice.chance(50) => words[at] = other,
            4 => words.insert(at, other),
            5 => words.swap(at, to),
            _ => {
                let end = (at + dice.below(8)).min(words.len());
                let part = words[at..end].to_vec();
                drop(words.splice(to..to, part));
            }
        }
    }
    words.concat()
}

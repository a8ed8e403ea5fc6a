//! Names and operators: what the printer and the parser have to agree on word by word.

use crate::ops::Func;

/// Words that a name has to be quoted to be.
const KEYWORDS: &[&str] = &[
    "anc",
    "as",
    "call",
    "compute",
    "const",
    "disjoint",
    "do",
    "else",
    "external",
    "false",
    "file",
    "fn",
    "for",
    "if",
    "in",
    "inf",
    "injective",
    "let",
    "mut",
    "named",
    "nan",
    "par",
    "partials",
    "post",
    "release",
    "struct",
    "true",
    "uncall",
    "unchecked",
    "while",
    "_",
];

/// Words with a meaning of their own before `(`.
pub(super) const HEADS: &[&str] =
    &["len", "dim", "fill", "zero", "zero_shadow", "zero_like", "stack", "contract"];

/// Type names that aren't structs or parameters.
pub(super) fn is_builtin_type(name: &str) -> bool {
    crate::ir::ScalarType::from_name(name).is_some()
        || crate::ir::FixedFormat::bits_of(name).is_some()
        || matches!(name, "Complex" | "Stack" | "Shadow" | "generic" | "function")
        || array_rank(name).is_some()
}

/// The rank that `Array2`, `ArrayD` stand for.
pub(super) fn array_rank(name: &str) -> Option<crate::ir::Rank> {
    let rank = name.strip_prefix("Array")?;
    if rank == "D" {
        return Some(crate::ir::Rank::Dynamic);
    }
    let canonical = rank.len() == 1 || !rank.starts_with('0');
    rank.parse().ok().filter(|_| canonical && !rank.starts_with('+')).map(crate::ir::Rank::Fixed)
}

/// The infix operators and how strongly they bind; all associate to the left, except that
/// comparisons don't associate.
pub(super) const INFIX: &[(Func, &str, u8)] = &[
    (Func::Or, "||", 1),
    (Func::And, "&&", 2),
    (Func::Eq, "==", COMPARISON),
    (Func::Ne, "!=", COMPARISON),
    (Func::Lt, "<", COMPARISON),
    (Func::Le, "<=", COMPARISON),
    (Func::Gt, ">", COMPARISON),
    (Func::Ge, ">=", COMPARISON),
    (Func::BitOr, "|", 4),
    (Func::BitXor, "^", 5),
    (Func::BitAnd, "&", 6),
    (Func::Shl, "<<", 7),
    (Func::Shr, ">>", 7),
    (Func::Add, "+", 8),
    (Func::Sub, "-", 8),
    (Func::Mul, "*", 9),
    (Func::Div, "/", 9),
    (Func::Rem, "%", 9),
];
/// The binding strength of comparisons.
pub(super) const COMPARISON: u8 = 3;
/// The binding strength of prefix operators.
pub(super) const UNARY: u8 = 10;

/// The prefix operators.
pub(super) const PREFIX: &[(Func, &str)] = &[(Func::Neg, "-"), (Func::Not, "!")];

/// Whether a character can start an identifier.
pub(super) fn starts_identifier(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

/// Whether a character can continue an identifier.
pub(super) fn continues_identifier(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Whether a name can stand in the text as it is.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts_identifier) && chars.all(continues_identifier) && !is_keyword(name)
}

/// Whether a word belongs to the language.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// Whether a path can stand in the text as it is.
pub(super) fn is_path(path: &str) -> bool {
    let chars: Vec<char> = path.chars().collect();
    chars.first().is_some_and(|c| starts_identifier(*c))
        && path_end(&chars, 0) == chars.len()
        && !is_keyword(path)
}

/// Where the path ends that starts at `at`: identifiers joined by `::`, with generic arguments
/// after `::` (`m::f::<T, 3>`).
pub(super) fn path_end(chars: &[char], mut at: usize) -> usize {
    loop {
        while chars.get(at).copied().is_some_and(continues_identifier) {
            at += 1;
        }
        if chars.get(at) != Some(&':') || chars.get(at + 1) != Some(&':') {
            return at;
        }
        match chars.get(at + 2) {
            Some(c) if starts_identifier(*c) => at += 2,
            Some('<') => match arguments_end(chars, at + 2) {
                Some(end) => at = end,
                None => return at,
            },
            _ => return at,
        }
    }
}

/// Where generic arguments end that start with `<` at `at`.
fn arguments_end(chars: &[char], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        match chars.get(at)? {
            '<' => depth += 1,
            '>' => depth -= 1,
            c if continues_identifier(*c) || " ,:;&[]()".contains(*c) => {}
            _ => return None,
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Whether a path reads as a constant: its last name has no lower-case letter.
pub(super) fn looks_constant(path: &str) -> bool {
    let last = path.rsplit("::").next().unwrap_or(path);
    last.chars().any(char::is_alphabetic) && !last.chars().any(char::is_lowercase)
}

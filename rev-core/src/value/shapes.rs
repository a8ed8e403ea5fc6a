//! The shapes of the arrays in a value: what two values have to agree in before one of them takes the other's place.

use std::fmt::Display;

use super::{Data, DynArg, Record, Value};
use crate::coordinates;
use crate::scalar::{Mismatch, Num, PARTS};

/// The shapes of arrays, each with where in a value it is.
#[derive(Debug, Default)]
pub struct Shapes {
    /// Whether the heights of stacks count.
    stacks: bool,
    path: String,
    found: Vec<(String, Vec<usize>)>,
}

impl Shapes {
    /// Those of a value; with the heights of its stacks, where these count.
    pub fn of(value: &(impl DynArg + ?Sized), stacks: bool) -> Shapes {
        let mut shapes = Shapes { stacks, ..Shapes::default() };
        value.shapes(&mut shapes);
        shapes
    }

    /// The shape of an array that is here.
    pub fn array(&mut self, shape: &[usize]) {
        self.found.push((self.path.clone(), shape.to_vec()));
    }

    /// The height of a stack that is here.
    pub fn stack(&mut self, height: usize) {
        if self.stacks {
            self.array(&[height]);
        }
    }

    /// What is one step further in.
    pub fn within(&mut self, step: impl Display, part: &(impl DynArg + ?Sized)) {
        let here = self.path.len();
        self.path += &step.to_string();
        part.shapes(self);
        self.path.truncate(here);
    }

    /// Those of what is inside only: the shape of the value itself aside.
    pub fn inside(mut self) -> Shapes {
        self.found.retain(|(path, _)| !path.is_empty());
        self
    }

    /// The first difference from the shapes that are found in another value.
    ///
    /// # Errors
    ///
    /// When there is one.
    pub fn expect(&self, found: &Shapes) -> Result<(), Mismatch> {
        let mut pairs = self.found.iter().zip(&found.found);
        let differing = pairs.find(|(a, b)| a != b);
        let (path, expected, found) = match (differing, self.found.len() == found.found.len()) {
            (None, true) => return Ok(()),
            (Some((a, b)), _) if a.0 == b.0 => (a.0.clone(), format!("{:?}", a.1), format!("{:?}", b.1)),
            (Some(_) | None, _) => {
                (String::new(), format!("{} arrays", self.found.len()), format!("{}", found.found.len()))
            }
        };
        Err(Mismatch { path, expected, found })
    }
}

/// Whether the arrays in two values have the same shapes, and their stacks the same heights where these count.
///
/// # Errors
///
/// The first array of which that doesn't hold.
#[inline(always)]
pub fn same_shapes<A: DynArg, B: DynArg>(expected: &A, found: &B, stacks: bool) -> Result<(), Mismatch> {
    if A::is_shaped() {
        Shapes::of(expected, stacks).expect(&Shapes::of(found, stacks))
    } else {
        Ok(())
    }
}

/// Whether the enums in two values of one type are of the same variants, or of such that hold no numbers. The names of these are in
/// small letters, as the parts of an enum have them.
///
/// # Errors
///
/// The first enum of which that doesn't hold.
pub fn same_variants(expected: &Data, found: &Data) -> Result<(), Mismatch> {
    if let (Data::Struct(a), Data::Struct(b)) = (expected, found) {
        if let (Some(ours), Some(theirs)) = (variant(a), variant(b)) {
            let has_numbers = |data: &Data| coordinates::held(data).contains(&true);
            if ours != theirs && (has_numbers(expected) || has_numbers(found)) {
                return Err(Mismatch { path: String::new(), expected: ours, found: theirs });
            }
        }
        let mut fields = a.fields.iter().zip(&b.fields);
        return fields.try_for_each(|((name, a), (_, b))| {
            let step = if &**name == PARTS { String::new() } else { format!(".{name}") };
            same_variants(a, b).map_err(|m| m.within(step))
        });
    }
    let mut parts = expected.children().zip(found.children()).enumerate();
    let step = |k| if matches!(expected, Data::Tuple(_)) { format!(".{k}") } else { format!("[{k}]") };
    parts.try_for_each(|(k, (a, b))| same_variants(a, b).map_err(|m| m.within(step(k))))
}

/// The variant that a record is, if it is the value of an enum.
fn variant(record: &Record) -> Option<String> {
    match &record.fields.first().filter(|(name, _)| &**name == PARTS)?.1 {
        Data::Tuple(parts) => match parts.first()? {
            Data::Scalar(Value::Bool(is_some)) => Some(if *is_some { "Some" } else { "None" }.into()),
            _ => None,
        },
        Data::Struct(parts) => {
            let Data::Scalar(number) = parts.fields.first()?.1 else { return None };
            let Num::Uint(number) = number.to_num() else { return None };
            let number = usize::try_from(number).ok()?;
            Some(name_of_variant(&parts.fields.get(number + 1)?.0)?.into())
        }
        _ => None,
    }
}

/// The variant of which a part is the number.
fn name_of_variant(part: &str) -> Option<&str> {
    part.strip_prefix("number_of_")
}

/// The parts of the value of an enum, each with whether the value holds it: it is a field of the value's variant. Nothing for other
/// values.
pub fn fields_of_enum(data: &Data) -> Option<Vec<(&Data, bool)>> {
    let Data::Struct(record) = data else { return None };
    let own = variant(record)?;
    match &record.fields.first()?.1 {
        Data::Tuple(parts) => Some(parts.iter().map(|part| (part, own == "Some")).collect()),
        Data::Struct(parts) => {
            let names: Vec<&str> = parts.fields.iter().filter_map(|(n, _)| name_of_variant(n)).collect();
            let begins = |part: &str, name: &&&str| part.starts_with(&format!("{name}_"));
            let of = |part: &str| names.iter().filter(|n| begins(part, n)).max_by_key(|n| n.len());
            let fields = parts.fields.iter().map(|(name, part)| (part, of(name).is_some_and(|n| *n == own)));
            Some(fields.collect())
        }
        _ => None,
    }
}

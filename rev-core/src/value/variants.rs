//! Values of enums as data: a record with one field, the parts, of which the first says which variant it is ([`crate::scalar::Variants`]).

use super::{Data, Record, Value};
use crate::coordinates;
use crate::scalar::{Mismatch, Num, PARTS};
use rev_compiler::ir::NUMBER_OF;

/// Which variant a record is that is the value of an enum: a number, or whether an `Option` is `Some`. Nothing for other records, as
/// shadows are, which have no variant.
pub fn variant_mut(record: &mut Record) -> Option<&mut Data> {
    let parts = &mut record.fields.first_mut().filter(|(name, _)| &**name == PARTS)?.1;
    let variant = match parts {
        Data::Tuple(parts) => parts.first_mut(),
        Data::Struct(parts) => parts.fields.first_mut().map(|(_, variant)| variant),
        _ => None,
    };
    variant.filter(|v| matches!(v, Data::Scalar(_)))
}

/// Makes the enums in a value of the variants that they are of in another of its type and shape.
pub fn keep_variants(data: &mut Data, of: &Data) {
    match (data, of) {
        (Data::Struct(own), Data::Struct(other)) => {
            if let (Some(own), Some(variant)) = (variant_mut(own), variant_mut(&mut other.clone())) {
                own.clone_from(variant);
            }
            own.fields.iter_mut().zip(&other.fields).for_each(|((_, a), (_, b))| keep_variants(a, b));
        }
        (Data::Array(own), Data::Array(other)) => {
            own.elements.iter_mut().zip(&other.elements).for_each(|(a, b)| keep_variants(a, b));
        }
        (Data::Tuple(own), Data::Tuple(other)) | (Data::Stack(own), Data::Stack(other)) => {
            own.iter_mut().zip(other).for_each(|(a, b)| keep_variants(a, b));
        }
        _ => {}
    }
}

/// The name of the variant that a record is, if it is the value of an enum.
pub fn variant(record: &Record) -> Option<&str> {
    match &record.fields.first().filter(|(name, _)| &**name == PARTS)?.1 {
        Data::Tuple(parts) => match parts.first()? {
            Data::Scalar(Value::Bool(is_some)) => Some(if *is_some { "Some" } else { "None" }),
            _ => None,
        },
        Data::Struct(parts) => {
            let Data::Scalar(number) = parts.fields.first()?.1 else { return None };
            let Num::Uint(number) = number.to_num() else { return None };
            parts.fields.get(usize::try_from(number).ok()? + 1)?.0.strip_prefix(NUMBER_OF)
        }
        _ => None,
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
                let [expected, found] = [ours, theirs].map(str::to_string);
                return Err(Mismatch { path: String::new(), expected, found });
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

/// The parts of the value of an enum, each with whether the value holds it: it is a field of the value's variant. Nothing for other
/// values.
pub fn fields_of_enum(data: &Data) -> Option<Vec<(&Data, bool)>> {
    let Data::Struct(record) = data else { return None };
    let own = variant(record)?;
    match &record.fields.first()?.1 {
        Data::Tuple(parts) => Some(parts.iter().map(|part| (part, own == "Some")).collect()),
        Data::Struct(parts) => {
            let names: Vec<&str> =
                parts.fields.iter().filter_map(|(n, _)| n.strip_prefix(NUMBER_OF)).collect();
            let begins = |part: &str, name: &&&str| part.starts_with(&format!("{name}_"));
            let of = |part: &str| names.iter().filter(|n| begins(part, n)).max_by_key(|n| n.len());
            let fields = parts.fields.iter().map(|(name, part)| (part, of(name).is_some_and(|n| *n == own)));
            Some(fields.collect())
        }
        _ => None,
    }
}

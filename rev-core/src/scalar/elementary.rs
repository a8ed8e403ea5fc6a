//! The elementary functions of a class, for what scalars say of each: its name, arguments and what it is.

/// `each_elementary!(Class callback tokens)` calls a macro for each function of a class: with the tokens, and
/// `name(first more) doc`.
macro_rules! each_elementary {
    ($class:ident $callback:ident ($($with:tt)*)) => {
        rev_compiler::elementary_table! { each_elementary_row, $class $callback ($($with)*) }
    };
}

macro_rules! each_elementary_row {
    ($class:ident $callback:ident $with:tt
        $(($variant:ident $name:ident $args:tt $doc:literal $own:ident $($row:tt)*))*) => {
        $(each_elementary_row! { @ $class $own $callback $with $name $args $doc })*
    };
    (@ Real Real $callback:ident ($($with:tt)*) $($row:tt)*) => { $callback! { $($with)* $($row)* } };
    (@ Field Field $callback:ident ($($with:tt)*) $($row:tt)*) => { $callback! { $($with)* $($row)* } };
    (@ $class:ident $own:ident $($row:tt)*) => {};
}

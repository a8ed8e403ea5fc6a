//! The table of functions of whole arrays: one row each, its name and its formula.
//!
//! The formula is all there is to say: what it computes, its inverse (`-=` for `+=`) and its
//! derivatives follow from it ([`Contraction`]).

use super::Contraction;

macro_rules! array_table {
    ($(($variant:ident $name:ident $formula:literal $doc:literal))*) => {
        /// A function of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ArrayFunc { $(#[doc = $doc] $variant),* }

        impl ArrayFunc {
            /// Every function.
            pub const ALL: &'static [ArrayFunc] = &[$(ArrayFunc::$variant),*];

            /// Its name in the source.
            pub fn name(self) -> &'static str {
                match self { $(ArrayFunc::$variant => stringify!($name)),* }
            }

            /// What it computes, in a few words.
            pub fn meaning(self) -> &'static str {
                match self { $(ArrayFunc::$variant => $doc),* }
            }

            /// Its formula.
            pub const fn formula(self) -> Contraction {
                match self { $(ArrayFunc::$variant => const { Contraction::known($formula) }),* }
            }

            /// The function with a name.
            pub fn from_name(name: &str) -> Option<ArrayFunc> {
                match name { $(stringify!($name) => Some(ArrayFunc::$variant),)* _ => None }
            }
        }
    };
}

array_table! {
    (Matmul matmul "ik,kj->ij" "the product of two matrices")
    (Matvec matvec "ik,k->i" "the product of a matrix and a vector")
    (Outer outer "i,j->ij" "the outer product of two vectors")
    (Zipped zipped "..,..->.." "the products of the elements of two arrays of one shape")
    (Entries entries "..->.." "the elements of an array")
    (RowSums row_sums "ij->i" "the sum of each row of a matrix")
    (ColumnSums column_sums "ij->j" "the sum of each column of a matrix")
    (Diagonal diagonal "ii->i" "the diagonal of a square matrix")
    (Dot dot "..,..->" "the sum of the products of the elements of two arrays of one shape")
    (Sum sum "..->" "the sum of all elements of an array")
    (Trace trace "ii->" "the sum of the diagonal of a square matrix")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_formula_can_be_read() {
        for f in ArrayFunc::ALL {
            let text = f.formula().to_string();
            assert_eq!(Contraction::parse(&text), Ok(f.formula()), "{}", f.name());
            assert_eq!(ArrayFunc::from_name(f.name()), Some(*f));
            // `known` gives a copy of a scalar for what can't be read
            assert_ne!(text, "->", "{}", f.name());
        }
    }
}

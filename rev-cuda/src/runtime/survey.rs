//! Answers to the questions of lowering ([`crate::measure`]), from the arguments of a call.

use super::cache::Key;
use super::marshal::{count, Packed};
use super::order::{Content, Indices};
use super::transfer::{stage, Sample};
use crate::driver::Driver;
use crate::lower::ArgumentType;
use crate::measure::{Answer, Question};
use crate::plan::{Program, Word};
use rev_core::error::Error;
use rev_core::value::DynArg;
use std::sync::Arc;

/// What is known about an argument before the program runs.
#[derive(Clone, Debug)]
pub struct Known {
    /// The length along each axis.
    pub shape: Vec<usize>,
    /// Its value, where it is an integer without axes.
    pub integer: Option<i64>,
    /// Its bytes, of an index array.
    pub content: Option<Content>,
}

/// What has to be known about the arguments of a program, however it is made.
pub struct Survey {
    questions: Vec<Question>,
    /// The first leaf of each argument.
    leaves: Vec<Option<crate::kernel::Ty>>,
}

impl Survey {
    /// The questions of a program.
    pub fn new(program: Program) -> Survey {
        let arguments = program.buffers.iter().take(program.arguments);
        let leaves = arguments.map(|b| b.leaves.first().copied()).collect();
        Survey { questions: program.questions, leaves }
    }

    /// Whether nothing has to be known.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }

    /// Whether the content of argument `k` has to be known.
    pub fn is_index(&self, k: usize) -> bool {
        self.questions.iter().any(|q| q.index.is_some_and(|index| index.0 as usize == k))
    }

    /// What is known about arguments from the host; nothing where there are no questions.
    ///
    /// # Errors
    ///
    /// A value of another type.
    pub fn known<'a>(
        &self,
        key: &Key,
        args: impl Iterator<Item = &'a dyn DynArg>,
        samples: &[Sample],
    ) -> Result<Vec<Known>, Error> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let one = |(k, ((arg, sample), ty)): (usize, ((&dyn DynArg, &Sample), &ArgumentType))| {
            if ty.rank() > 0 && !self.is_index(k) {
                return Ok(Known { shape: sample.shape(), integer: None, content: None });
            }
            let mut staged = Packed::default();
            stage(arg, sample, ty, key.options.stack_capacity, &mut staged)?;
            let (shape, integer) = (staged.shape.clone(), staged.integer(ty));
            let content = self.is_index(k).then(|| Arc::new(staged.bytes));
            Ok(Known { shape, integer, content })
        };
        args.zip(samples).zip(&key.types).enumerate().map(one).collect()
    }

    /// The answers.
    pub fn answers<D: Driver>(&self, args: &[Known], indices: &Indices<D>) -> Vec<Option<Answer>> {
        self.questions.iter().map(|q| self.answer(q, args, indices)).collect()
    }

    fn answer<D: Driver>(&self, q: &Question, args: &[Known], indices: &Indices<D>) -> Option<Answer> {
        let length = |word: &Word| known(word, args).and_then(|n| u64::try_from(n).ok());
        let (elements, terms) = (length(&q.elements)?, length(&q.terms)?);
        let touched = match q.index {
            Some(buffer) => {
                let arg = args.get(buffer.0 as usize)?;
                let content = arg.content.as_ref()?;
                let ty = (*self.leaves.get(buffer.0 as usize)?)?;
                let named = terms.min(count(&arg.shape)? as u64);
                Some(indices.of(content, ty).touched(named as usize) as u64)
            }
            None => None,
        };
        Some(Answer::new(&q.leaves, elements, terms, touched))
    }
}

/// A word that depends on arguments only.
fn known(word: &Word, args: &[Known]) -> Option<i64> {
    match word {
        Word::Const(n) => Some(*n),
        Word::Length(buffer, axis) => {
            args.get(buffer.0 as usize)?.shape.get(*axis).and_then(|n| i64::try_from(*n).ok())
        }
        Word::Argument(buffer) => args.get(buffer.0 as usize)?.integer,
        Word::Binary(op, a, b) => Some(op.apply(known(a, args)?, known(b, args)?)),
        Word::Var(_) => None,
    }
}

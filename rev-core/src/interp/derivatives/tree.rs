//! Something for each number in memory: trees beside the values, of the same shape where they are split, and one
//! leaf for all that is below where that is the same.

use crate::interp::memory::{child, CellId, Key, Location, Memory};
use crate::value::Data;

/// What is kept for a number. A complex one has two parts.
pub trait Leaf: Clone + Default {
    /// Whether it says nothing, as the default does.
    fn is_nothing(&self) -> bool;
    /// That of the real part.
    fn re(&self) -> Self;
    /// That of the imaginary part.
    fn im(&self) -> Self;
    /// The same with another one for the real part.
    fn with_re(self, re: Self) -> Self;
    /// The same with another one for the imaginary part.
    fn with_im(self, im: Self) -> Self;
}

/// Leaves for a value.
#[derive(Clone, Debug)]
pub enum Tree<L> {
    /// The leaf of a number, or of every number in the value.
    Same(L),
    /// Those of the elements, fields or values inside.
    Node(Vec<Tree<L>>),
}

impl<L: Leaf> Default for Tree<L> {
    fn default() -> Tree<L> {
        Tree::Same(L::default())
    }
}

impl<L: Leaf> Tree<L> {
    /// A tree with a leaf for each scalar of a value, in their order.
    pub fn of(data: &Data, leaf: &mut dyn FnMut(&Data) -> L) -> Tree<L> {
        match data {
            Data::Array(_) | Data::Tuple(_) | Data::Stack(_) | Data::Struct(_) => {
                Tree::Node(data.children().map(|d| Tree::of(d, leaf)).collect())
            }
            Data::Scalar(_) | Data::Literal(_) | Data::Lanes(_) | Data::Function(_) | Data::None => {
                Tree::Same(leaf(data))
            }
        }
    }

    /// The tree of the k-th element.
    pub fn child(&self, k: usize) -> Tree<L> {
        match self {
            Tree::Same(_) => self.clone(),
            Tree::Node(inner) => inner.get(k).cloned().unwrap_or_default(),
        }
    }

    /// Calls `f` on each leaf once, that of several numbers too.
    pub fn each(&self, f: &mut dyn FnMut(&L)) {
        match self {
            Tree::Same(leaf) => f(leaf),
            Tree::Node(inner) => inner.iter().for_each(|t| t.each(f)),
        }
    }

    /// Calls `f` on each scalar of a value with its leaf.
    pub fn zip(&self, data: &Data, f: &mut dyn FnMut(&Data, &L)) {
        match (data, self) {
            (Data::Array(_) | Data::Tuple(_) | Data::Stack(_) | Data::Struct(_), _) => {
                for (k, d) in data.children().enumerate() {
                    match self {
                        Tree::Same(_) => self.zip(d, f),
                        Tree::Node(inner) => inner.iter().skip(k).take(1).for_each(|t| t.zip(d, f)),
                    }
                }
            }
            (_, Tree::Same(leaf)) => f(data, leaf),
            (_, Tree::Node(inner)) => inner.iter().for_each(|t| t.zip(data, f)),
        }
    }

    /// The same with other leaves; the values are those of the tree.
    pub fn map<E>(self, data: &Data, f: &mut dyn FnMut(&Data, L) -> Result<L, E>) -> Result<Tree<L>, E> {
        match data {
            Data::Array(_) | Data::Tuple(_) | Data::Stack(_) | Data::Struct(_) => {
                let inner = self.into_children(data);
                let mapped = inner.into_iter().zip(data.children()).map(|(t, d)| t.map(d, f));
                Ok(Tree::Node(mapped.collect::<Result<_, E>>()?))
            }
            Data::Scalar(_) | Data::Literal(_) | Data::Lanes(_) | Data::Function(_) | Data::None => {
                match self {
                    Tree::Same(leaf) => Ok(Tree::Same(f(data, leaf)?)),
                    node @ Tree::Node(_) => Ok(node),
                }
            }
        }
    }

    /// The same with other leaves.
    pub fn mapped(self, f: &dyn Fn(L) -> L) -> Tree<L> {
        match self {
            Tree::Same(leaf) => Tree::Same(f(leaf)),
            Tree::Node(inner) => Tree::Node(inner.into_iter().map(|t| t.mapped(f)).collect()),
        }
    }

    /// One tree for each value inside a value.
    pub fn into_children(self, data: &Data) -> Vec<Tree<L>> {
        match self {
            Tree::Same(leaf) => vec![Tree::Same(leaf); data.children().count()],
            Tree::Node(inner) => inner,
        }
    }

    /// The tree at the end of a path.
    pub fn get(&self, path: &[Key]) -> Tree<L> {
        let mut node = self;
        for (k, key) in path.iter().enumerate() {
            match (key, node) {
                (_, Tree::Same(leaf)) => return Tree::Same(of_part(leaf, &path[k..])),
                (Key::Child(i), Tree::Node(inner)) => match inner.get(*i) {
                    Some(next) => node = next,
                    None => return Tree::default(),
                },
                (Key::Part(part), Tree::Node(_)) => {
                    return Tree::Node(part.elements().into_iter().map(|i| node.child(i)).collect());
                }
                (Key::Re | Key::Im, Tree::Node(_)) => return node.clone(),
            }
        }
        node.clone()
    }

    /// Puts a tree at the end of a path into the tree of a value; what was there.
    pub fn replace(&mut self, data: &Data, path: &[Key], new: Tree<L>) -> Tree<L> {
        let Some((key, rest)) = path.split_first() else { return std::mem::replace(self, new) };
        match key {
            Key::Child(k) => match self.split(data).get_mut(*k) {
                Some(next) => next.replace(child(data, *k), rest, new),
                None => Tree::default(),
            },
            Key::Part(part) => {
                let inner = self.split(data);
                let put = |(k, own): (usize, usize)| {
                    let next = inner.get_mut(own)?;
                    Some(std::mem::replace(next, new.child(k)))
                };
                Tree::Node(part.elements().into_iter().enumerate().filter_map(put).collect())
            }
            Key::Re | Key::Im => match (std::mem::take(self), new) {
                (Tree::Same(leaf), Tree::Same(new)) => {
                    let old = of_part(&leaf, path);
                    *self = Tree::Same(match key {
                        Key::Re => leaf.with_re(new),
                        _ => leaf.with_im(new),
                    });
                    Tree::Same(old)
                }
                (before, _) => {
                    *self = before;
                    Tree::default()
                }
            },
        }
    }

    /// The trees of the values inside.
    pub fn split(&mut self, data: &Data) -> &mut [Tree<L>] {
        if let Tree::Same(_) = self {
            *self = Tree::Node(std::mem::take(self).into_children(data));
        }
        match self {
            Tree::Node(inner) => inner,
            Tree::Same(_) => &mut [],
        }
    }
}

fn of_part<L: Leaf>(leaf: &L, path: &[Key]) -> L {
    match path.last() {
        Some(Key::Re) => leaf.re(),
        Some(Key::Im) => leaf.im(),
        Some(Key::Child(_) | Key::Part(_)) | None => leaf.clone(),
    }
}

/// The trees of all cells.
#[derive(Clone, Debug)]
pub struct Trees<L>(Vec<Tree<L>>);

impl<L> Default for Trees<L> {
    fn default() -> Trees<L> {
        Trees(Vec::new())
    }
}

impl<L: Leaf> Trees<L> {
    /// The tree at a location.
    pub fn get(&self, at: &Location) -> Tree<L> {
        self.0.get(at.cell).map_or_else(Tree::default, |tree| tree.get(&at.path))
    }

    /// Puts a tree at a location; what was there.
    pub fn replace(&mut self, memory: &Memory, at: &Location, new: Tree<L>) -> Tree<L> {
        self.cell(at.cell).replace(memory.root(at.cell), &at.path, new)
    }

    /// The tree of a cell.
    pub fn cell(&mut self, id: CellId) -> &mut Tree<L> {
        if self.0.len() <= id {
            self.0.resize_with(id + 1, Tree::default);
        }
        &mut self.0[id]
    }
}

//! Rows: an array within an array, or a complex number, of which several parts are changed, is read and written once for all of them.
//!
//! What lanes change in `x[i][0]` is read and written with all of `x[i]`, since the elements of `x` are what lies side by side.
//! So `x[i]` is held in a pack from the first statement that changes it up to the last one that accesses it, where
//! nothing in between reaches `x` otherwise.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use rev_compiler::ir::{Access, Place, Step, Stmt, StmtKind, UpdateOp};

use super::super::body::Body;
use super::super::expr::Reach;
use super::place::Spot;
use super::Kind;

/// A row that is held in a pack.
pub struct Row {
    place: Place,
    name: Ident,
    /// The code that reads it, before the statement that changes it first is reached.
    read: Option<TokenStream>,
}

impl Body<'_> {
    /// Statements, some of which hold rows.
    pub fn lane_block(&mut self, block: &[Stmt]) -> TokenStream {
        let mut out = TokenStream::new();
        let mut rest = block;
        while let [first, others @ ..] = rest {
            match self.row(rest) {
                Some((place, count)) => {
                    let (holding, after) = rest.split_at(count);
                    out.extend(self.with_row(place, holding));
                    rest = after;
                }
                None => {
                    out.extend(self.stmt(first));
                    rest = others;
                }
            }
        }
        out
    }

    /// Statements that find a row in a pack.
    fn with_row(&mut self, place: Place, statements: &[Stmt]) -> TokenStream {
        let Spot::Chosen(chosen) = self.spot(&place, Reach::Write) else {
            return self.defect("a row that isn't chosen by an index");
        };
        let (lets, name) = (chosen.lets(), self.fresh("row"));
        let read = self.accessed(&chosen, "lanes_read", &TokenStream::new(), &place);
        let write = self.accessed(&chosen, "lanes_write", &quote!(, #name), &place);
        let row = Row { place, read: Some(quote!(#name = { #lets #read };)), name: name.clone() };
        if let Some(lane) = &mut self.lane {
            lane.rows.push(row);
        }
        let statements = self.lane_block(statements);
        if let Some(lane) = &mut self.lane {
            lane.rows.pop();
        }
        quote!(let mut #name; #statements { #lets #write; })
    }

    /// The code that reads the row of which a statement changes a part, if it is the first.
    pub fn row_read(&mut self, place: &Place) -> TokenStream {
        let rows = self.lane.iter_mut().flat_map(|lane| &mut lane.rows);
        rows.filter(|row| is_in(place, &row.place)).find_map(|row| row.read.take()).unwrap_or_default()
    }

    /// The row that the first of some statements changes, and how many of them may find it in a pack; `None` where nothing
    /// accesses it again.
    fn row(&self, block: &[Stmt]) -> Option<(Place, usize)> {
        let row = self.changed(block.first()?)?;
        let (mut holding, mut all) = (0, 0);
        for (k, stmt) in block.iter().enumerate() {
            let (mut accesses, mut apart) = (0, false);
            stmt.each_access_deep(&mut |other, _| {
                if other.var == row.var {
                    accesses += 1;
                    apart |= !is_in(other, &row);
                }
            });
            if apart {
                break;
            }
            if accesses > 0 {
                (holding, all) = (k + 1, all + accesses);
            }
        }
        (all > 1).then_some((row, holding))
    }

    /// The row that a statement surely changes.
    fn changed(&self, stmt: &Stmt) -> Option<Place> {
        match &stmt.kind {
            StmtKind::Update { op: UpdateOp::Add | UpdateOp::Sub, place, .. } => self.row_of(place),
            // of two places out of range the first one fails
            StmtKind::Instr { places, .. } => self.row_of(places.first()?),
            StmtKind::Let { var, body, .. } => {
                let (k, row) = body.iter().enumerate().find_map(|(k, s)| Some((k, self.changed(s)?)))?;
                let mut found = row.indices().any(|e| e.mentions(*var));
                for stmt in &body[..k] {
                    stmt.each_access_deep(&mut |other, access| {
                        found |= other.var == row.var && access != Access::Read;
                    });
                }
                (!found).then_some(row)
            }
            _ => None,
        }
    }

    /// The row of which a place is a part, where lanes choose one each and no two of them the same.
    fn row_of(&self, place: &Place) -> Option<Place> {
        let depth = self.first_choice(place)?;
        let (up_to, part) = place.path.split_at(depth + 1);
        let row = Place { path: up_to.to_vec(), ..place.clone() };
        let fixed = |q: &Place| self.function.var(q.var).kind.never_changes();
        let reached = part.iter().all(|step| !matches!(step, Step::Field(_) | Step::Part(_)));
        let chosen = self.kind(place.var) == Kind::Uniform && !self.is_shared(place);
        let plain = !self.around.atomic.contains(&place.var)
            && self.around.claimed.iter().all(|(var, ..)| *var != place.var);
        let whole = !part.is_empty() && !self.rows().any(|held| is_in(place, &held.place));
        let stays = row.indices().flat_map(|e| e.reads()).all(fixed);
        (reached && chosen && plain && whole && stays).then_some(row)
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.lane.iter().flat_map(|lane| &lane.rows)
    }

    /// The pack that holds the row of which a place is a part, and how many steps lead to it.
    pub fn held_row(&self, place: &Place) -> Option<(Ident, usize)> {
        let held = self.rows().find(|row| row.read.is_none() && is_in(place, &row.place))?;
        Some((held.name.clone(), held.place.path.len()))
    }
}

/// Whether a place is a row or a part of it.
fn is_in(place: &Place, row: &Place) -> bool {
    let steps = row.path.len();
    place.path.len() >= steps && Place { path: place.path[..steps].to_vec(), ..place.clone() }.same(row)
}

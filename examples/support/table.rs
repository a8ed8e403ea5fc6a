//! A table on the terminal.

use std::io::{self, Write};

use comfy_table::{presets, Cell, CellAlignment, Table};

/// Rows of a name and its values under a title.
pub struct Report {
    title: String,
    table: Table,
}

impl Report {
    /// An empty table with a title and its columns' names.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Report {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED).set_header(columns);
        for (i, column) in table.column_iter_mut().enumerate() {
            column.set_cell_alignment(if i == 0 { CellAlignment::Left } else { CellAlignment::Right });
        }
        Report { title: title.into(), table }
    }

    /// Adds a row.
    pub fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) -> &mut Report {
        self.table.add_row(cells.into_iter().map(Into::into).collect::<Vec<Cell>>());
        self
    }

    /// Prints the table.
    pub fn print(&self) -> io::Result<()> {
        writeln!(io::stdout().lock(), "{}\n{}", self.title, self.table)
    }
}

/// A number with as many digits as tell two results apart by eye.
pub fn number(x: f64) -> String {
    let size = x.abs();
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        format!("{x:.6}")
    } else {
        format!("{x:.6e}")
    }
}

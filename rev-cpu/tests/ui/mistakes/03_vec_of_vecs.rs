use rev_cpu::prelude::*;

#[reversible]
fn total(y: &mut f64, rows: &Vec<Vec<f64>>) {
    for i in 0..rows.len() {
        for j in 0..rows[i].len() {
            *y += rows[i][j];
        }
    }
}

fn main() {}

//! Helpers for tables.

/// Lower quartile, median, upper quartile.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [0.25, 0.5, 0.75].map(|share| values[((values.len() - 1) as f64 * share).round() as usize])
}

/// The median, and the quartiles in brackets.
pub fn cell(values: Vec<f64>, digits: usize) -> String {
    let [low, median, high] = quartiles(values);
    format!("{median:.digits$} ({low:.digits$} to {high:.digits$})")
}

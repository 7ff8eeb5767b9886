//! Query parameters of a list page: parsing, and building the URLs that change one of them.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::column_picker::ColumnMove;
use super::columns::Column;
use super::filter_inputs::{self, INCOMPLETE, parse_filter_input};
use super::filter_row::{self, FilterRow};
use super::toolbar::Tool;
use super::trash;
use crate::language::text;
use crate::panel::target::Target;
use crate::panel::url;
use charter_core::error::{Error, Result};
use charter_core::meta::FieldMeta;
use charter_core::query::{Pair, Predicate};

/// The parsed query parameters of a list page.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListParams {
    pub rows: Vec<FilterRow>,
    /// The text of the search box.
    pub search: Option<String>,
    /// Conditions of the filter form without a field or a value. They do not apply; the form shows them again.
    pub incomplete: Vec<FilterRow>,
    pub sort: Option<String>,
    pub page: Option<String>,
    pub per_page: Option<String>,
    pub view_id: Option<i64>,
    /// The names of the chosen columns.
    pub columns: Option<Vec<String>>,
    /// True if the table shows totals of its columns.
    pub shows_totals: bool,
    /// Parameters that are passed to the API unchanged, because the filter form has no inputs for them.
    pub passthrough: Vec<Pair>,
    /// True if the parameters came from a form, and the browser is redirected to their canonical URL.
    pub needs_redirect: bool,
    /// The id of the arrow button that moved a column.
    pub pressed_arrow: Option<String>,
    /// The open tool. URLs that this type builds do not contain it.
    pub open_tool: Option<Tool>,
}

impl ListParams {
    /// Parses query parameters, or the filter form.
    ///
    /// # Errors
    /// [`Error::Malformed`] for more than [`MAX_CONDITIONS`]: a page has a link for each condition that contains all
    /// others, which makes its size quadratic.
    pub(crate) fn parse(pairs: Vec<Pair>, columns: &[Column], zone: chrono_tz::Tz) -> Result<ListParams> {
        let mut params = ListParams::default();
        let mut form_parts: Vec<(usize, &str, String)> = Vec::new();
        let mut filters: Option<String> = None;
        let mut from_filters = 0;
        let mut moves: Vec<Pair> = Vec::new();
        for Pair { name, value } in pairs {
            let blank = value.trim().is_empty();
            if let Some((number, part)) = parse_filter_input(&name) {
                form_parts.push((number, part, value));
                continue;
            }
            match name.as_str() {
                "apply" => params.needs_redirect = true,
                "_up" | "_down" => {
                    params.needs_redirect = true;
                    moves.push(Pair { name, value });
                }
                "listed" => from_filters = value.parse().unwrap_or_default(),
                "tool" => params.open_tool = Tool::from_id(&value),
                "columns" => params.columns.get_or_insert_default().extend(value.split(',').map(String::from)),
                "search" | "sort" | "page" | "per_page" | "view_id" if blank => params.needs_redirect = true,
                "search" => params.search = Some(value),
                "sort" => params.sort = Some(value),
                "page" => params.page = Some(value),
                "per_page" => params.per_page = Some(value),
                TOTALS => params.shows_totals = !blank,
                // An invalid id becomes 0, for which the API reports that the view does not exist.
                "view_id" => params.view_id = Some(value.trim().parse().unwrap_or_default()),
                INCOMPLETE => params.incomplete = filter_inputs::read_incomplete(&value),
                // The last one wins, as in the API.
                "filters" => filters = Some(value),
                _ if name.starts_with("q[") && blank => params.needs_redirect = true,
                // The form joins list elements by commas and has no input for an element that contains one.
                _ if name.ends_with("[]") && value.contains(',') => params.passthrough.push(Pair { name, value }),
                _ if name.starts_with("q[") => match FilterRow::from_parameter(&name, &value, columns) {
                    Some(row) => params.add_row(row, name.ends_with("[]")),
                    None => params.passthrough.push(Pair { name, value }),
                },
                "include" | "include[]" | "count" | "deleted" => params.passthrough.push(Pair { name, value }),
                _ => {}
            }
        }
        if let Some(text) = filters {
            let rows = serde_json::from_str(&text)
                .ok()
                .and_then(|filters| filter_row::from_json(&filters))
                .map(filter_row::normalize_first);
            match rows.filter(|rows| filter_row::are_editable(rows, columns, zone)) {
                // Conditions of `q` follow, because they narrow the result of `filters`.
                Some(rows) => {
                    let rows = rows.into_iter().map(|row| FilterRow { is_from_filters: true, ..row });
                    params.rows.splice(0..0, rows).for_each(drop);
                }
                None => params.passthrough.push(Pair { name: "filters".into(), value: text }),
            }
        }
        filter_inputs::add_rows(&mut params, form_parts, from_filters, columns, zone);
        if let Some(columns) = &mut params.columns {
            columns.retain(|name| !name.is_empty());
            for column_move in moves.iter().filter_map(ColumnMove::from_pair) {
                column_move.apply(columns);
                params.pressed_arrow = Some(column_move.arrow_id());
            }
        }
        if params.rows.len() + params.incomplete.len() > MAX_CONDITIONS {
            return Err(Error::Malformed(text!("The URL has more than {count} conditions.", count = MAX_CONDITIONS)));
        }
        Ok(params)
    }

    /// Adds a condition. Repeated `q[x_in][]` parameters are one condition.
    fn add_row(&mut self, row: FilterRow, repeated: bool) {
        let same = |other: &&mut FilterRow| other.field == row.field && other.predicate == row.predicate;
        match self.rows.iter_mut().find(same).filter(|_| repeated) {
            Some(other) => {
                other.value.push(',');
                other.value.push_str(&row.value);
            }
            None => self.rows.push(row),
        }
    }

    /// The number of leading conditions that are written as `filters`: those that came from it; all of them if the
    /// others cannot be written as `q[...]`, which are joined by "and" and unique.
    pub(crate) fn filters_param_rows(&self) -> usize {
        let from_filters = self.rows.iter().take_while(|row| row.is_from_filters).count();
        let mut seen = HashSet::with_capacity(self.rows.len());
        let fits_q = |row: &FilterRow| row.logic == "and" && !row.is_from_filters && seen.insert(row.parameter_key());
        if self.rows[from_filters..].iter().all(fits_q) { from_filters } else { self.rows.len() }
    }

    /// The conditions as `filters` and `q[...]`.
    pub(crate) fn filter_pairs(&self) -> Vec<Pair> {
        let (in_filters, in_q) = self.rows.split_at(self.filters_param_rows());
        let filters = Some(in_filters).filter(|rows| !rows.is_empty()).map(filter_row::to_json);
        let filters = filters.map(|filters| Pair { name: "filters".into(), value: filters.to_string() });
        let q =
            in_q.iter().map(|row| Pair { name: format!("q[{}]", row.parameter_key()), value: row.parameter_value() });
        filters.into_iter().chain(q).collect()
    }

    /// The conditions that the filter form has no inputs for.
    pub(crate) fn raw_conditions(&self) -> impl Iterator<Item = &Pair> {
        self.passthrough.iter().filter(|pair| pair.name.starts_with("q[") || pair.name == "filters")
    }

    /// Returns true if the list shows deleted records.
    pub(crate) fn shows_trash(&self) -> bool {
        trash::is_requested(&self.passthrough)
    }

    /// The conditions as a saved view stores them.
    pub(crate) fn filters_json(&self) -> Value {
        filter_row::to_json(&self.rows)
    }

    /// All query parameters except `page`.
    pub(crate) fn pairs(&self) -> Vec<Pair> {
        let mut pairs = self.filter_pairs();
        let pair = |name: &str, value: String| Pair { name: name.into(), value };
        pairs.extend(self.search.clone().map(|text| pair("search", text)));
        pairs.extend(self.view_id.map(|id| pair("view_id", id.to_string())));
        pairs.extend(self.columns.as_ref().map(|columns| pair("columns", columns.join(","))));
        pairs.extend(self.sort.clone().map(|sort| pair("sort", sort)));
        pairs.extend(self.per_page.clone().map(|count| pair("per_page", count)));
        pairs.extend(self.shows_totals.then(|| pair(TOTALS, "1".into())));
        pairs.extend(self.passthrough.iter().cloned());
        pairs
    }

    /// The parameters without one condition, on page 1.
    pub(crate) fn without_filter(&self, index: usize) -> ListParams {
        let mut params = ListParams { page: None, ..self.clone() };
        params.rows.remove(index);
        params.rows = filter_row::normalize_first(params.rows);
        params
    }

    /// The parameters without one of [`ListParams::raw_conditions`], on page 1.
    pub(crate) fn without_raw_condition(&self, pair: &Pair) -> ListParams {
        let mut params = ListParams { page: None, ..self.clone() };
        params.passthrough.retain(|other| other != pair);
        params
    }

    /// The parameters without the search, on page 1.
    pub(crate) fn without_search(&self) -> ListParams {
        ListParams { search: None, page: None, ..self.clone() }
    }

    /// The search as conditions of a saved view: each word is in one of these fields.
    pub(crate) fn search_conditions(&self, fields: &[&FieldMeta]) -> Vec<Value> {
        let field = fields.iter().map(|field| field.name).collect::<Vec<_>>().join("_or_");
        let words = self.search.iter().flat_map(|text| text.split_whitespace());
        let word = |word| json!({ "field": field, "predicate": Predicate::Cont.name(), "value": word, "logic": "and" });
        words.map(word).collect()
    }

    /// The URL of the page.
    pub(crate) fn page_url(&self, target: &Target<'_>) -> String {
        let mut pairs = self.pairs();
        pairs.extend(self.page.clone().map(|page| Pair { name: "page".into(), value: page }));
        url::with_query(&target.collection(), &pairs)
    }

    /// The path of the API request, without the panel's own parameters.
    pub(crate) fn api_path(&self, target: &Target<'_>, fields: Option<&str>) -> String {
        let mut pairs = self.pairs();
        pairs.retain(|pair| !["columns", TOTALS].contains(&pair.name.as_str()));
        pairs.extend(fields.map(|fields| Pair { name: "fields".into(), value: fields.into() }));
        pairs.extend(self.page.clone().map(|page| Pair { name: "page".into(), value: page }));
        url::with_query(&target.collection(), &pairs)
    }
}

/// Parameter with which the table shows totals.
const TOTALS: &str = "totals";

/// Conditions in a URL, and in the filter form: twice as many as the API accepts.
pub(super) const MAX_CONDITIONS: usize = 100;

#[cfg(test)]
mod tests;

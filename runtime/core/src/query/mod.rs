//! List requests: from the query string to SQL.
//!
//! `parse` splits the query string without looking at metadata, `plan` resolves names and reads values against the
//! resource's metadata, and `sql` and `order_by` write the statement. The module does not depend on HTTP or on the
//! caller.

pub mod condition;
mod cursor;
mod custom_field_sql;
mod describe;
mod expression;
mod order_by;
mod parse;
mod plan;
mod predicate_test;
mod relative;
mod relative_condition;
mod request;
mod resolve;
mod saved_view;
mod search;
mod sql;
mod summary;
mod summary_sql;
mod to_many;
mod trigram;
mod value;

pub use charter_model::{Predicate, Reads};
pub use condition::Condition;
pub use cursor::{Cursor, pinned_time};
pub use custom_field_sql::indexes;
pub use describe::{describe, target_name};
pub use expression::RowExpression;
pub use order_by::{KeysetRange, OrderBy, Position, PrefixSide, is_ordered};
pub use parse::{CHOICES_OF, parse};
pub use plan::{
    Count, DEFAULT_PER_PAGE, MAX_BOUND_VALUES, MAX_CONDITIONS, MAX_LIST_ELEMENTS, MAX_PER_PAGE, MAX_VALUE_CHARACTERS,
    Order, Plan, Planner, too_many_values,
};
pub use predicate_test::max_elements;
pub use relative::{DATE_PATTERN, RelativeTime, RelativeUnit, TIMESTAMP_PATTERN, WORDS};
pub use relative_condition::{ME, RelativeTo, mentions_time, refers_to_user};
pub use request::{Pair, Quantifier, Request, Term, Values, decode};
pub use resolve::{allows, embedded_names, include_names, is_filterable, may_include};
pub use saved_view::{Filter, Logic, SavedView, filters_condition, read_filters, too_many_conditions};
pub use search::{MAX_SEARCH_WORDS, search_fields, search_words};
pub use sql::{INDEX_TRIGGERS, write_condition, write_has_triggers};
pub use summary::{
    Aggregate, Function, GroupKey, MAX_AGGREGATES, MAX_GROUP_KEYS, MAX_GROUPS, Operand, Summary, SummaryRequest,
    can_aggregate, has_periods, is_key,
};
pub use summary_sql::{read_total, total_columns, write_summary};
pub use to_many::to_many_names;
pub use trigram::{indexed_condition, match_expression};
pub use value::{read_boolean, read_value};

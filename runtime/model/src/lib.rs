//! Vocabulary of resources: one table each of field types, predicates, rules, options, keywords, reserved words and
//! naming rules.
//!
//! `charter-codegen` reads it to check YAML, `charter-macros` to read attributes, `charter-runtime` to serve requests.
//! The crate has no dependencies and no state. Each field type has a file in [`field_type`]; a new one is that file and
//! its rows in `field_type/mod.rs`.

pub mod date;
pub mod diagram;
pub mod expression;
pub mod field_type;
pub mod format;
pub mod invisible;
pub mod job;
mod keyword;
pub mod literal;
pub mod naming;
mod notation;
pub mod number;
pub mod option;
mod predicate;
pub mod rate;
pub mod reserved;
mod rollup;
mod rule;
pub mod sequence;
mod storage;
pub mod title;

pub use field_type::{Arguments, FieldType, Parameters, Takes, TextFormat, TextPattern, TypeFacts, TypeWord};
pub use keyword::{
    Access, AccessWord, ActionMethod, ActionOn, Deprecated, Hook, Keyword, Numbering, OnDelete, Operation,
    RollupFunction, Shown, TimestampForm, Widget,
};
pub use literal::Misfit;
pub use notation::{Constant, Notation};
pub use number::Number;
pub use option::{FieldOption, OptionFacts, OptionTakes};
pub use predicate::{Group, Predicate, Reads};
pub use rollup::{rollup_type, takes_rollup};
pub use rule::{Format, Rule, RuleArgument, RuleFacts, RuleTakes};
pub use storage::{StandIn, Storage, StorageFacts};

//! Values as people read them: labels, numbers and money, dates and times, sizes, and any value by the kind of its field.

pub(super) mod datetime;
pub(super) mod label_texts;
pub(super) mod labels;
pub(super) mod locale;
pub(super) mod money;
pub(super) mod number_input;
pub(super) mod pattern_words;
pub(super) mod relative;
pub(super) mod rule_words;
pub(super) mod size;
pub(super) mod value;

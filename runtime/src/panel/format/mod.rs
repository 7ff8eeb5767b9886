//! Values as people read them: labels, numbers and money, dates and times, and any value by the kind of its field.

pub mod datetime;
pub mod labels;
pub mod locale;
pub mod money;
pub mod value;

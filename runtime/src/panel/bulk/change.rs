//! The change that a bulk operation makes, and the sentences about its records.

use crate::language::text;
use crate::panel::format::labels;
use crate::panel::format::money::NumberFormat;
use charter_core::meta::ResourceMeta;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Changed,
    Deleted,
    Restored,
}

impl Change {
    /// True if the panel offers to undo the change.
    pub(super) fn can_be_undone(self, meta: &ResourceMeta) -> bool {
        match self {
            Change::Changed => true,
            Change::Deleted => meta.keeps_deleted(),
            Change::Restored => false,
        }
    }

    /// `3 products were changed.` `records` is their number with the noun.
    pub(super) fn done(self, records: &str, count: i64) -> String {
        match (self, count == 1) {
            (Change::Changed, true) => text!("{records} was changed.", records = records),
            (Change::Changed, false) => text!("{records} were changed.", records = records),
            (Change::Deleted, true) => text!("{records} was deleted.", records = records),
            (Change::Deleted, false) => text!("{records} were deleted.", records = records),
            (Change::Restored, true) => text!("{records} was restored.", records = records),
            (Change::Restored, false) => text!("{records} were restored.", records = records),
        }
    }

    /// `3 products will be changed`
    pub(super) fn planned(self, numbers: &NumberFormat, meta: &ResourceMeta, count: i64) -> String {
        if count == 1 {
            let record = labels::singular(meta);
            return match self {
                Change::Changed => text!("1 {record} will be changed", record = record),
                Change::Deleted => text!("1 {record} will be deleted", record = record),
                Change::Restored => text!("1 {record} will be restored", record = record),
            };
        }
        let records = numbers.records(meta, count);
        match self {
            Change::Changed => text!("{records} will be changed", records = records),
            Change::Deleted => text!("{records} will be deleted", records = records),
            Change::Restored => text!("{records} will be restored", records = records),
        }
    }
}

/// `3 products cannot be deleted.`
pub(super) fn not_deletable(numbers: &NumberFormat, meta: &ResourceMeta, count: i64) -> String {
    match count {
        1 => text!("1 {record} cannot be deleted.", record = labels::singular(meta)),
        _ => text!("{records} cannot be deleted.", records = numbers.records(meta, count)),
    }
}

/// The sentence about records that a job did not find any more.
pub(super) fn skipped(numbers: &NumberFormat, meta: &ResourceMeta, count: i64) -> String {
    let records = numbers.records(meta, count);
    match count {
        1 => text!("{records} was skipped: deleted, or no longer matching the conditions.", records = records),
        _ => text!("{records} were skipped: deleted, or no longer matching the conditions.", records = records),
    }
}

/// The sentence about records that the API refused to change.
pub(super) fn rejected(numbers: &NumberFormat, meta: &ResourceMeta, count: i64) -> String {
    let records = numbers.records(meta, count);
    match count {
        1 => text!("{records} was rejected and left unchanged.", records = records),
        _ => text!("{records} were rejected and left unchanged.", records = records),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Tables;

    #[tokio::test]
    async fn a_result_is_in_the_language_of_the_reader() {
        assert_eq!(Change::Deleted.done("1 product", 1), "1 product was deleted.");
        assert_eq!(Change::Changed.done("2 products", 2), "2 products were changed.");
        let german = Tables::new(&[("de", "{}")]).expect("tables").find("de").expect("German");
        let done = german.scope(async { Change::Restored.done("2 Produkte", 2) }).await;
        assert_eq!(done, "2 Produkte wurden wiederhergestellt.");
    }
}

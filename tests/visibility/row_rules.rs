//! The same visibility where a row rule, and no owner, hides the folders from others.

use super::{endpoints, lists};
use crate::support::{RuledFolders, on_both};

/// Runs the tests of an owner with a row rule.
macro_rules! with_a_rule {
    ($($module:ident::$name:ident),* $(,)?) => {
        on_both!($($name),*);

        $(async fn $name(server: RuledFolders) {
            $module::$name(server.into()).await;
        })*
    };
}

with_a_rule!(
    endpoints::child_record_is_visible_with_its_parent,
    endpoints::child_record_can_be_changed_by_those_who_see_it,
    endpoints::embedded_records_share_the_visibility_of_their_record,
    endpoints::deleting_a_record_deletes_its_dependents,
    endpoints::children_of_a_deleted_parent_are_hidden,
    lists::filter_through_a_relation_matches_only_visible_records,
    lists::hidden_record_is_indistinguishable_from_a_missing_one,
    lists::saved_view_matches_only_records_visible_to_its_reader,
    lists::export_contains_the_same_records_as_the_list,
    lists::summary_aggregates_the_records_that_its_caller_sees,
    lists::audit_entries_of_a_hidden_record_are_hidden,
    lists::history_of_a_hidden_record_is_hidden_in_the_panel,
);

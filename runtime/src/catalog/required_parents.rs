//! What must hold for a record to be there at all, beside a mark of its own: that nothing is deleted which it cannot be
//! without. It is SQL on whatever stands for the record's table.

/// The condition that what a record cannot be without is there.
#[derive(Debug)]
pub struct RequiredParents {
    pub(super) needs: Vec<ParentClause>,
    /// The tables that it looks into.
    pub tables: Vec<&'static str>,
}

/// The condition that the record is there which a reference leads to: SQL before and behind the column.
#[derive(Debug)]
pub(super) struct ParentClause {
    pub before: String,
    pub column: &'static str,
    pub after: String,
}

impl RequiredParents {
    /// Writes it of the record `alias`.
    pub fn write(&self, text: &mut String, alias: &str) {
        for (index, need) in self.needs.iter().enumerate() {
            text.push_str(if index > 0 { " AND " } else { "" });
            need.write(text, alias);
        }
    }
}

impl ParentClause {
    pub fn write(&self, text: &mut String, alias: &str) {
        for part in [&self.before, alias, ".\"", self.column, "\"", &self.after] {
            text.push_str(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;
    use crate::ops::Route;

    mod shelf {
        use charter_macros::Resource;
        use sea_orm::entity::prelude::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "shelf", plural = "shelves", soft_delete)]
        pub struct Model {
            pub id: i64,
            #[field(string(9))]
            pub name: Option<String>,
            pub deleted_at: Option<DateTimeUtc>,
        }
    }

    mod crate_ {
        use charter_macros::Resource;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "crate")]
        pub struct Model {
            pub id: i64,
            #[field(string(9))]
            pub name: Option<String>,
            #[field(reference("shelf"))]
            pub shelf_id: i64,
        }
    }

    mod lamp {
        use charter_macros::Resource;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "lamp")]
        pub struct Model {
            pub id: i64,
            #[field(reference("shelf"))]
            #[derived("shelf_name", from = "shelf_id.name")]
            pub shelf_id: Option<i64>,
            #[field(reference("crate"))]
            #[derived("crate_name", from = "crate_id.name")]
            pub crate_id: Option<i64>,
        }
    }

    #[test]
    fn a_join_asks_for_what_its_record_cannot_be_without_and_for_nothing_else() {
        let routes = vec![Route::of::<shelf::Entity>(), Route::of::<crate_::Entity>(), Route::of::<lamp::Entity>()];
        let catalog = Catalog::link(routes).unwrap();
        let lamp = catalog.linked("lamp");
        for (name, join, tables) in [
            (
                "shelf_name",
                r#" LEFT JOIN "shelves" AS "t_shelf_id" ON "t_shelf_id"."id" = t."shelf_id" AND "t_shelf_id"."deleted_at" IS NULL"#,
                &["shelves"][..],
            ),
            (
                "crate_name",
                r#" LEFT JOIN "crates" AS "t_crate_id" ON "t_crate_id"."id" = t."crate_id" AND EXISTS (SELECT 1 FROM "shelves" AS s1 WHERE s1."id" = "t_crate_id"."shelf_id" AND s1."deleted_at" IS NULL)"#,
                &["crates", "shelves"][..],
            ),
            ("id", "", &[][..]),
        ] {
            let source = lamp.source(lamp.field(name).unwrap());
            let (mut text, mut found) = (String::new(), Vec::new());
            source.write_join(&mut text, "t", &mut Vec::new());
            source.tables(&mut found);
            assert_eq!((text.as_str(), found.as_slice()), (join, tables), "{name}");
        }
    }
}

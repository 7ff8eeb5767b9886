//! Condition that no required parent of a record is soft-deleted, as SQL for any alias of the record's table.

/// The condition for all required parents.
#[derive(Debug)]
pub struct RequiredParents {
    pub clauses: Vec<ParentClause>,
    /// The tables that the condition reads.
    pub tables: Vec<&'static str>,
}

/// The condition for one parent: SQL before and after the column.
#[derive(Debug)]
pub struct ParentClause {
    pub before: String,
    pub column: &'static str,
    pub after: String,
}

impl RequiredParents {
    /// Writes the condition on the record `alias`.
    pub fn write(&self, text: &mut String, alias: &str) {
        for (index, clause) in self.clauses.iter().enumerate() {
            text.push_str(if index > 0 { " AND " } else { "" });
            clause.write(text, alias);
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
    use crate::catalog::Behavior;
    use crate::catalog::Catalog;
    use crate::resource::Resource as _;

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
    fn join_checks_only_the_required_parents_of_its_record() {
        let metas = [shelf::Entity::meta(), crate_::Entity::meta(), lamp::Entity::meta()];
        let catalog = Catalog::link(metas.map(|meta| (meta, Behavior::default())).into()).unwrap();
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

use charter_runtime::generated::*;

#[derive(Clone, Debug, Input)]
pub struct ConvertInput {
    #[field(string(3))]
    pub from: String,
    #[field(string(3), required, unique, differs_from = "form")]
    pub to: String,
    #[field(decimal(18, 8), required, read_only, detail, no_sort, filter("eq"))]
    pub amount: Decimal<8>,
    pub at: Option<String>,
    pub list: Json,
}

fn main() {}

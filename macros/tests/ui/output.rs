use charter_runtime::generated::*;

#[derive(Clone, Debug, Output)]
pub struct ConvertOutput {
    #[field(string(3), required, min_length = 1, secret)]
    pub from: String,
    #[field(decimal(18, 8), default = "0")]
    pub amount: Decimal<4>,
    pub rate: f64,
}

fn main() {}

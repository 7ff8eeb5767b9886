//! Well-known formats of text.

/// Whether a text is an e-mail address: something before one `@`, a domain behind it, no white space, which is what mail
/// servers agree on.
pub fn is_email(text: &str) -> bool {
    let word =
        |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control() || c == '@');
    text.rsplit_once('@').is_some_and(|(local, domain)| word(local) && domain.split('.').all(word))
}

#[cfg(test)]
mod tests {
    use super::is_email;

    #[test]
    fn an_address_has_one_at_sign_and_a_domain() {
        for text in ["a@example.com", "a.b+c@example", "ä@ö.example"] {
            assert!(is_email(text), "{text}");
        }
        for text in ["nobody", "a@", "@b", "a@b..c", "a b@c", "a@b@c", "a\u{1}@b.example", "a@b.", ".@."] {
            assert!(!is_email(text), "{text}");
        }
    }
}

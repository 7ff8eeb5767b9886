//! Well-known formats of text.

/// True for an e-mail address: text before one `@`, a domain after it, no white space. Mail servers agree on no more.
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

//! Errors as a table: each variant with its text.

/// Shows an error by the text of its variant, which includes the text of an error within it: so there is no source.
macro_rules! error_texts {
    ($error:ident { $($variant:pat $(if $is_so:expr)? => $text:literal $(, $value:expr)*;)* }) => {
        impl std::fmt::Display for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($variant $(if $is_so)? => write!(f, $text $(, $value)*),)*
                }
            }
        }

        impl std::error::Error for $error {}
    };
}
pub(crate) use error_texts;

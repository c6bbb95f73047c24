//! Errors as a table: each variant with its text.

/// Shows an error by the text of its variant, which includes the text of an error within it. `source` lists what is the cause of
/// what: the cause of a variant that says nothing of its own is that of the error within it.
macro_rules! error_texts {
    ($error:ident { $($variant:pat $(if $is_so:expr)? => $text:literal $(, $value:expr)*;)* }
        $(source { $($outer:pat => $cause:expr;)* })?) => {
        impl std::fmt::Display for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($variant $(if $is_so)? => write!(f, $text $(, $value)*),)*
                }
            }
        }

        impl std::error::Error for $error {
            $(fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                match self {
                    $($outer => $cause,)*
                    _ => None,
                }
            })?
        }
    };
}
pub(crate) use error_texts;

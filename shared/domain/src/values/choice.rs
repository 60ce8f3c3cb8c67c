//! Macros for enums that are read and written as codes.

/// Defines an enum each of whose values has a code, as which it is serialised.
#[macro_export]
macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident $code:literal)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $code)] $variant,)*
        }

        impl $name {
            /// All values.
            pub const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];

            /// The code of the value.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }
        }
    };
}

/// As [`codes`], with the parser and the constraint of such a value.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($variants:tt)* }) => {
        $crate::codes! { $(#[$doc])* $name { $($variants)* } }

        impl std::str::FromStr for $name {
            type Err = $crate::ValueError;

            /// `Required` for an empty text, `Value` for an unknown code.
            fn from_str(text: &str) -> Result<Self, $crate::ValueError> {
                let error = if text.is_empty() { $crate::ValueError::Required } else { $crate::ValueError::Value };
                Self::ALL.into_iter().find(|value| value.code() == text).ok_or(error)
            }
        }

        impl $crate::Constrained for $name {
            fn constraint() -> $crate::Constraint {
                $crate::Constraint::allowed(Self::ALL.iter().map(|value| value.code()))
            }
        }
    };
}

pub(crate) use {choice, codes};

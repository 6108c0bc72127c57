//! Prior knowledge about the encoding, before the text is examined.

use std::{env, sync::LazyLock};

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, GBK, KOI8_U, SHIFT_JIS, WINDOWS_874, WINDOWS_1250, WINDOWS_1251, WINDOWS_1253, WINDOWS_1254,
    WINDOWS_1255, WINDOWS_1256,
};

use crate::Encoding;

/// The encodings that are likely before a text is examined: those of the user's language and those of other
/// files in the project. The prior decides between about equally plausible readings.
#[derive(Clone, Debug, Default)]
pub struct Prior {
    likely: Vec<&'static encoding_rs::Encoding>,
}

impl Prior {
    /// The prior for a locale such as `ja_JP.UTF-8`.
    pub fn of_locale(locale: &str) -> Self {
        let likely: &[&'static encoding_rs::Encoding] = match locale.split(['_', '.', '@']).next().unwrap_or_default() {
            "ja" => &[SHIFT_JIS, EUC_JP],
            "zh" if locale.contains("_TW") || locale.contains("_HK") => &[BIG5],
            "zh" => &[GBK],
            "ko" => &[EUC_KR],
            "ru" | "uk" | "be" | "bg" | "sr" | "mk" => &[WINDOWS_1251, KOI8_U],
            "el" => &[WINDOWS_1253],
            "pl" | "cs" | "sk" | "hu" | "sl" | "hr" | "ro" => &[WINDOWS_1250],
            "tr" => &[WINDOWS_1254],
            "he" => &[WINDOWS_1255],
            "ar" | "fa" | "ur" => &[WINDOWS_1256],
            "th" => &[WINDOWS_874],
            _ => &[],
        };
        Self { likely: likely.to_vec() }
    }

    /// This prior with another likely encoding, for example that of another file in the folder.
    #[must_use]
    pub fn with(mut self, encoding: Encoding) -> Self {
        if let Encoding::Legacy(encoding) = encoding {
            self.likely.push(encoding);
        }
        self
    }

    /// The prior for the locale of this process.
    pub(crate) fn of_process() -> &'static Self {
        static PRIOR: LazyLock<Prior> = LazyLock::new(|| {
            let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
            let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
            Prior::of_locale(&locale.unwrap_or_default())
        });
        &PRIOR
    }

    pub(crate) fn favours(&self, encoding: &'static encoding_rs::Encoding) -> bool {
        self.likely.contains(&encoding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_favours_the_encodings_of_its_language() {
        for (locale, favoured, other) in [
            ("ja_JP.UTF-8", EUC_JP, GBK),
            ("ja", SHIFT_JIS, EUC_KR),
            ("zh_TW.UTF-8", BIG5, GBK),
            ("zh_HK", BIG5, GBK),
            ("zh_CN.UTF-8", GBK, BIG5),
            ("ko_KR@euro", EUC_KR, SHIFT_JIS),
            ("uk_UA", KOI8_U, WINDOWS_1250),
            ("sr@latin", WINDOWS_1251, WINDOWS_1250),
        ] {
            let prior = Prior::of_locale(locale);
            assert!(prior.favours(favoured) && !prior.favours(other), "{locale}");
        }
        for none in ["", "C", "POSIX", "en_US.UTF-8", "jav", "_JP", "JA_JP"] {
            assert!(Prior::of_locale(none).likely.is_empty(), "{none}");
        }
    }

    #[test]
    fn the_encoding_of_another_file_is_added_unless_it_is_unicode() {
        let prior = Prior::of_locale("ja").with(Encoding::Legacy(GBK)).with(Encoding::Unicode(crate::Unicode::Utf8));
        assert!(prior.favours(GBK) && prior.favours(SHIFT_JIS));
        assert_eq!(prior.likely.len(), 3);
    }
}

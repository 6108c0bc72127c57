//! Prior knowledge about the encoding, before the text is examined.

use std::{env, sync::LazyLock};

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, GB18030, GBK, ISO_8859_2, KOI8_R, KOI8_U, SHIFT_JIS, WINDOWS_874, WINDOWS_1250, WINDOWS_1251,
    WINDOWS_1253, WINDOWS_1254, WINDOWS_1255, WINDOWS_1256,
};

use crate::Encoding;

/// The encodings that are likely before a text is examined: that of the user's locale, or those of its language, and that
/// of other texts of the project. The prior decides between about equally plausible readings.
#[derive(Clone, Debug, Default)]
pub struct Prior {
    likely: Vec<&'static encoding_rs::Encoding>,
    /// That of the other texts.
    of_others: Option<&'static encoding_rs::Encoding>,
}

/// The advantage, in bits, of an encoding that the locale favours.
const OF_LOCALE: u32 = 8;

/// The advantage, in bits, of the encoding of the other texts, which are better evidence than the locale. Of the 287 lines
/// of `tests/one_liners.tsv`, 286 are right beside texts of their encoding (280 without a prior; 285 with 8 bits) and 260 to
/// 275 beside texts of another (256 with 16 bits).
const OF_OTHERS: u32 = 12;

impl Prior {
    /// The prior for a locale such as `ja_JP.UTF-8` or `ru_RU.KOI8-R`. A legacy encoding that the locale names is the only
    /// likely one.
    pub fn of_locale(locale: &str) -> Self {
        if let Some(named) = named_by(locale) {
            return Self { likely: vec![named], of_others: None };
        }
        let likely: &[&'static encoding_rs::Encoding] = match locale.split(['_', '.', '@']).next().unwrap_or_default() {
            "ja" => &[SHIFT_JIS, EUC_JP],
            "zh" if locale.contains("_TW") || locale.contains("_HK") => &[BIG5],
            "zh" => &[GBK],
            "ko" => &[EUC_KR],
            "ru" | "uk" | "be" | "bg" | "sr" | "mk" => &[WINDOWS_1251, KOI8_U],
            "el" => &[WINDOWS_1253],
            "pl" | "cs" | "sk" | "hu" | "sl" | "hr" | "ro" => &[WINDOWS_1250, ISO_8859_2],
            "tr" => &[WINDOWS_1254],
            "he" => &[WINDOWS_1255],
            "ar" | "fa" | "ur" => &[WINDOWS_1256],
            "th" => &[WINDOWS_874],
            _ => &[],
        };
        Self { likely: likely.to_vec(), of_others: None }
    }

    /// The prior for the locale of this process.
    pub fn of_process() -> Self {
        static PRIOR: LazyLock<Prior> = LazyLock::new(|| {
            let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
            let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
            Prior::of_locale(&locale.unwrap_or_default())
        });
        PRIOR.clone()
    }

    /// This prior, with `encoding` as that of the other texts.
    pub(super) fn with_encoding(self, encoding: Option<&'static encoding_rs::Encoding>) -> Self {
        Self { of_others: encoding, ..self }
    }

    /// The advantage of `encoding` in bits.
    pub(super) fn advantage(&self, encoding: &'static encoding_rs::Encoding) -> u32 {
        let of_locale = if self.likely.contains(&encoding) { OF_LOCALE } else { 0 };
        of_locale + if self.of_others == Some(encoding) { OF_OTHERS } else { 0 }
    }
}

/// The most that [`Prior::advantage`] gives.
pub(super) const MOST: u32 = OF_LOCALE + OF_OTHERS;

/// The legacy encoding that `locale` names, as a candidate of the detection.
fn named_by(locale: &str) -> Option<&'static encoding_rs::Encoding> {
    let (_, charset) = locale.split_once('.')?;
    let charset = charset.split('@').next().unwrap_or_default().to_ascii_lowercase();
    // The C library omits hyphens that the Encoding Standard requires.
    let label = match charset.as_str() {
        "eucjp" => "euc-jp",
        "euckr" => "euc-kr",
        "euccn" => "gbk",
        "koi8r" => "koi8-r",
        "koi8u" => "koi8-u",
        "tis620" => "tis-620",
        label => label,
    };
    match Encoding::named(label)? {
        Encoding::Legacy(encoding) if encoding == KOI8_R => Some(KOI8_U),
        Encoding::Legacy(encoding) if encoding == GB18030 => Some(GBK),
        Encoding::Legacy(encoding) => Some(encoding),
        Encoding::Unicode(_) => None,
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
            assert!(prior.advantage(favoured) == OF_LOCALE && prior.advantage(other) == 0, "{locale}");
        }
        for none in ["", "C", "POSIX", "en_US.UTF-8", "jav", "_JP", "JA_JP"] {
            assert!(Prior::of_locale(none).likely.is_empty(), "{none}");
        }
    }

    #[test]
    fn a_locale_favours_the_encoding_that_it_names_alone() {
        for (locale, favoured, other) in [
            ("ru_RU.CP1251", WINDOWS_1251, KOI8_U),
            ("ru_RU.KOI8-R", KOI8_U, WINDOWS_1251),
            ("ru_RU.koi8r", KOI8_U, WINDOWS_1251),
            ("ja_JP.eucJP", EUC_JP, SHIFT_JIS),
            ("ja_JP.SJIS", SHIFT_JIS, EUC_JP),
            ("zh_CN.GB18030", GBK, BIG5),
            ("pl_PL.ISO8859-2@euro", ISO_8859_2, WINDOWS_1250),
        ] {
            let prior = Prior::of_locale(locale);
            assert!(prior.advantage(favoured) == OF_LOCALE && prior.advantage(other) == 0, "{locale}");
        }
        assert_eq!(Prior::of_locale("ru_RU.klingon").advantage(KOI8_U), OF_LOCALE);
    }
}

//! What the names that authors give to elements hint at: classes, ids and roles, word by word.
//!
//! A name is only ever a hint among others that the model weighs; pages in any language use these.

use foldhash::HashMap;

use crate::{
    tag::{Attr, Tag},
    tree::{Id, Tree},
};

/// A set of hints, one bit each.
pub(super) type Hints = u64;

/// How many kinds of hint there are.
pub(super) const KINDS: usize = 42;

/// Lists of words, found by hash: no table is built at every start.
struct Lexicon<const SLOTS: usize> {
    lists: &'static [&'static [&'static str]],
    /// Which word of which list stands where its hash says, or in the next slot that was free; counted from one.
    slots: [(u8, u8); SLOTS],
}

impl<const SLOTS: usize> Lexicon<SLOTS> {
    const fn new(lists: &'static [&'static [&'static str]]) -> Self {
        let mut slots = [(0, 0); SLOTS];
        let mut list = 0;
        while list < lists.len() {
            let mut at = 0;
            while at < lists[list].len() {
                let mut slot = Self::slot(lists[list][at].as_bytes());
                while slots[slot].0 > 0 {
                    slot = (slot + 1) % SLOTS;
                }
                at += 1;
                slots[slot] = (list as u8 + 1, at as u8);
            }
            list += 1;
        }
        Self { lists, slots }
    }

    /// Where a word stands, unless others were there before.
    const fn slot(word: &[u8]) -> usize {
        let (mut hash, mut at) = (0_u32, 0);
        while at < word.len() {
            hash = (hash ^ word[at] as u32).wrapping_mul(0x0100_0193);
            at += 1;
        }
        (hash >> 16) as usize % SLOTS
    }

    /// The lists that a word is in, one bit each.
    fn lists_of(&self, word: &[u8]) -> u64 {
        let mut found = 0;
        let mut slot = Self::slot(word);
        while let (list @ 1.., at) = self.slots[slot] {
            let list = usize::from(list) - 1;
            found |= u64::from(self.lists[list][usize::from(at) - 1].as_bytes() == word) << list;
            slot = (slot + 1) % SLOTS;
        }
        found
    }
}

const WORDS: [&[&str]; KINDS - 12] = [
    &[
        "nav",
        "navbar",
        "navigation",
        "menu",
        "menubar",
        "submenu",
        "megamenu",
        "topnav",
        "subnav",
        "navi",
        "gnb",
        "lnb",
        "offcanvas",
        "drawer",
    ],
    &["sidebar", "side", "aside", "rail", "sidenav", "complementary", "left", "right", "secondary", "tertiary"],
    &["footer", "foot", "contentinfo", "bottom", "colophon", "subfooter", "fnb"],
    &["header", "masthead", "topbar", "banner", "top", "head", "titlebar"],
    &["breadcrumb", "breadcrumbs", "crumb", "crumbs", "breadcrumbwrapper", "pathway", "trail"],
    &[
        "share",
        "sharing",
        "social",
        "socials",
        "follow",
        "facebook",
        "twitter",
        "addthis",
        "sharedaddy",
        "sns",
        "linkedin",
        "whatsapp",
    ],
    &[
        "related",
        "recommend",
        "recommended",
        "recommendation",
        "recommendations",
        "similar",
        "more",
        "upsell",
        "upsells",
        "crosssell",
        "trending",
        "popular",
        "also",
        "suggested",
        "suggestions",
        "next",
        "recent",
        "recently",
        "latest",
    ],
    &["comment", "comments", "respond", "disqus", "commentlist", "replies", "discussion", "feedback"],
    &["cookie", "cookies", "consent", "gdpr", "onetrust", "privacy", "cmp", "ccpa", "didomi"],
    &[
        "ad",
        "ads",
        "advert",
        "advertisement",
        "adsbygoogle",
        "sponsor",
        "sponsored",
        "promo",
        "promotion",
        "promotions",
        "dfp",
        "outbrain",
        "taboola",
    ],
    &["modal", "popup", "overlay", "dialog", "lightbox", "tooltip", "popover", "toast", "flyout", "dropdown"],
    &["newsletter", "subscribe", "subscription", "signup", "optin", "mailing", "mailchimp", "klaviyo"],
    &["widget", "widgets", "block", "module", "plugin"],
    &["pagination", "pager", "paging", "pagenav", "page-numbers", "prev", "previous", "nextprev", "loadmore"],
    &[
        "toolbar", "actions", "action", "controls", "buttons", "button", "btn", "tools", "tool", "filter", "filters",
        "sort", "facet", "facets", "refine",
    ],
    &[
        "meta",
        "byline",
        "author",
        "authors",
        "date",
        "time",
        "timestamp",
        "published",
        "dateline",
        "posted",
        "info",
        "bio",
        "avatar",
        "credit",
        "profile",
        "user",
        "username",
        "signature",
        "userinfo",
        "postprofile",
    ],
    &["tag", "tags", "category", "categories", "topics", "keywords", "cat", "label", "labels", "badge"],
    &["search", "searchform", "searchbox", "query", "autocomplete"],
    &["login", "signin", "register", "account", "cart", "basket", "checkout", "wishlist", "minicart", "bag", "compare"],
    &[
        "skip",
        "sr",
        "screen",
        "visually",
        "visuallyhidden",
        "offscreen",
        "hidden",
        "hide",
        "noprint",
        "invisible",
        "assistive",
    ],
    &["toc", "contents", "onthispage", "outline", "index", "jump"],
    &["content", "contents", "main", "body", "maincontent", "primary", "page", "container", "wrapper"],
    &[
        "article",
        "post",
        "entry",
        "story",
        "blog",
        "news",
        "text",
        "prose",
        "richtext",
        "rte",
        "markdown",
        "copy",
        "wysiwyg",
        "paragraph",
    ],
    &["product", "item", "products", "sku", "shop", "price", "prices", "goods", "woocommerce", "pdp", "variant", "buy"],
    &[
        "description",
        "desc",
        "detail",
        "details",
        "summary",
        "spec",
        "specs",
        "specification",
        "specifications",
        "features",
        "feature",
        "excerpt",
        "intro",
        "overview",
        "about",
        "tab",
        "tabs",
        "accordion",
        "faq",
        "faqs",
        "question",
    ],
    &[
        "message",
        "msg",
        "thread",
        "topic",
        "answer",
        "answers",
        "reply",
        "postbody",
        "forum",
        "bbwrapper",
        "messages",
        "cooked",
        "quote",
        "qa",
    ],
    &[
        "list",
        "listing",
        "listings",
        "results",
        "result",
        "grid",
        "card",
        "cards",
        "collection",
        "archive",
        "feed",
        "row",
        "col",
        "items",
        "tile",
        "teaser",
    ],
    &["review", "reviews", "rating", "ratings", "testimonial", "testimonials", "stars"],
    &[
        "hero",
        "slider",
        "carousel",
        "slide",
        "swiper",
        "slick",
        "gallery",
        "jumbotron",
        "cta",
        "services",
        "service",
        "section",
        "team",
    ],
    &["caption", "figcaption", "figure", "image", "img", "photo", "media", "video", "player", "icon", "logo"],
];

/// The hint that an element is hidden: the eighth of those that are no names.
pub(super) const HIDDEN: Hints = 1 << (WORDS.len() + 7);

/// The hints of one element's own names, tag and role; those of names that were `met` before are known.
pub(super) fn own<'t>(tree: &'t Tree, id: Id, met: &mut HashMap<&'t str, Hints>) -> Hints {
    let mut hints = 0;
    for name in [Attr::Class, Attr::Id, Attr::Itemprop, Attr::DataTestid, Attr::AriaLabel] {
        if let Some(value) = tree.attr(id, name) {
            hints |= *met.entry(value).or_insert_with(|| of_names(value));
        }
    }
    let role = tree.attr(id, Attr::Role).unwrap_or_default();
    let tag = tree.tag(id);
    let structural = [
        tag == Tag::Nav || matches!(role, "navigation" | "menu" | "menubar" | "tablist" | "toolbar"),
        tag == Tag::Header || role == "banner",
        tag == Tag::Footer || role == "contentinfo",
        tag == Tag::Aside || role == "complementary",
        tag == Tag::Main || role == "main",
        tag == Tag::Article || role == "article",
        tag == Tag::Form || tag == Tag::Fieldset || tag == Tag::Search || role == "search",
        tree.node(id).hidden,
        tree.node(id).aria_hidden,
        tag == Tag::Noscript,
        matches!(tag, Tag::Button | Tag::Label | Tag::Legend | Tag::Summary),
        tag == Tag::Dialog || matches!(role, "dialog" | "alertdialog" | "alert"),
    ];
    for (at, set) in structural.into_iter().enumerate() {
        hints |= u64::from(set) << (WORDS.len() + at);
    }
    hints
}

/// The hints of a class list or an id.
pub(super) fn of_names(names: &str) -> Hints {
    static KNOWN: Lexicon<1024> = Lexicon::new(&WORDS);
    let mut hints = 0;
    each_word(names, |word| hints |= KNOWN.lists_of(word));
    hints
}

/// The words that a class list or an id is made of, in lower case; letters by themselves are none.
pub(super) fn each_word(names: &str, mut put: impl FnMut(&[u8])) {
    const LONGEST: usize = 24;
    let names = names.as_bytes();
    let mut put_lower = |word: &[u8]| {
        let mut lower = [0; LONGEST];
        let lower = &mut lower[..word.len().min(LONGEST)];
        lower.copy_from_slice(&word[..lower.len()]);
        lower.make_ascii_lowercase();
        put(lower);
    };
    let mut start = 0;
    for at in 0..=names.len() {
        let b = names.get(at).copied().unwrap_or(b' ');
        let is_letter = b.is_ascii_alphabetic();
        if is_letter && !(b.is_ascii_uppercase() && at > 0 && names[at - 1].is_ascii_lowercase()) {
            continue;
        }
        if at > start + 1 {
            put_lower(&names[start..at]);
        }
        start = if is_letter { at } else { at + 1 };
    }
}

/// How many kinds of phrase there are.
pub(super) const PHRASES: usize = 10;

/// What short texts around content say, by what they are for; a few languages that the model met.
const SAID: [&[&str]; PHRASES] = [
    &[
        "cookie",
        "privacy",
        "terms",
        "copyright",
        "rights",
        "reserved",
        "legal",
        "imprint",
        "impressum",
        "datenschutz",
        "confidentialité",
        "プライバシー",
        "隐私",
    ],
    &["subscribe", "newsletter", "email", "inbox", "abonnieren", "订阅", "登録"],
    &["log", "login", "sign", "account", "register", "anmelden", "connexion", "ログイン", "登录", "로그인"],
    &[
        "cart",
        "checkout",
        "wishlist",
        "basket",
        "buy",
        "shipping",
        "delivery",
        "returns",
        "warenkorb",
        "panier",
        "カート",
        "购物车",
    ],
    &[
        "share",
        "follow",
        "tweet",
        "facebook",
        "twitter",
        "instagram",
        "linkedin",
        "youtube",
        "pinterest",
        "whatsapp",
        "シェア",
    ],
    &["comment", "comments", "reply", "replies", "kommentare", "commentaires", "コメント", "评论", "댓글"],
    &[
        "related",
        "recommended",
        "similar",
        "popular",
        "trending",
        "latest",
        "recent",
        "also",
        "more",
        "featured",
        "ähnliche",
        "関連",
        "相关",
        "관련",
    ],
    &[
        "menu",
        "search",
        "skip",
        "home",
        "contact",
        "navigation",
        "back",
        "next",
        "previous",
        "page",
        "filter",
        "sort",
        "results",
        "show",
        "load",
        "view",
    ],
    &["review", "reviews", "rating", "ratings", "stars", "verified", "helpful", "customer", "bewertungen", "レビュー"],
    &[
        "posted",
        "author",
        "published",
        "updated",
        "ago",
        "minutes",
        "min",
        "read",
        "views",
        "likes",
        "joined",
        "member",
        "tags",
        "category",
    ],
];

/// The kinds of phrase that a text has words of.
pub(super) fn said(text: &str) -> u16 {
    /// How many words are read.
    const READ: usize = 16;
    /// No plain word that is known is longer.
    const LONGEST: usize = 16;
    static KNOWN: Lexicon<512> = Lexicon::new(&SAID);
    if text.is_ascii() {
        let words = text.as_bytes().split(|b| !b.is_ascii_alphanumeric());
        let mut lower = [0; LONGEST];
        return words.filter(|word| word.len() > 2).take(READ).fold(0, |said, word| {
            let Some(lower) = lower.get_mut(..word.len()) else { return said };
            lower.copy_from_slice(word);
            lower.make_ascii_lowercase();
            said | KNOWN.lists_of(lower) as u16
        });
    }
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).take(READ);
    words.fold(0, |said, word| said | KNOWN.lists_of(word.to_lowercase().as_bytes()) as u16)
}

/// What the words of an address hint at, and how it is built: the last numbers are its depth, the
/// hyphens and digits of its last part, and whether it has a query. All are -1 without an address.
pub(super) fn of_address(address: Option<&url::Url>) -> [f32; 11] {
    const PARTS: [&[&str]; 7] = [
        &["product", "products", "p", "dp", "item", "itm", "sku", "pd", "ip"],
        &[
            "collection",
            "collections",
            "category",
            "categories",
            "c",
            "catalog",
            "shop",
            "store",
            "cat",
            "browse",
            "all",
        ],
        &[
            "forum",
            "forums",
            "thread",
            "threads",
            "topic",
            "t",
            "questions",
            "discussion",
            "discussions",
            "comments",
            "showthread",
            "viewtopic",
            "community",
            "answers",
            "qa",
            "r",
        ],
        &[
            "docs",
            "doc",
            "documentation",
            "wiki",
            "guide",
            "guides",
            "reference",
            "manual",
            "api",
            "learn",
            "help",
            "tutorial",
            "handbook",
        ],
        &[
            "blog", "news", "article", "articles", "post", "posts", "story", "stories", "magazine", "insights",
            "opinion",
        ],
        &[
            "service",
            "services",
            "solutions",
            "solution",
            "about",
            "company",
            "pricing",
            "features",
            "platform",
            "industries",
            "consulting",
        ],
        &["tag", "tags", "topics", "archive", "search", "list", "jobs", "top", "best", "index", "events", "directory"],
    ];
    let Some(address) = address else { return [-1.0; 11] };
    let mut numbers = [0.0; 11];
    let path = address.path().to_ascii_lowercase();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let host = address.host_str().unwrap_or_default();
    let words = parts.iter().flat_map(|part| part.split(['-', '_', '.'])).chain(host.split('.'));
    for word in words {
        for (kind, known) in PARTS.iter().enumerate() {
            if known.contains(&word) {
                numbers[kind] = 1.0;
            }
        }
    }
    let last = parts.last().copied().unwrap_or_default();
    numbers[7] = parts.len() as f32;
    numbers[8] = last.matches(['-', '_']).count() as f32;
    numbers[9] = last.bytes().filter(u8::is_ascii_digit).count() as f32;
    numbers[10] = f32::from(u8::from(address.query().is_some()));
    numbers
}

//! The elements and attributes that this crate handles, as small integers.

macro_rules! names {
    ($(#[$doc:meta])* $kind:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $kind { $($variant),+, Other }

        impl $kind {
            /// The kind called `name`, in lower case.
            pub(crate) fn from_name(name: &str) -> Self {
                match name { $($name => Self::$variant,)+ _ => Self::Other }
            }
        }
    };
}

names! {
    /// An element's name, or what stands for the page itself and for a run of text.
    Tag {
        Root = "#root", Text = "#text",
        A = "a", Abbr = "abbr", Address = "address", Annotation = "annotation", Applet = "applet",
        Article = "article", Aside = "aside", Audio = "audio", B = "b", Base = "base", Big = "big",
        Blockquote = "blockquote", Body = "body", Br = "br", Button = "button", Canvas = "canvas",
        Caption = "caption", Center = "center", Cite = "cite", Code = "code", Col = "col", Colgroup = "colgroup",
        Datalist = "datalist", Dd = "dd", Del = "del", Details = "details", Dfn = "dfn", Dialog = "dialog",
        Dir = "dir", Div = "div", Dl = "dl", Dt = "dt", Em = "em", Embed = "embed", Fieldset = "fieldset",
        Figcaption = "figcaption", Figure = "figure", Font = "font", Footer = "footer", Form = "form",
        Frameset = "frameset", H1 = "h1", H2 = "h2", H3 = "h3", H4 = "h4", H5 = "h5", H6 = "h6", Head = "head",
        Header = "header", Hgroup = "hgroup", Hr = "hr", Html = "html", I = "i", Iframe = "iframe", Img = "img",
        Input = "input", Ins = "ins", Kbd = "kbd", Label = "label", Legend = "legend", Li = "li", Link = "link",
        Listing = "listing", Main = "main", Mark = "mark", Marquee = "marquee", Math = "math", Menu = "menu",
        Meta = "meta", Nav = "nav", Nobr = "nobr", Noscript = "noscript", Object = "object", Ol = "ol",
        Optgroup = "optgroup", Option = "option", P = "p", Picture = "picture", Plaintext = "plaintext", Pre = "pre",
        Q = "q", Rp = "rp", Rt = "rt", Ruby = "ruby", S = "s", Samp = "samp", Script = "script", Search = "search",
        Section = "section", Select = "select", Slot = "slot", Small = "small", Source = "source", Span = "span",
        Strike = "strike", Strong = "strong", Style = "style", Sub = "sub", Summary = "summary", Sup = "sup",
        Svg = "svg", Table = "table", Tbody = "tbody", Td = "td", Template = "template", Textarea = "textarea",
        Tfoot = "tfoot", Th = "th", Thead = "thead", Time = "time", Title = "title", Tr = "tr", Tt = "tt", U = "u",
        Ul = "ul", Var = "var", Video = "video", Wbr = "wbr", Xmp = "xmp",
    }
}

names! {
    /// An attribute's name, or what stands for the source of a start tag.
    Attr {
        Source = "#source",
        Align = "align", Alt = "alt", Alttext = "alttext", AriaControls = "aria-controls", AriaHidden = "aria-hidden", AriaLabel = "aria-label",
        AriaLabelledby = "aria-labelledby", AriaSelected = "aria-selected", Checked = "checked",
        Class = "class", Colspan = "colspan", Commandfor = "commandfor", Content = "content", DataLang = "data-lang",
        DataLanguage = "data-language", DataLazySrc = "data-lazy-src", DataOriginal = "data-original",
        DataSrc = "data-src", DataBsTarget = "data-bs-target", DataSrcset = "data-srcset", DataTarget = "data-target", DataTestid = "data-testid", Datetime = "datetime", Display = "display",
        Encoding = "encoding", For = "for", Hidden = "hidden", Href = "href", Id = "id", Itemprop = "itemprop",
        Itemtype = "itemtype", Lang = "lang", Open = "open", Popover = "popover", Popovertarget = "popovertarget", Role = "role", Rowspan = "rowspan", Shadowrootmode = "shadowrootmode", Src = "src", Srcset = "srcset",
        Start = "start", Style = "style", Title = "title", Type = "type", Value = "value",
    }
}

impl Tag {
    /// Whether the element begins a line of its own.
    pub(crate) fn is_block(self) -> bool {
        use Tag::{
            Address, Article, Aside, Blockquote, Body, Button, Caption, Center, Dd, Details, Dialog, Dir, Div, Dl, Dt,
            Fieldset, Figcaption, Figure, Footer, Form, Frameset, H1, H2, H3, H4, H5, H6, Header, Hgroup, Hr, Legend,
            Li, Listing, Main, Menu, Nav, Ol, Optgroup, P, Plaintext, Pre, Root, Search, Section, Summary, Table,
            Tbody, Td, Tfoot, Th, Thead, Tr, Ul, Xmp,
        };
        matches!(
            self,
            Address
                | Article
                | Aside
                | Blockquote
                | Body
                | Button
                | Caption
                | Center
                | Dd
                | Details
                | Dialog
                | Dir
                | Div
                | Dl
                | Dt
                | Fieldset
                | Figcaption
                | Figure
                | Footer
                | Form
                | Frameset
                | H1
                | H2
                | H3
                | H4
                | H5
                | H6
                | Header
                | Hgroup
                | Hr
                | Legend
                | Li
                | Listing
                | Main
                | Menu
                | Nav
                | Ol
                | Optgroup
                | P
                | Plaintext
                | Pre
                | Root
                | Search
                | Section
                | Summary
                | Table
                | Tbody
                | Td
                | Tfoot
                | Th
                | Thead
                | Tr
                | Ul
                | Xmp
        )
    }

    /// Whether a start tag of this kind ends an open paragraph.
    pub(crate) fn ends_paragraph(self) -> bool {
        self.is_block()
            && !matches!(
                self,
                Tag::Caption
                    | Tag::Tbody
                    | Tag::Td
                    | Tag::Tfoot
                    | Tag::Th
                    | Tag::Thead
                    | Tag::Tr
                    | Tag::Legend
                    | Tag::Optgroup
                    | Tag::Body
                    | Tag::Button
            )
    }

    /// Whether the element never has content.
    pub(crate) fn is_void(self) -> bool {
        matches!(
            self,
            Tag::Base
                | Tag::Br
                | Tag::Col
                | Tag::Embed
                | Tag::Hr
                | Tag::Img
                | Tag::Input
                | Tag::Link
                | Tag::Meta
                | Tag::Source
                | Tag::Wbr
        )
    }

    /// Whether what the element contains is never part of a page's text.
    pub(crate) fn is_silent(self) -> bool {
        matches!(
            self,
            Tag::Applet
                | Tag::Audio
                | Tag::Canvas
                | Tag::Datalist
                | Tag::Embed
                | Tag::Iframe
                | Tag::Object
                | Tag::Option
                | Tag::Optgroup
                | Tag::Script
                | Tag::Select
                | Tag::Style
                | Tag::Svg
                | Tag::Textarea
                | Tag::Video
                | Tag::Rp
                | Tag::Title
        )
    }

    /// Whether the standard reopens the element where its nesting is broken.
    pub(crate) fn is_formatting(self) -> bool {
        matches!(
            self,
            Tag::A
                | Tag::B
                | Tag::Big
                | Tag::Code
                | Tag::Em
                | Tag::Font
                | Tag::I
                | Tag::Nobr
                | Tag::S
                | Tag::Small
                | Tag::Strike
                | Tag::Strong
                | Tag::Tt
                | Tag::U
        )
    }

    /// Whether the element is a part of a table, or the table itself.
    pub(crate) fn is_table_part(self) -> bool {
        matches!(self, Tag::Caption | Tag::Table | Tag::Tbody | Tag::Td | Tag::Tfoot | Tag::Th | Tag::Thead | Tag::Tr)
    }

    /// The level of a heading, 1 to 6.
    pub(crate) fn heading_level(self) -> Option<u8> {
        match self {
            Tag::H1 => Some(1),
            Tag::H2 => Some(2),
            Tag::H3 => Some(3),
            Tag::H4 => Some(4),
            Tag::H5 => Some(5),
            Tag::H6 => Some(6),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_elements_do_not_contradict_each_other() {
        for tag in [Tag::P, Tag::Div, Tag::Table, Tag::Td, Tag::H3, Tag::Li, Tag::Hr] {
            assert!(tag.is_block() && !tag.is_formatting(), "{tag:?}");
        }
        for tag in [Tag::Br, Tag::Img, Tag::Input, Tag::Wbr] {
            assert!(tag.is_void() && !tag.is_block(), "{tag:?}");
        }
        // A cell begins a line, but a paragraph around it goes on.
        assert!(Tag::Div.ends_paragraph() && !Tag::Td.ends_paragraph() && !Tag::Span.ends_paragraph());
        assert!(Tag::Td.is_table_part() && !Tag::Div.is_table_part());
        assert!(Tag::Script.is_silent() && !Tag::Noscript.is_silent());
        assert!(Tag::Em.is_formatting() && !Tag::Span.is_formatting());
    }

    #[test]
    fn headings_have_a_level() {
        assert_eq!([Tag::H1, Tag::H6, Tag::Header].map(Tag::heading_level), [Some(1), Some(6), None]);
    }
}

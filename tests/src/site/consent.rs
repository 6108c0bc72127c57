//! Consent banners in the structure of the common platforms, and of nobody in particular.
//!
//! Each page has an article, and says what was chosen: "Chosen: declined." or "Chosen: accepted.".

use super::{ask::PageRequest, html, http::Response, server::Reply};

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let name = match ask.rest()[..] {
        ["message"] => return Some(html::page("Message", MESSAGE).into()),
        ["script", ..] => return Some(Response::new("text/javascript", LATE_SCRIPT).into()),
        [name] => name,
        _ => return None,
    };
    let banner = match name {
        "again" if ask.request.header("cookie").is_some_and(|cookies| cookies.contains("refused=yes")) => {
            "<script>chosen('declined')</script>".to_owned()
        }
        "sourcepoint" => SOURCEPOINT.replace("OTHER", &format!("http://localhost:{}/consent", ask.port)),
        name => CONSENT_BANNERS.iter().find(|(known, _)| *known == name)?.1.to_owned(),
    };
    let body = format!("<main><h1>Tides</h1>{}<p id=\"chosen\"></p></main>{CHOSEN}{banner}", html::prose(name, 4));
    Some(html::page("Tides", &body).into())
}

/// What each page's banner does when something is chosen: it goes, and the page says what it was.
const CHOSEN: &str = "<style>.over { position: fixed; bottom: 0; left: 0; right: 0; padding: 1em; background: #fff; border: 1px solid }</style><script>
  const chosen = text => { document.getElementById('chosen').append(`Chosen: ${text}.`); };
  const end = (selector, text) => { for (const box of document.querySelectorAll(selector)) box.remove(); chosen(text); };
  const show = selector => { document.querySelector(selector).hidden = false; };
</script>";

/// The banners, each with the name of its page.
pub const CONSENT_BANNERS: [(&str, &str); 22] = [
    (
        "onetrust",
        r#"<div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk" class="over" role="region" aria-label="Cookie banner"><p>We value your privacy and use cookies.</p>
<button id="onetrust-pc-btn-handler" onclick="chosen('settings')">Cookie Settings</button>
<button id="onetrust-accept-btn-handler" onclick="end('#onetrust-consent-sdk', 'accepted')">Accept All Cookies</button>
<button id="onetrust-reject-all-handler" onclick="end('#onetrust-consent-sdk', 'declined')">Reject All</button></div></div>"#,
    ),
    // Its first layer has no refusal, its second one switches.
    (
        "onetrust-choices",
        r#"<div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk" class="over"><p>We use cookies.</p>
<button id="onetrust-pc-btn-handler" onclick="setTimeout(show, 200, '#onetrust-pc-sdk')">Cookie Settings</button>
<button id="onetrust-accept-btn-handler" onclick="end('#onetrust-consent-sdk', 'accepted')">Accept All</button></div>
<div id="onetrust-pc-sdk" class="over" role="dialog" hidden><label><input type="checkbox" checked disabled> Necessary</label> <label><input type="checkbox" class="category" checked> Advertising</label>
<button id="accept-recommended-btn-handler" onclick="end('#onetrust-consent-sdk', 'accepted')">Allow All</button>
<button class="save-preference-btn-handler onetrust-close-btn-handler" onclick="end('#onetrust-consent-sdk', document.querySelector('.category').checked ? 'accepted' : 'declined')">Confirm My Choices</button></div></div>"#,
    ),
    (
        "cookiebot",
        r#"<div id="CybotCookiebotDialog" class="over" role="dialog" aria-modal="true"><p>This website uses cookies.</p>
<a id="CybotCookiebotDialogPoweredbyCybot" href="https://www.cookiebot.com/">Powered by Cookiebot</a>
<button id="CybotCookiebotDialogBodyButtonDecline" onclick="end('#CybotCookiebotDialog', 'declined')">Deny</button>
<button id="CybotCookiebotDialogBodyLevelButtonLevelOptinAllowAll" onclick="end('#CybotCookiebotDialog', 'accepted')">Allow all</button></div>"#,
    ),
    (
        "didomi",
        r#"<div id="didomi-host"><div id="didomi-popup" class="over"><p>Avec nos partenaires, nous utilisons des cookies.</p>
<span class="didomi-continue-without-agreeing" role="button" tabindex="0" onclick="end('#didomi-host', 'declined')">Continuer sans accepter →</span>
<button id="didomi-notice-learn-more-button">En savoir plus</button>
<button id="didomi-notice-agree-button" onclick="end('#didomi-host', 'accepted')">Accepter &amp; fermer</button></div></div>"#,
    ),
    (
        "usercentrics",
        r#"<div id="usercentrics-root"></div><script>{
  const root = document.getElementById('usercentrics-root').attachShadow({ mode: 'open' });
  root.innerHTML = `<div data-testid="uc-default-banner" style="position:fixed;bottom:0"><p>Wir verwenden Cookies.</p><button data-testid="uc-more-button">Mehr</button>
    <button data-testid="uc-deny-all-button">Ablehnen</button><button data-testid="uc-accept-all-button">Alles akzeptieren</button></div>`;
  root.querySelector('[data-testid=uc-deny-all-button]').onclick = () => end('#usercentrics-root', 'declined');
  root.querySelector('[data-testid=uc-accept-all-button]').onclick = () => end('#usercentrics-root', 'accepted');
}</script>"#,
    ),
    // Two layers: the first has no refusal.
    (
        "quantcast",
        r#"<div id="qc-cmp2-container" class="qc-cmp2-container"><div id="qc-cmp2-ui" class="over"><p>We and our partners store cookies.</p>
<div class="qc-cmp2-summary-buttons"><button mode="secondary" onclick="this.parentElement.remove(); show('#second')">MORE OPTIONS</button> <button mode="primary" onclick="end('#qc-cmp2-container', 'accepted')">AGREE</button></div>
<div id="second" hidden><button onclick="end('#qc-cmp2-container', 'declined')">REJECT ALL</button> <button onclick="end('#qc-cmp2-container', 'accepted')">ACCEPT ALL</button></div></div></div>"#,
    ),
    (
        "trustarc",
        r##"<div id="truste-consent-track" class="over"><p>This site uses cookies and similar technologies.</p>
<button id="truste-consent-button" onclick="end('#truste-consent-track', 'accepted')">Agree and Proceed</button>
<button id="truste-consent-required" onclick="end('#truste-consent-track', 'declined')">Required Only</button>
<a id="truste-show-consent" href="#">More Info</a></div>"##,
    ),
    ("sourcepoint", ""),
    (
        "cookieyes",
        r#"<div class="cky-consent-container cky-box-bottom-left over" role="region"><p>We value your privacy.</p>
<button class="cky-btn cky-btn-customize">Customise</button>
<button class="cky-btn cky-btn-reject" data-cky-tag="reject-button" onclick="end('.cky-consent-container', 'declined')">Reject All</button>
<button class="cky-btn cky-btn-accept" onclick="end('.cky-consent-container', 'accepted')">Accept All</button></div>"#,
    ),
    (
        "complianz",
        r#"<div id="cmplz-cookiebanner-container"><div class="cmplz-cookiebanner over" role="dialog"><p>Om de beste ervaringen te bieden, gebruiken wij cookies.</p>
<button class="cmplz-btn cmplz-accept" onclick="end('#cmplz-cookiebanner-container', 'accepted')">Accepteren</button>
<button class="cmplz-btn cmplz-deny" onclick="end('#cmplz-cookiebanner-container', 'declined')">Weigeren</button></div></div>"#,
    ),
    (
        "klaro",
        r#"<div id="klaro"><div class="klaro"><div class="cookie-notice over" role="dialog"><p>Hi! Could we please enable some additional services?</p><a class="cm-link cn-learn-more" href="javascript:void 0">Let me choose</a>
<button class="cm-btn cm-btn-danger cn-decline" onclick="end('#klaro', 'declined')">I decline</button>
<button class="cm-btn cm-btn-success" onclick="end('#klaro', 'accepted')">That's ok</button></div></div></div>"#,
    ),
    (
        "osano",
        r#"<div class="osano-cm-window"><div class="osano-cm-dialog over" role="dialog"><p>This website utilizes technologies such as cookies.</p>
<button class="osano-cm-accept-all osano-cm-button" onclick="end('.osano-cm-window', 'accepted')">Accept All</button>
<button class="osano-cm-denyAll osano-cm-button" onclick="end('.osano-cm-window', 'declined')">Reject Non-Essential</button></div></div>"#,
    ),
    (
        "iubenda",
        r#"<div id="iubenda-cs-banner" class="over" role="alertdialog"><p>Noi e terze parti selezionate utilizziamo cookie.</p>
<button class="iubenda-cs-customize-btn">Scopri di più</button> <button class="iubenda-cs-reject-btn" onclick="end('#iubenda-cs-banner', 'declined')">Rifiuta</button>
<button class="iubenda-cs-accept-btn" onclick="end('#iubenda-cs-banner', 'accepted')">Accetta</button></div>"#,
    ),
    (
        "consentmanager",
        r#"<div id="cmpbox" class="cmpbox over"><p>Wir verwenden Cookies.</p><a class="cmpboxbtn cmpboxbtnyes" id="cmpbntyestxt" role="button" onclick="end('#cmpbox', 'accepted')">Alle akzeptieren</a>
<a class="cmpboxbtn cmpboxbtnno" id="cmpbntnotxt" role="button" onclick="end('#cmpbox', 'declined')">Alle ablehnen</a></div>"#,
    ),
    (
        "generic",
        r#"<div class="hint over"><p>Wir nutzen Cookies, um die Seite zu verbessern.</p><a href="/page/privacy">Datenschutz</a>
<button onclick="end('.hint', 'accepted')">Alle akzeptieren</button> <button onclick="end('.hint', 'declined')">Nur notwendige Cookies</button></div>"#,
    ),
    (
        "generic-dialog",
        r#"<dialog open id="d"><h2>Cookies on this site</h2><p>Choose.</p><input type="button" value="Accept" onclick="end('#d', 'accepted')"> <input type="button" value="Continue without accepting" onclick="end('#d', 'declined')"></dialog>"#,
    ),
    // It comes after the page, from the script of a platform.
    ("late", r#"<script src="/consent/script/cookielaw.org/otSDKStub.js"></script>"#),
    // The page is loaded again once something is chosen.
    (
        "again",
        r#"<div id="cookie-bar" class="over"><p>We use cookies.</p><button onclick="document.cookie = 'refused=yes'; location.reload()">Decline</button> <button onclick="end('#cookie-bar', 'accepted')">Accept</button></div>"#,
    ),
    // It does not go.
    (
        "stays",
        r#"<div id="cookie-bar" class="over"><p>We use cookies.</p><button onclick="chosen('declined')">Decline</button> <button onclick="end('#cookie-bar', 'accepted')">Accept</button></div>"#,
    ),
    // No refusal: of a platform, and of nobody in particular.
    (
        "onetrust-accept",
        r#"<div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk" class="over"><p>We use cookies.</p><button id="onetrust-reject-all-handler" onclick="end('#onetrust-consent-sdk', 'accepted')">Accept all cookies</button></div></div>"#,
    ),
    (
        "only-ok",
        r#"<div id="cookie-bar" class="over"><p>By using this site, you agree to our use of cookies.</p><button onclick="end('#cookie-bar', 'accepted')">OK</button> <a href="/page/privacy">Reject them in your browser</a></div>"#,
    ),
    // Nothing of this is a banner.
    (
        "none",
        r#"<div role="dialog" class="over"><p>Ada invites you to her station.</p><button onclick="chosen('declined')">Decline</button></div><section class="about"><p>Cookies are small files.</p></section>"#,
    ),
];

const SOURCEPOINT: &str = r#"<div id="sp_message_container_1" class="over"><iframe id="sp_message_iframe_1" src="OTHER/message" width="500" height="90"></iframe></div>
<script>addEventListener('message', ({ data }) => end('#sp_message_container_1', data));</script>"#;

const MESSAGE: &str = r#"<div class="message-container"><div class="message"><p>We and our 800 partners use cookies.</p>
<button class="message-button sp_choice_type_11" onclick="parent.postMessage('accepted', '*')">Accept all</button>
<button class="message-button sp_choice_type_13" onclick="parent.postMessage('declined', '*')">Reject all</button></div></div>"#;

const LATE_SCRIPT: &str = r#"AbortSignal.timeout(700).addEventListener('abort', () => document.body.insertAdjacentHTML('beforeend',
  `<div id="onetrust-banner-sdk" class="over"><p>Cookies.</p><button onclick="end('#onetrust-banner-sdk', 'accepted')">OK</button>
   <button id="onetrust-reject-all-handler" onclick="end('#onetrust-banner-sdk', 'declined')">Reject All</button></div>`));"#;

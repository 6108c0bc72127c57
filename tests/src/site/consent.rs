//! Consent banners in the structure of the common platforms, and custom ones.
//!
//! Each page has an article, and says what was chosen: "Chosen: declined." or "Chosen: accepted.".

use super::{html, http::Response, request::PageRequest, server::Reply};

pub(super) fn reply(ask: &PageRequest<'_>) -> Option<Reply> {
    let name = match ask.rest()[..] {
        ["message"] => return Some(html::page("Message", MESSAGE).into()),
        ["silence", ..] => return Some(Response::new("text/javascript", "").into()),
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

/// The behaviour of each banner on a choice: it disappears, and the page shows the choice.
const CHOSEN: &str = "<style>.over { position: fixed; bottom: 0; left: 0; right: 0; padding: 1em; background: #fff; border: 1px solid }</style><script>
  const chosen = text => { document.getElementById('chosen').append(`Chosen: ${text}.`); };
  const end = (selector, text) => { for (const box of document.querySelectorAll(selector)) box.remove(); chosen(text); };
  const show = selector => { document.querySelector(selector).hidden = false; };
</script>";

/// The banners, each with the name of its page.
pub const CONSENT_BANNERS: [(&str, &str); 39] = [
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
    // Their own classes, ids and labels.
    (
        "borlabs",
        r##"<div id="BorlabsCookieBox" class="BorlabsCookie over" role="dialog" aria-modal="true"><div class="_brlbs-box"><p>Wir nutzen Cookies auf unserer Website.</p>
<p class="_brlbs-accept"><a href="#" role="button" class="_brlbs-btn _brlbs-btn-accept-all" data-cookie-accept-all onclick="end('#BorlabsCookieBox', 'accepted')">Ich akzeptiere alle</a></p>
<p class="_brlbs-refuse-btn"><a href="#" role="button" class="_brlbs-btn" data-cookie-refuse onclick="end('#BorlabsCookieBox', 'declined')">Nur essenzielle Cookies akzeptieren</a></p>
<p class="_brlbs-manage-btn"><a href="#" role="button" data-cookie-individual>Individuelle Datenschutzeinstellungen</a></p></div></div>"##,
    ),
    (
        "termly",
        r#"<div class="termly-styles-root over"><div role="alertdialog" aria-label="Cookie Consent Prompt" data-tid="banner-container"><p>We use essential cookies to make our site work.</p>
<button data-tid="banner-preferences">Preferences</button> <button data-tid="banner-decline" onclick="end('.termly-styles-root', 'declined')">Decline</button>
<button data-tid="banner-accept" onclick="end('.termly-styles-root', 'accepted')">Accept</button></div></div>"#,
    ),
    (
        "cookie-information",
        r#"<div id="coiOverlay" class="over" role="dialog" aria-modal="true"><div id="coi-banner-wrapper"><h2>Cookies</h2><p>Vi bruger cookies til statistik og markedsføring.</p>
<button id="declineButton" class="coi-banner__decline" aria-label="Afvis alle" onclick="end('#coiOverlay', 'declined')">Afvis alle</button>
<button class="coi-banner__accept" aria-label="Tillad alle" onclick="end('#coiOverlay', 'accepted')">Tillad alle</button></div></div>"#,
    ),
    (
        "cookiefirst",
        r#"<div id="cookiefirst-root" class="cookiefirst-root notranslate"><div role="dialog" class="over" aria-label="Cookie consent"><p>We use cookies to give you a better experience.</p>
<button data-cookiefirst-action="adjust">Adjust</button> <button data-cookiefirst-action="reject" onclick="end('#cookiefirst-root', 'declined')">Reject</button>
<button data-cookiefirst-action="accept" onclick="end('#cookiefirst-root', 'accepted')">Accept all</button></div></div>"#,
    ),
    // Its buttons are not `button` elements.
    (
        "cookie-script",
        r#"<div id="cookiescript_injected" class="over"><div id="cookiescript_header">This website uses cookies</div><div id="cookiescript_buttons">
<div id="cookiescript_accept" tabindex="0" onclick="end('#cookiescript_injected', 'accepted')">Accept all</div>
<div id="cookiescript_reject" tabindex="0" onclick="end('#cookiescript_injected', 'declined')">Decline all</div></div></div>"#,
    ),
    (
        "tarteaucitron",
        r#"<div id="tarteaucitronRoot"><div id="tarteaucitronAlertBig" class="over"><span id="tarteaucitronDisclaimerAlert">Ce site utilise des cookies et vous donne le contrôle.</span>
<button id="tarteaucitronPersonalize2" class="tarteaucitronCTAButton tarteaucitronAllow" onclick="end('#tarteaucitronRoot', 'accepted')">OK, tout accepter</button>
<button id="tarteaucitronAllDenied2" class="tarteaucitronCTAButton tarteaucitronDeny" onclick="end('#tarteaucitronRoot', 'declined')">Interdire tous les cookies</button>
<button id="tarteaucitronCloseAlert">Personnaliser</button></div></div>"#,
    ),
    // Two layers: the second one has switches.
    (
        "funding-choices",
        r#"<div class="fc-consent-root"><div class="fc-dialog-container"><div class="fc-dialog fc-choice-dialog over" role="dialog"><p>This site asks for consent to use your data.</p>
<div class="fc-footer"><button class="fc-button fc-cta-manage-options" aria-label="Manage options" onclick="this.parentElement.remove(); show('.fc-data-preferences')">Manage options</button>
<button class="fc-button fc-cta-consent" aria-label="Consent" onclick="end('.fc-consent-root', 'accepted')">Consent</button></div>
<div class="fc-data-preferences" hidden><label><input type="checkbox" class="fc-preference-slider" checked> Legitimate interest</label> <label><input type="checkbox"> Consent</label>
<button class="fc-button fc-data-preferences-accept-all" onclick="end('.fc-consent-root', 'accepted')">Accept all</button>
<button class="fc-button fc-confirm-choices" onclick="end('.fc-consent-root', document.querySelector('.fc-preference-slider').checked ? 'accepted' : 'declined')">Confirm choices</button></div></div></div></div>"#,
    ),
    (
        "axeptio",
        r#"<div id="axeptio_overlay"><div class="axeptio_widget over" role="dialog"><p>Bonjour, c'est nous, les cookies !</p>
<button id="axeptio_btn_dismiss" onclick="end('#axeptio_overlay', 'declined')">Non merci</button> <button id="axeptio_btn_configure">Je choisis</button>
<button id="axeptio_btn_acceptAll" onclick="end('#axeptio_overlay', 'accepted')">OK pour moi</button></div></div>"#,
    ),
    (
        "cookie-notice",
        r##"<div id="cookie-notice" class="cookie-notice-visible over" role="dialog" aria-label="Cookie Notice"><div class="cookie-notice-container"><span id="cn-notice-text">We use cookies to ensure the best experience.</span>
<span id="cn-notice-buttons"><a href="#" id="cn-accept-cookie" data-cookie-set="accept" onclick="end('#cookie-notice', 'accepted')">Ok</a>
<a href="#" id="cn-refuse-cookie" data-cookie-set="refuse" onclick="end('#cookie-notice', 'declined')">No</a></span></div></div>"##,
    ),
    (
        "hubspot",
        r#"<div id="hs-banner-parent"><div id="hs-eu-cookie-confirmation" class="over" role="dialog"><div id="hs-eu-cookie-confirmation-inner"><p>This website stores cookies on your computer.</p>
<button id="hs-eu-confirmation-button" onclick="end('#hs-banner-parent', 'accepted')">Accept</button>
<button id="hs-eu-decline-button" onclick="end('#hs-banner-parent', 'declined')">Decline</button></div></div></div>"#,
    ),
    (
        "moove",
        r#"<aside id="moove_gdpr_cookie_info_bar" class="moove-gdpr-info-bar-default over" role="dialog"><div class="moove-gdpr-info-bar-container"><p>We are using cookies.</p>
<button class="mgbutton moove-gdpr-infobar-allow-all" onclick="end('#moove_gdpr_cookie_info_bar', 'accepted')">Accept</button>
<button class="mgbutton moove-gdpr-infobar-reject-btn" onclick="end('#moove_gdpr_cookie_info_bar', 'declined')">Reject</button>
<button class="mgbutton moove-gdpr-infobar-settings-btn">Settings</button></div></aside>"#,
    ),
    (
        "civic",
        r#"<div id="ccc"><div id="ccc-notify" class="over" role="dialog"><h2>Our use of cookies</h2><p>We use necessary cookies to make our site work.</p><div class="ccc-notify-buttons">
<button id="ccc-notify-accept" class="ccc-notify-button" onclick="end('#ccc', 'accepted')"><span>Accept</span></button>
<button id="ccc-notify-reject" class="ccc-notify-button" onclick="end('#ccc', 'declined')"><span>Reject</span></button><button class="ccc-notify-link">Settings</button></div></div></div>"#,
    ),
    (
        "cookieconsent",
        r#"<div id="cc-main"><div class="cm-wrapper"><div class="cm cm--box over" role="dialog" aria-modal="true"><h2 class="cm__title">We use cookies</h2>
<button type="button" class="cm__btn" data-role="all" onclick="end('#cc-main', 'accepted')"><span>Accept all</span></button>
<button type="button" class="cm__btn" data-role="necessary" onclick="end('#cc-main', 'declined')"><span>Reject all</span></button>
<button type="button" class="cm__btn cm__btn--secondary" data-role="show">Manage preferences</button></div></div></div>"#,
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
    // Its choices cannot be turned off for certain, or the button that saves them is not known.
    (
        "onetrust-radio",
        r#"<div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk" class="over"><p>We use cookies.</p>
<button id="onetrust-pc-btn-handler" onclick="show('#onetrust-pc-sdk')">Cookie Settings</button></div>
<div id="onetrust-pc-sdk" class="over" role="dialog" hidden><label><input type="checkbox" checked> Advertising</label> <label><input type="radio" checked> Vendors</label>
<button class="save-preference-btn-handler" onclick="end('#onetrust-consent-sdk', 'accepted')">Confirm My Choices</button></div></div>"#,
    ),
    (
        "onetrust-unlisted",
        r#"<div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk" class="over"><p>We use cookies.</p>
<button id="onetrust-pc-btn-handler" onclick="show('#onetrust-pc-sdk')">Cookie Settings</button></div>
<div id="onetrust-pc-sdk" class="over" role="dialog" hidden><label><input type="checkbox" checked> Advertising</label>
<button onclick="end('#onetrust-consent-sdk', 'accepted')">Save preferences</button></div></div>"#,
    ),
    (
        "only-ok",
        r#"<div id="cookie-bar" class="over"><p>By using this site, you agree to our use of cookies.</p><button onclick="end('#cookie-bar', 'accepted')">OK</button> <a href="/page/privacy">Reject them in your browser</a></div>"#,
    ),
    // The script of a platform that shows none: yet, and because the answer is known.
    ("silent", r#"<script src="/consent/silence/cookielaw.org/otSDKStub.js"></script>"#),
    (
        "answered",
        r#"<script>document.cookie = 'OptanonAlertBoxClosed=2026-01-01T00:00:00.000Z; path=/consent'</script><script src="/consent/silence/cookielaw.org/otSDKStub.js"></script>"#,
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

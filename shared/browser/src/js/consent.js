// Declines a consent banner. Follows document.js, page-state.js and text.js; the argument is the operation.
//
// "step" clicks the next control towards a refusal: a button that refuses, else one that opens the choices, else the
// one that saves them when each is off. "shown" only checks. Returns null, or { platform, label, did }: the label of
// the clicked control; `did` is "refused", "opened", or null if there is a banner without a control that refuses; for a
// banner that may appear later it is "expected": the script of a platform is loaded, and no earlier answer is stored.
//
// A button that accepts is never clicked, wherever it is in the structure.
const [action] = arguments;
// Over WebDriver, each script has globals of its own, so the document keeps it.
const state = document[Symbol.for("ragmaker-consent")] ??= { clicked: new WeakSet() };
const isTop = window === window.top;
// The common platforms: the selectors of their banners and of the controls that refuse, open the choices or save these.
const PLATFORMS = [
  ["OneTrust", "#onetrust-pc-sdk,#onetrust-banner-sdk", "#onetrust-reject-all-handler,.ot-pc-refuse-all-handler,.onetrust-close-btn-handler.ot-close-link", "#onetrust-pc-btn-handler", ".save-preference-btn-handler"],
  ["Cookiebot", "#CybotCookiebotDialog", "#CybotCookiebotDialogBodyButtonDecline,#CybotCookiebotDialogBodyLevelButtonLevelOptinDeclineAll", "#CybotCookiebotDialogBodyLevelButtonCustomize", "#CybotCookiebotDialogBodyLevelButtonLevelOptinAllowallSelection"],
  ["Didomi", "#didomi-popup,#didomi-notice,.didomi-consent-popup", "#didomi-notice-disagree-button,.didomi-continue-without-agreeing,#btn-toggle-disagree", "#didomi-notice-learn-more-button", "#btn-toggle-save"],
  ["Usercentrics", "[data-testid=uc-default-wall],[data-testid=uc-default-banner],[data-testid=uc-container],#uc-main-dialog,#uc-center-container", "[data-testid=uc-deny-all-button],#deny,.uc-deny-button", "[data-testid=uc-more-button],#more", "[data-testid=uc-save-button],#save"],
  ["Quantcast", "#qc-cmp2-ui,.qc-cmp2-container", "", ".qc-cmp2-summary-buttons button[mode=secondary]", ".qc-cmp2-footer button[mode=primary],.qc-cmp2-buttons-desktop button[mode=primary]"],
  ["TrustArc", "#truste-consent-track,#trustarc-banner-overlay,.truste_box_overlay,#consent_blackbar", "#truste-consent-required,.rejectAll,.declineAllButtonLower,.required", "#truste-show-consent", ""],
  ["Sourcepoint", "[id^=sp_message_container_],.message-container", ".sp_choice_type_13,.sp_choice_type_REJECT_ALL", ".sp_choice_type_12", ".sp_choice_type_SAVE_AND_EXIT"],
  ["CookieYes", ".cky-consent-container,.cky-modal.cky-modal-open", ".cky-btn-reject,[data-cky-tag=reject-button]", ".cky-btn-customize", ".cky-btn-preferences"],
  ["Complianz", "#cmplz-cookiebanner-container .cmplz-cookiebanner,.cmplz-cookiebanner", ".cmplz-deny", ".cmplz-view-preferences", ".cmplz-save-preferences"],
  ["Klaro", ".klaro .cookie-notice,.klaro .cookie-modal", ".cn-decline,.cm-btn-decline", ".cm-link,.cn-learn-more", ".cm-btn-accept:not(.cm-btn-accept-all)"],
  ["Osano", ".osano-cm-window .osano-cm-dialog,.osano-cm-window .osano-cm-info-dialog--open", ".osano-cm-denyAll,.osano-cm-deny", ".osano-cm-manage", ".osano-cm-save"],
  ["iubenda", "#iubenda-cs-banner,#iubFooterBtnContainer", ".iubenda-cs-reject-btn", ".iubenda-cs-customize-btn", ".iubenda-cs-save-btn"],
  ["Borlabs Cookie", "#BorlabsCookieBox,.brlbs-cmpnt-dialog", "[data-cookie-refuse],.brlbs-btn-accept-only-essential", "", ""],
  ["Termly", "[data-tid=banner-container],.termly-styles-root [role=alertdialog]", "[data-tid=banner-decline]", "", ""],
  ["consentmanager", "#cmpbox", "#cmpbntnotxt,.cmpboxbtnno", "#cmpbntcustomtxt,.cmpboxbtncustom", "#cmpbntsavetxt,.cmpboxbtnsave"],
  ["Cookie Information", "#coiOverlay,#cookie-information-template-wrapper", "#declineButton,.coi-banner__decline,.coi-banner__lastpage", "", ""],
  ["CookieFirst", ".cookiefirst-root [role=dialog]", "[data-cookiefirst-action=reject]", "", ""],
  ["Cookie-Script", "#cookiescript_injected", "#cookiescript_reject", "", ""],
  ["tarteaucitron", "#tarteaucitronAlertBig,#tarteaucitronRoot #tarteaucitron", "#tarteaucitronAllDenied2,#tarteaucitronAllDenied", "", ""],
  ["Google Funding Choices", ".fc-consent-root .fc-dialog", ".fc-cta-do-not-consent", ".fc-cta-manage-options", ".fc-confirm-choices"],
  ["Axeptio", "#axeptio_overlay [role=dialog],.axeptio_widget", "#axeptio_btn_dismiss", "", ""],
  ["Cookie Notice", "#cookie-notice", "#cn-refuse-cookie", "", ""],
  ["HubSpot", "#hs-eu-cookie-confirmation,#hs-banner-parent", "#hs-eu-decline-button", "", ""],
  ["Moove GDPR", "#moove_gdpr_cookie_info_bar", ".moove-gdpr-infobar-reject-btn", "", ""],
  ["Civic", "#ccc #ccc-notify,#ccc #ccc-panel", "#ccc-reject-settings,.ccc-reject-button,#ccc-notify-reject", "", ""],
  ["CookieConsent", "#cc-main .cm,#cc-main .pm,.cc-window", "[data-role=necessary],.cc-deny", "", ""],
];
// Signs that the banner of a platform will appear: its script, without the answer that it stores as cookies or in local
// storage.
const SCRIPTS = [
  [/cookielaw\.org|onetrust/i, /^OptanonAlertBoxClosed=/],
  [/cookiebot\.com/i, /^CookieConsent=(-1|\{|%7B)/i],
  [/didomi/i, /^euconsent-v2=/],
  [/usercentrics/i, /^uc_user_interaction=true/],
  [/quantcast|inmobi\.com|consensu\.org/i, /^euconsent-v2=/],
  [/trustarc\.com/i, /^notice_(gdpr_prefs|preferences)=/],
  [/sp-prod\.net|privacy-mgmt\.com/i, /^consentUUID=/],
  [/cookieyes/i, /^cookieyes-consent=.*action(:|%3A)yes/i],
  [/osano/i, /^osano_consentmanager=/],
  [/iubenda/i, /^_iub_cs-\d+=/],
  [/termly\.io/i, null],
  [/consentmanager\.net/i, /^__cmpcc=1/],
  [/fundingchoices/i, /^FCCDCF=/],
];

// The names of buttons that refuse, and of those that accept.
const REFUSE = new RegExp([
  "^(no,? )?(i )?(reject|decline|refuse|deny|disagree|opt[ -]?out)\\b", "^(i )?do(n['’]t| not) (accept|agree|consent|allow)\\b", "^no,? thank(s| you)$",
  "\\b(only|just) (the )?(strictly )?(necessary|essential|required|functional|technical)\\b", "\\b(strictly )?(necessary|essential|required) (cookies )?only\\b", "^(continue|proceed) without (accepting|agreeing|consent)",
  "\\b(ablehnen|verweigern)\\b", "^nur (technisch )?(notwendige|erforderliche|essenzielle|essentielle|funktionale)", "ohne (einwilligung|zustimmung|akzeptieren)", "\\bnicht (zustimmen|einverstanden|akzeptieren)\\b",
  "^(je |tout )?refuser?\\b", "sans accepter", "uniquement (les )?(cookies )?(nécessaires|essentiels|obligatoires)", "n['’]accepte pas",
  "^(rechazar|denegar)\\b", "^solo (las |los )?(cookies? )?(necesari|esencial|técnic)", "sin aceptar",
  "^(rifiuta|rifiuto|nega)\\b", "senza accettare", "^solo (i )?(cookie )?(necessari|essenziali|tecnici)",
  "^(rejeitar|recusar)\\b", "^(apenas|somente) (os )?(cookies )?(necessári|essencia)", "\\b(weigeren|afwijzen)\\b", "^(alleen|enkel) (de )?(noodzakelijke|functionele)",
  "odrzu[cć]", "tylko (niezbędne|konieczne)", "^(avvisa|neka|avslå|afvis|avvis)", "^(endast|kun|bare) (nödvändiga|nødvendige)", "^(hylkää|kiellä)", "vain välttämättömät",
  "^(odmítn|zamítn)", "(pouze|jen) nezbytné", "^(elutasít|respinge|refuză|reddet)", "απόρριψη", "^(отклон|отказ)", "только необходимые",
  "拒否|同意しない|必要.*のみ", "拒绝|拒絕|不同意|[仅僅只]必[要需]", "거부|거절|필수.*만",
].join("|"), "i");
const ACCEPT = /\b(accept|agree|allow|consent|ok|okay|got it|understand|akzeptieren|zustimmen|annehmen|erlauben|accepter|j['’]accepte|autoriser|aceptar|permitir|accetta|consenti|aceitar|accepteren|toestaan|akceptuj|godkänn|tillad|godta|hyväksy|přijmout|souhlas)|同意する|同意$|接受|동의/i;
const CHOICES = /\b(more options|manage|settings|preferences|customi[sz]e|options|choices|einstellungen|anpassen|paramétrer|personnaliser|gérer|configurar|personalizar|gestisci|personalizza|instellingen)\b/i;
// The names of buttons that save the choices as they are.
const SAVE = /\b(save|confirm|submit|apply|speichern|bestätigen|übernehmen|enregistrer|sauvegarder|valider|confirmer|guardar|confirmar|aplicar|salva|salvar|conferma|applica|opslaan|bewaren|bevestigen)\b/i;
const ABOUT = /\bcookies?\b|\bgdpr\b|\bccpa\b|\bdsgvo\b|\brgpd\b|tracking technolog|personal(ised|ized) ad|consent to|your privacy|datenschutz|vie privée|クッキー|个人信息|쿠키/i;

const all = roots(document);
const shows = (element) => {
  if (isForm(element) || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
  const { width, height } = element.getBoundingClientRect();
  return width > 1 && height > 1;
};
// The matching elements in an element and its shadow roots, and the visible ones of them.
const matching = (root, selector) => selector === "" ? [] : [root, ...[...root.querySelectorAll("*")].map(shadowOf).filter(Boolean)].flatMap((part) => [...part.querySelectorAll(selector)]);
const within = (root, selector) => matching(root, selector).filter(shows);
const labelOf = (element) => squeezed(element.getAttribute("aria-label") || element.textContent || element.value);
const isUsable = (element) => !state.clicked.has(element) && isClickable(element, STAYS_OR_EMPTY);
const BUTTONS = "button,[role=button],a,input[type=button],input[type=submit]";
const refuses = (element) => { const label = labelOf(element); return label.length <= 60 && REFUSE.test(label); };
const accepts = (element) => !refuses(element) && ACCEPT.test(labelOf(element));
// The elements that may be clicked for a refusal.
const isSafe = (element) => isUsable(element) && !accepts(element);

// The visible banner: a platform's, or a dialog about cookies.
const known = () => {
  for (const [platform, banner, ...parts] of PLATFORMS) {
    for (const root of all) {
      const shown = [...root.querySelectorAll(banner)].filter(shows);
      if (shown.length > 0) return { platform, boxes: shown, parts };
    }
  }
  return null;
};
const NAMED = ["cookie", "consent", "gdpr", "privacy"].flatMap((name) => [`[id*=${name} i]`, `[class*=${name} i]`]).join(",");
const DIALOGS = "dialog[open],[role=dialog],[role=alertdialog],[aria-modal=true]";
const isOver = (element) => {
  for (let each = element; each !== null; each = each.parentElement) if (/^(fixed|sticky)$/.test(getComputedStyle(each).position)) return true;
  return false;
};
const unknown = () => {
  if (!isTop && !/consent|cookie|privacy|cmp/i.test(location.href)) return null;
  const edge = isTop ? [...doc.querySelectorAll("body > *, body > * > *")].filter((element) => shows(element) && isOver(element)) : [doc.body].filter(Boolean);
  const candidates = [...all.flatMap((root) => [...root.querySelectorAll(`${DIALOGS},${NAMED}`)]).filter(shows), ...edge];
  const fits = (box) => {
    const text = squeezed(box.innerText);
    return text.length < 6000 && ABOUT.test(text) && (!isTop || box.matches(DIALOGS) || isOver(box) || box.closest("main,article") === null)
      && within(box, BUTTONS).some((button) => isUsable(button) && (refuses(button) || accepts(button)));
  };
  const boxes = candidates.filter(fits);
  // The innermost, of those that refuse first.
  const inner = boxes.filter((box) => !boxes.some((other) => other !== box && box.contains(other)));
  const box = inner.find((each) => within(each, BUTTONS).some(refuses)) ?? inner[0];
  return box === undefined ? null : { platform: "dialog", boxes: [box], parts: ["", "", ""] };
};
const click = (element, did, platform) => {
  const label = labelOf(element).slice(0, 80).toWellFormed();
  state.clicked.add(element);
  element.click();
  return { platform, label, did };
};
// Switches of the choices that are on.
const SWITCHES = "input[type=checkbox],[role=switch],[role=checkbox]";
const isOn = (element) => element.checked === true || element.getAttribute("aria-checked") === "true";
// Choices of other kinds, whose meaning is unknown.
const OTHER_CHOICES = "[aria-pressed=true],input[type=radio],[role=radio]";
// Turns the switches of the boxes off. Returns whether saving is then a refusal: not if there is no switch, or one that
// cannot be turned off, or a choice of another kind.
const turnedOff = (boxes) => {
  const of = (selector) => boxes.flatMap((box) => matching(box, selector));
  const on = () => of(SWITCHES).filter((element) => isOn(element) && !element.matches(":disabled,[aria-disabled=true],[aria-readonly=true]"));
  if (of(SWITCHES).length === 0 || of(OTHER_CHOICES).length > 0) return false;
  for (const element of on()) element.click();
  return on().length === 0;
};
const step = ({ platform, boxes, parts: [refuse, choices, save] }) => {
  const buttons = boxes.flatMap((box) => within(box, BUTTONS));
  const named = (selector) => boxes.flatMap((box) => within(box, selector));
  const button = named(refuse).find(isSafe) ?? buttons.find((each) => isSafe(each) && refuses(each));
  if (button !== undefined) return click(button, "refused", platform);
  const saving = named(save).find(isSafe);
  if (saving !== undefined && turnedOff(boxes)) return click(saving, "refused", platform);
  // Saving what is not off would accept.
  const opens = (each) => isSafe(each) && !SAVE.test(labelOf(each)) && (save === "" || !each.matches(save));
  const more = platform === "dialog" ? undefined : named(choices).find(opens) ?? buttons.find((each) => opens(each) && CHOICES.test(labelOf(each)));
  return more === undefined ? { platform, label: null, did: null } : click(more, "opened", platform);
};
// Whether the page has stored an answer that `pattern` matches.
const isAnswered = (pattern) => {
  if (pattern === null) return false;
  // A sandboxed page may have no access to either.
  const read = (get) => { try { return get(); } catch { return []; } };
  const cookies = read(() => doc.cookie.split("; ")), items = read(() => Object.entries(localStorage).map(([key, value]) => `${key}=${value}`));
  return [...cookies, ...items].some((stored) => pattern.test(stored));
};
const banner = known() ?? unknown();
if (banner === null) {
  const loads = (pattern) => [...doc.scripts].some(({ src }) => pattern.test(src));
  const expected = isTop ? SCRIPTS.find(([script]) => loads(script)) : undefined;
  return expected === undefined || isAnswered(expected[1]) ? null : { platform: null, label: null, did: "expected" };
}
return action === "step" ? step(banner) : { platform: banner.platform, label: null, did: null };

// The visible sign-in form of the page, if any: its fields, and the amount of text outside it.
//
// This script only measures, independently of languages; `login.rs` decides whether the page consists of this form
// only.
const USER_FIELD = /^(user|user_?-?name|user_?-?id|login|login_?-?(id|name|fmt)|loginfmt|identifier|email|e-?mail|mail|account|j_username|os_username|log|uid)$/i;
// The names of buttons for a sign-in with another service, which are the same in every language, and their targets.
const PROVIDER = /\b(google|microsoft|github|gitlab|bitbucket|apple|facebook|linkedin|slack|okta|auth0|azure|saml|sso|openid|passkey)\b/i;
const PROVIDER_PATH = /\/(oauth2?|omniauth|openid|saml2?|sso)(\/|$)/i;
const signInForm = () => {
  const shows = (element) => element.checkVisibility?.({ visibilityProperty: true, opacityProperty: true }) ?? true;
  const within = (root, selector) => [...root.querySelectorAll(selector)].filter(shows);
  // The fields of a form shadow its properties, so it is read through its prototype.
  const contains = (part, other) => Node.prototype.contains.call(part, other);
  const innerText = (part) => isForm(part) ? nativeGetter(HTMLElement.prototype, "innerText")(part) : part.innerText;
  // With more text than this, it is not a sign-in page, and measuring it would take long.
  if (!sparse(6000)) return null;
  const isUser = (field) => field.type === "email" || /\b(username|webauthn)\b/.test(field.autocomplete)
    || USER_FIELD.test(field.name) || USER_FIELD.test(field.id);
  const takesText = (field) => /^(text|email|tel)$/.test(field.type);
  const passwords = within(doc, "input[type=password]");
  const key = passwords[0] ?? within(doc, "input").find((field) => takesText(field) && isUser(field));
  const BOILERPLATE = "nav,header,footer,aside,[role=navigation],[role=banner],[role=contentinfo],[role=complementary],dialog,select,noscript";
  // A CJK character counts as two letters.
  const cost = (text) => text.length + (text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0);
  const label = (element) => String(innerText(element) ?? "").replace(/\s+/g, " ").trim();
  const length = (element) => cost(label(element));
  // Nested elements count with the outer part.
  const besideOf = (parts) => {
    const left = [...parts, ...within(doc, BOILERPLATE)];
    const outermost = left.filter((part) => !left.some((other) => other !== part && contains(other, part)));
    return Math.max(0, outermost.reduce((rest, part) => rest - length(part), doc.body === null ? 0 : length(doc.body)));
  };
  const articleWithout = (parts) => within(doc, "main,article,[role=main]")
    .filter((prose) => !parts.some((part) => contains(prose, part)))
    .reduce((most, prose) => Math.max(most, length(prose)), 0);
  const boilerplate = within(doc, BOILERPLATE);
  const isContent = (part) => !boilerplate.some((other) => contains(other, part));
  const heading = () => {
    const first = within(doc, "h1,h2,h3,legend").find(isContent);
    return first ? label(first).slice(0, 100) : "";
  };
  // Enough links to know an index by.
  const linksWithout = (parts) => within(doc, "a[href]")
    .filter((link) => isContent(link) && !parts.some((part) => contains(part, link)) && /^https?:/.test(String(link.href)))
    .slice(0, 40).map((link) => String(link.href).slice(0, 500));
  if (!key) {
    const providers = within(doc, "button,[role=button],a[href]").filter((button) => {
      const text = label(button);
      const leads = () => button.localName === "a" && PROVIDER_PATH.test(String(button.pathname));
      return text.length <= 60 && (leads() || PROVIDER.test(text)) && isContent(button);
    });
    if (providers.length === 0) return null;
    return {
      passwords: 0, newPasswords: 0, fields: within(doc, "input:not([type=hidden]),textarea,select").length,
      providers: providers.length, aside: false, beside: besideOf(providers), article: articleWithout(providers), heading: heading(),
      links: linksWithout(providers),
    };
  }
  // Applications may have no form element: then the form is the element that contains a field and a button. That may be
  // the main element of a page about password fields, so only its controls are left out of the text beside it.
  const CONTROL = "label,button,input,[role=button]";
  const BUTTON = "button,input[type=submit],input[type=image],[role=button]";
  let form = key.form;
  const above = nativeGetter(Node.prototype, "parentElement");
  for (let part = above(key); !form && part; part = above(part)) {
    if (part.querySelector(BUTTON) !== null || part === doc.body) form = part;
  }
  form ??= key;
  const isOfForm = (field) => field.form === form || contains(form, field);
  return {
    passwords: passwords.length,
    newPasswords: passwords.filter((field) => /\bnew-password\b/.test(field.autocomplete)).length,
    currentPasswords: passwords.filter((field) => /\bcurrent-password\b/.test(field.autocomplete)).length,
    identifiers: within(doc, "input").filter((field) => isOfForm(field) && takesText(field) && isUser(field)).length,
    posts: isForm(form) && /^post$/i.test(Element.prototype.getAttribute.call(form, "method") ?? ""),
    fields: within(doc, "input,textarea,select").filter((field) =>
      isOfForm(field) && !/^(hidden|submit|button|image|reset|checkbox|radio)$/.test(field.type)).length,
    aside: [...doc.querySelectorAll("nav,header,footer,aside")].some((part) => contains(part, form) && !part.querySelector("main,article")),
    beside: besideOf(key.form ? [form] : [key, ...within(form, CONTROL)]),
    article: articleWithout([form]),
    heading: heading(),
    links: linksWithout(key.form ? [form] : []),
  };
};

// What the page is: address, title, status, type, the marks of a bot challenge, and its sign-in form.
//
// `facts.rs` has the same fields. What they come to is decided in `challenge.rs` and `login.rs`.
const facts = () => {
  const clean = (text) => String(text ?? "").toWellFormed();
  const has = (selector) => doc.querySelector(selector) !== null;
  const source = (...parts) => parts.some((part) => has(`script[src*="${part}"],iframe[src*="${part}"]`));
  const visible = (element) => element.checkVisibility?.({ visibilityProperty: true, opacityProperty: true }) ?? true;
  // What a reader sees has to be measured where there are signs of a challenge, and not of a long page: it is none.
  const words = () => {
    const all = doc.body?.textContent.length ?? 0;
    return all > 50000 ? all : clean(doc.body?.innerText).trim().length;
  };
  // The field for the answer of a challenge does not count as a field of the page. A text field does, with any name.
  const isAnswer = ({ localName, name, id }) =>
    /(captcha|turnstile)-response/i.test(name + id) || (localName === "input" && /captcha/i.test(name + id));
  const fields = [...doc.querySelectorAll("textarea,input,select,[contenteditable]")].filter((field) =>
    visible(field) && !/^(hidden|submit|button|checkbox)$/.test(field.type) && !isAnswer(field)).length;
  const widgets = [...doc.querySelectorAll(".h-captcha,.g-recaptcha,.cf-turnstile,iframe[src*='hcaptcha.com'],iframe[src*='/recaptcha/'],#recaptcha,form#captcha-form")]
    .filter((element) => visible(element) && element.dataset.size !== "invisible" && !/^(interaction-only|execute)$/.test(element.dataset.appearance)
      && !element.closest(".grecaptcha-badge"));
  // What there is to read beside a widget: paragraphs that are longer than an instruction.
  const contains = (form, part) => form !== null && Node.prototype.contains.call(form, part);
  const prose = () => [...doc.querySelectorAll("p,li,blockquote,pre,td")].reduce((sum, part) => {
    if (!visible(part) || widgets.some((widget) => contains(widget.closest("form"), part))) return sum;
    const { length } = part.textContent.trim();
    return length > 60 ? sum + length : sum;
  }, 0);
  const marks = [];
  const { globals = [] } = watched() ?? {};
  if (globals.includes("_cf_chl_opt") || has("#challenge-form[action*=__cf_chl_],#challenge-running,#challenge-stage,#cf-challenge-running") || has('script[src*="/cdn-cgi/challenge-platform/h/"]:not([src*="/scripts/jsd/"])')) marks.push("cloudflare");
  // The page with which it blocks a visitor for good, whatever status the site gives it.
  if ((has("#cf-error-details,.cf-error-details") && has("#cf-wrapper,.cf-wrapper,link[href*='/cdn-cgi/styles/']")) || clean(doc.title).trim() === "Attention Required! | Cloudflare") marks.push("cloudflare-block");
  if (source("captcha-delivery.com")) marks.push("datadome");
  if (has("#px-captcha,#px-captcha-wrapper")) marks.push("perimeterx");
  if (has("#sec-if-cpt-container,#sec-cpt-if,#akam-challenge") || source("/_sec/cp_challenge/")) marks.push("akamai");
  if (globals.includes("gokuProps") || (source(".awswaf.com/") && words() < 500)) marks.push("aws-waf");
  // These challenges have status 200.
  if (has("script#anubis_challenge")) marks.push("anubis");
  if (has("form[action*='/errors/validateCaptcha' i]")) marks.push("amazon");
  if (source("/.well-known/vercel/security/") || clean(doc.title).trim() === "Vercel Security Checkpoint") marks.push("vercel");
  if (source("/.well-known/ddos-guard/")) marks.push("ddos-guard");
  if (widgets.length > 0) marks.push("captcha");
  // Chromium shows what it could read of XML, and its complaint of the rest.
  const complaint = /xml$/.test(doc.contentType) ? doc.getElementsByTagNameNS("http://www.w3.org/1999/xhtml", "parsererror")[0]?.querySelector("h3 + div") : null;
  const status = performance.getEntriesByType("navigation")[0]?.responseStatus ?? 0;
  return {
    url: clean(location.href), base: clean(doc.baseURI), title: clean(doc.title).trim().slice(0, 500).toWellFormed(),
    status, type: doc.contentType, marks, words: marks.length > 0 || status !== 200 ? words() : null, fields,
    prose: widgets.length > 0 ? prose() : 0, signIn: signInForm(), links: doc.links.length, sparse: sparse(), broken: complaint ? clean(complaint.textContent).trim().slice(0, 200) : null, refreshes: has("meta[http-equiv=refresh i]"), hasCode: hasCode(),
  };
};

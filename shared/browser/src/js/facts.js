// What the page is: address, title, status, type, and the marks of a bot challenge.
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
  const fields = [...doc.querySelectorAll("textarea,input,select,[contenteditable]")].filter((field) =>
    visible(field) && !/^(hidden|submit|button|checkbox)$/.test(field.type) && !/captcha/i.test(field.name + field.id)).length;
  const captcha = [...doc.querySelectorAll(".h-captcha,.g-recaptcha,.cf-turnstile,iframe[src*='hcaptcha.com'],iframe[src*='/recaptcha/'],#recaptcha,form#captcha-form")]
    .some((element) => visible(element) && element.dataset.size !== "invisible" && !/^(interaction-only|execute)$/.test(element.dataset.appearance)
      && !element.closest(".grecaptcha-badge"));
  const marks = [];
  const { globals = [] } = watched() ?? {};
  if (globals.includes("_cf_chl_opt") || has("#challenge-form[action*=__cf_chl_],#challenge-running,#challenge-stage,#cf-challenge-running") || has('script[src*="/cdn-cgi/challenge-platform/h/"]:not([src*="/scripts/jsd/"])')) marks.push("cloudflare");
  if (source("captcha-delivery.com")) marks.push("datadome");
  if (has("#px-captcha,#px-captcha-wrapper")) marks.push("perimeterx");
  if (has("#sec-if-cpt-container,#sec-cpt-if,#akam-challenge") || source("/_sec/cp_challenge/")) marks.push("akamai");
  if (globals.includes("gokuProps") || (source(".awswaf.com/") && words() < 500)) marks.push("aws-waf");
  if (captcha) marks.push("captcha");
  // Chromium shows what it could read of XML, and its complaint of the rest.
  const complaint = /xml$/.test(doc.contentType) ? doc.getElementsByTagNameNS("http://www.w3.org/1999/xhtml", "parsererror")[0]?.querySelector("h3 + div") : null;
  const status = performance.getEntriesByType("navigation")[0]?.responseStatus ?? 0;
  return {
    url: clean(location.href), base: clean(doc.baseURI), title: clean(doc.title).trim().slice(0, 500).toWellFormed(),
    status, type: doc.contentType, marks, words: marks.length > 0 || status !== 200 ? words() : null, fields,
    links: doc.links.length, sparse: sparse(), broken: complaint ? clean(complaint.textContent).trim().slice(0, 200) : null, refreshes: has("meta[http-equiv=refresh i]"),
  };
};

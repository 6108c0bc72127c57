// The answers to requests of scripts, for browsers whose requests cannot be observed. The first argument is the operation.
//
// "asked" lists the URLs that scripts have requested, as the browser's timeline has them: at most 250 requests. "fetch"
// requests the URLs in the second argument again, with the cookies of the page, and returns of each [URL, status, media
// type, text]: null if it is not answered, or longer than the third argument.
const [action, urls, most, patience] = arguments;
if (action === "asked") {
  return performance.getEntriesByType("resource").filter(({ initiatorType }) => /^(fetch|xmlhttprequest)$/.test(initiatorType)).map(({ name }) => name);
}
const signal = AbortSignal.timeout(patience);
const text = async (answer) => {
  const reader = answer.body?.getReader(), decoder = new TextDecoder();
  let text = "", size = 0;
  for (let part = await reader?.read(); part && !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > most) {
      reader.cancel();
      return null;
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
};
const request = async (url) => {
  // A server of another site may accept requests with cookies, or only without.
  for (const credentials of ["include", "same-origin"]) {
    try {
      const answer = await fetch(url, { credentials, signal, cache: "no-cache" });
      const body = await text(answer);
      return body === null ? null : [answer.url, answer.status, answer.headers.get("content-type") ?? "", body.toWellFormed()];
    } catch {}
  }
  return null;
};
return await Promise.all(urls.map(request));

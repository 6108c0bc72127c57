// The last part of the script that is run again and again until the page's content is there: what
// the page is and what is wanted of it come with the answer that it is.
const [selector, now, chosen] = arguments;
const state = look(selector);
if (state === "bad-selector" || (!now && state === "wait")) return [state];
let content = null;
try {
  content = take(chosen);
} catch (error) {
  if (chosen !== null && error.name === "SyntaxError") return ["bad-choice"];
  throw error;
}
return [state, facts(), content];

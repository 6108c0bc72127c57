// Actions on one element: `this`, which may be a text node in it. Runs in an isolated world, so the page's scripts
// cannot change the results. `action` names the operation; the result is serializable as JSON.
function (action, argument) {
  const element = this.nodeType === Node.ELEMENT_NODE ? this : this.parentElement ?? this.getRootNode().host ?? null;
  // The document records which element received the click, because the element may be removed. It is a property of the
  // document, because over WebDriver each script has its own globals.
  const CLICK_RECORD = Symbol.for("ragmaker-heard");
  if (action === "disarm") {
    const heard = (this.ownerDocument ?? this)[CLICK_RECORD];
    heard?.end();
    return { own: heard?.own ?? false, other: heard?.other ?? null, gone: heard?.element.isConnected === false };
  }
  if (element === null || !element.isConnected) return { gone: true };
  const view = element.ownerDocument.defaultView;
  if (view === null) return { gone: true };
  const above = (node) => node.parentNode ?? node.host ?? null;
  const contains = (outer, node) => {
    for (let each = node; each !== null; each = above(each)) if (each === outer) return true;
    return false;
  };
  const squeeze = (text) => String(text ?? "").replace(/\s+/g, " ").trim();
  const kind = element.localName, type = kind === "input" ? element.type : "";
  const isField = /^(input|textarea)$/.test(kind), isEditable = element.isContentEditable === true;
  const tell = (...names) => { for (const name of names) element.dispatchEvent(new Event(name, { bubbles: true, composed: true })); };
  const setNative = (value) => {
    const owner = kind === "textarea" ? view.HTMLTextAreaElement : kind === "select" ? view.HTMLSelectElement : view.HTMLInputElement;
    Object.getOwnPropertyDescriptor(owner.prototype, "value").set.call(element, value);
  };
  const describe = (node) => {
    const text = squeeze(node.getAttribute?.("aria-label") || node.textContent).slice(0, 60).toWellFormed();
    const id = node.id && typeof node.id === "string" ? `#${node.id}` : "";
    const classes = [...(node.classList ?? [])].slice(0, 2).map((name) => `.${name}`).join("");
    return `<${node.localName}${id}${classes}>${text ? ` "${text}"` : ""}`;
  };
  // The modal dialog that keeps the element from being clicked: the topmost one, unless the element is in it.
  const modal = () => {
    const top = [...Document.prototype.querySelectorAll.call(element.ownerDocument, "dialog:modal")].at(-1) ?? null;
    return top !== null && !contains(top, element) ? top : null;
  };
  const isDisabled = () => element.matches(":disabled") || element.closest?.("[aria-disabled=true]") !== null || element.closest?.("[inert]") !== null;
  const checked = () => {
    if (kind === "input" && /^(checkbox|radio)$/.test(type)) return element.checked;
    for (const name of ["aria-checked", "aria-pressed", "aria-selected"]) if (element.hasAttribute(name)) return element.getAttribute(name) === "true";
    return null;
  };
  // The options of lists that the page made itself: `lists` are those of the element, or of the whole document.
  const OPTION = "[role=option],[role=menuitem],[role=menuitemradio],[role=menuitemcheckbox],[role=treeitem]";
  const OPENED = Symbol.for("ragmaker-lists");
  const optionsIn = (part) => [...part.querySelectorAll("*")].flatMap((each) => {
    if (each.localName === "form" || typeof each.localName !== "string") return [];
    const inner = each.shadowRoot === null ? [] : optionsIn(each.shadowRoot);
    return each.matches(OPTION) && each.closest("select,datalist") === null ? [each, ...inner] : inner;
  });
  const shownOptions = (part) => optionsIn(part).filter((option) => option.checkVisibility({ visibilityProperty: true }) && option.getClientRects().length > 0);
  const allOptions = () => [...new Set([element.ownerDocument, element.getRootNode()])].flatMap(shownOptions);
  // Those of the element: in it, or in a list that it names, or in one that has appeared since the record.
  const ownOptions = () => {
    const naming = [element, element.closest?.("[role=combobox]"), element.querySelector?.("[aria-controls],[aria-owns]")].filter(Boolean);
    const ids = naming.flatMap((part) => ["aria-controls", "aria-owns"].flatMap((name) => (part.getAttribute(name) ?? "").split(/\s+/))).filter(Boolean);
    const named = ids.map((id) => Document.prototype.getElementById.call(element.ownerDocument, id) ?? element.getRootNode().querySelector?.(`#${CSS.escape(id)}`)).filter(Boolean);
    for (const part of [element, ...named]) {
      const options = shownOptions(part);
      if (options.length > 0) return options;
    }
    const before = element.ownerDocument[OPENED];
    return before ? allOptions().filter((option) => !before.includes(option)) : [];
  };
  const optionName = (option) => squeeze(option.getAttribute("aria-label") || option.textContent);
  const value = () => isField || kind === "select" ? element.value : isEditable ? element.innerText : null;
  // The caret is in it, and what it holds is selected.
  const focus = () => {
    element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    element.focus({ preventScroll: true });
    if (isField) { try { element.select(); } catch {} }
    else if (isEditable) {
      const range = element.ownerDocument.createRange();
      range.selectNodeContents(element);
      const selection = view.getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
    }
  };
  // A closed shadow root is known from here on, by its host: text and changes in it count.
  const CLOSED = Symbol.for("ragmaker-closed"), BEFORE = Symbol.for("ragmaker-before");
  const noteClosed = () => {
    // The properties of a document may be shadowed by its elements.
    for (let root = this.getRootNode(), depth = 0; root !== element.ownerDocument && root.host && depth < 50; root = root.host.getRootNode(), depth += 1) {
      const closed = element.ownerDocument[CLOSED] ??= new WeakMap();
      if (root.mode !== "closed" || closed.has(root.host)) continue;
      closed.set(root.host, root);
      // What it has now was there before.
      const lines = (view.top === view ? element.ownerDocument : null)?.[BEFORE]?.lines;
      for (const line of lines ? [...root.children].flatMap((part) => String(part.innerText ?? "").split("\n")) : []) {
        if (line.trim() !== "") lines.set(line.trim(), (lines.get(line.trim()) ?? 0) + 1);
      }
    }
  };
  switch (action) {
    // `argument` says whether it is focused, unless it is disabled.
    case "state": {
      const disabled = isDisabled();
      if (argument === true && !disabled) focus();
      const shown = element.checkVisibility({ visibilityProperty: true });
      const control = kind === "label" ? element.control : null;
      noteClosed();
      return {
        gone: false, shown, disabled, kind, type, checked: checked(), description: describe(element),
        role: element.getAttribute?.("role") ?? null,
        editable: (isField && !/^(button|checkbox|color|date|datetime-local|file|hidden|image|month|radio|range|reset|submit|time|week)$/.test(type)) || isEditable,
        settable: /^(color|date|datetime-local|month|range|time|week)$/.test(type), readonly: isField && element.readOnly,
        file: (control ?? element).type === "file" && (control ?? element).localName === "input",
        multiple: element.multiple === true, ignoresPointer: view.getComputedStyle(element).pointerEvents === "none",
        sized: [...element.getClientRects()].some(({ width, height }) => width >= 1 && height >= 1),
      };
    }
    // Scrolls the element into view; `argument` is its position in the window.
    case "reveal": {
      element.scrollIntoView({ block: argument, inline: "nearest", behavior: "instant" });
      return {};
    }
    // What covers the middle of the element; null if nothing does.
    case "cover": {
      const { left, top, width, height } = element.getBoundingClientRect();
      const hit = Document.prototype.elementFromPoint.call(element.ownerDocument, left + width / 2, top + height / 2);
      const by = modal() ?? (hit !== null && !contains(element, hit) ? hit : null);
      return { by: by === null ? null : describe(by) };
    }
    // Whether the hit-test target is the element, a descendant or its label.
    case "meets": {
      const hit = argument.nodeType === Node.ELEMENT_NODE ? argument : above(argument);
      if (contains(element, argument)) return { meets: true };
      const label = hit?.closest?.("label");
      if (label && (label.control === element || contains(element, label.control ?? label))) return { meets: true };
      const by = modal() ?? hit;
      return { meets: false, by: by ? describe(by) : "another element" };
    }
    case "label": {
      const label = [...(element.labels ?? [])].find((label) => label.checkVisibility({ visibilityProperty: true }) && label.getBoundingClientRect().width > 1);
      return label ?? null;
    }
    // Clicks are observed on the element, which may be in a closed shadow root, and on the window.
    case "arm": {
      const heard = element.ownerDocument[CLICK_RECORD] = { own: false, other: null, element };
      const own = () => { heard.own = true; };
      const any = (event) => {
        const [first] = event.composedPath();
        // For elements in a closed shadow root, the window sees the host as the target.
        const hosts = (node) => { const host = node.getRootNode().host ?? null; return host !== null && (host === first || hosts(host)); };
        if (first instanceof view.Element && !contains(element, first) && !hosts(element) && first.closest("label")?.control !== element) heard.other = describe(first);
      };
      element.addEventListener("mousedown", own, { capture: true, once: true });
      view.addEventListener("mousedown", any, { capture: true, once: true });
      heard.end = () => { element.removeEventListener("mousedown", own, true); view.removeEventListener("mousedown", any, true); };
      // Links and forms that would open another tab open in this one, because the call uses one tab.
      for (let each = element; each !== null; each = above(each)) {
        const aim = /^(a|area)$/.test(each.localName) ? each : each.type === "submit" || each.type === "image" ? each.form ?? null : null;
        const name = aim && Reflect.get(aim.localName === "form" ? view.HTMLFormElement.prototype : Object.getPrototypeOf(aim), "target", aim);
        const opens = name ? !/^_(self|parent|top)$/i.test(name) && view.frames[name] === undefined : /^(_blank|[^_].*)$/i.test(element.ownerDocument.querySelector("base[target]")?.target ?? "");
        if (aim === null || !opens) continue;
        const before = aim.getAttribute("target"), end = heard.end;
        aim.setAttribute("target", "_self");
        heard.end = () => { end(); if (before === null) aim.removeAttribute("target"); else aim.setAttribute("target", before); };
        break;
      }
      return {};
    }
    case "focus": {
      focus();
      return {};
    }
    case "value": return { value: value(), checked: checked() };
    // Sets a value in the format of the field. A field that cannot hold it keeps what it has.
    case "set": {
      const before = value();
      element.focus({ preventScroll: true });
      setNative(argument);
      const isColor = () => view.CSS.supports("color", argument.trim()) && !/^(inherit|initial|unset|revert(-layer)?|currentcolor)$/i.test(argument.trim());
      const isTaken = argument === "" || (type === "range" ? /^-?(\d+(\.\d+)?|\.\d+)(e[-+]?\d+)?$/i.test(argument.trim()) : type === "color" ? isColor() : value() !== "");
      if (!isTaken) {
        setNative(before);
        return { taken: false };
      }
      tell("input", "change");
      return { taken: true, value: value() };
    }
    case "commit": { tell("change"); return {}; }
    // Selects options by label, else by value; returns the selected ones, or the available ones.
    case "choose": {
      if (kind !== "select") return { list: false };
      const options = [...element.options], label = (option) => squeeze(option.label || option.text);
      const fits = [(option, text) => label(option) === text, (option, text) => option.value === text, (option, text) => label(option).toLowerCase() === text.toLowerCase()];
      const chosen = argument.map((text) => fits.map((fit) => options.find((option) => fit(option, squeeze(text)))).find(Boolean));
      const all = options.map(label).slice(0, 30).map((text) => text.slice(0, 80).toWellFormed());
      if (chosen.includes(undefined)) return { list: true, missing: argument[chosen.indexOf(undefined)], options: all };
      if (chosen.some((option) => option.disabled || option.closest("optgroup:disabled"))) return { list: true, missing: argument[0], options: all, disabled: true };
      if (!element.multiple && chosen.length > 1) return { list: true, missing: argument[1], options: all, single: true };
      element.focus({ preventScroll: true });
      if (element.multiple) for (const option of options) option.selected = chosen.includes(option);
      else element.selectedIndex = options.indexOf(chosen[0]);
      tell("input", "change");
      return { list: true, chosen: chosen.map((option) => label(option).slice(0, 80).toWellFormed()) };
    }
    // Notes which options of lists show, before the element is clicked; or forgets them.
    case "lists": {
      element.ownerDocument[OPENED] = argument ? allOptions() : undefined;
      return {};
    }
    // The option of the element that is called like this.
    case "option": {
      const options = ownOptions(), wanted = squeeze(argument).toLowerCase();
      return options.find((option) => optionName(option) === squeeze(argument)) ?? options.find((option) => optionName(option).toLowerCase() === wanted) ?? null;
    }
    // The options of the element; `closed` says that others have gone since the record.
    case "options": {
      const options = ownOptions(), before = element.ownerDocument[OPENED] ?? [], now = allOptions();
      return { options: options.slice(0, 30).map((option) => optionName(option).slice(0, 80).toWellFormed()), closed: options.length === 0 && before.some((option) => !now.includes(option)) };
    }
    case "scroll": {
      let part = element;
      while (part && !(part.scrollHeight > part.clientHeight + 1 && /auto|scroll/.test(view.getComputedStyle(part).overflowY))) part = part.parentElement;
      (part ?? element.ownerDocument.scrollingElement)?.scrollTo({ top: argument === "end" ? 1e9 : 0, behavior: "instant" });
      return {};
    }
    default: return {};
  }
}

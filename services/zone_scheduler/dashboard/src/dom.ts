// Elements. Text gets into the page by textContent only, so no name of a job or zone is ever markup.

type Child = Node | string | number | null | undefined | false;
type Properties = Record<string, string | number | boolean | ((event: Event) => void)>;

/** `h("button", {class: "plain", onclick: f}, "Cancel")`. Other attributes are set as they are written. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Properties = {}, ...children: (Child | Child[])[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(clean(String(child))));
  }
  return element;
}

/** What could hide or turn text round is shown as a mark instead: control characters but line ends, and bidirectional ones. */
export function clean(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

/** A table that scrolls by itself where it is wider than the page. Rows are cards where the page is narrow, so each cell knows its head; the roles stay what they are, whatever a cell is laid out as. */
export function table(label: string, heads: string[], rows: Child[][], empty = "Nothing yet."): HTMLElement {
  if (rows.length === 0) return h("p", { class: "quiet" }, empty);
  const isEmpty = (cell: Child) => cell === "" || cell === null || cell === undefined || cell === false;
  return h("div", { class: `scroll rows ${label.toLowerCase().replace(/\W+/g, "-")}`, tabindex: 0, role: "region", "aria-label": label },
    h("table", { role: "table" },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map((head) => h("th", { scope: "col", role: "columnheader" }, head)))),
      h("tbody", { role: "rowgroup" }, rows.map((row) => h("tr", { role: "row" },
        row.map((cell, i) => h("td", { role: "cell", "data-head": heads[i] ?? "", class: isEmpty(cell) ? "none-here" : "" }, cell)))))));
}

/** New children, with the focus on the same link or button as before: what is drawn anew must not throw people off it. */
export function redraw(place: HTMLElement, ...children: (Node | string)[]): void {
  const focused = place.contains(document.activeElement) ? document.activeElement : null;
  const key = focused?.getAttribute("href") ?? focused?.getAttribute("data-key");
  place.replaceChildren(...children);
  if (focused === null || key === null || key === undefined) return;
  const same = [...place.querySelectorAll<HTMLElement>("a[href], [data-key]")].find((one) => (one.getAttribute("href") ?? one.dataset["key"]) === key);
  same?.focus({ preventScroll: true });
}

/** Pairs of a name and a value. */
export function facts(pairs: [string, Child][]): HTMLElement {
  return h("dl", { class: "facts" }, pairs.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

export function badge(state: string): HTMLElement {
  return h("span", { class: `badge ${/^[a-z_]+$/.test(state) ? state : "unknown"}` }, state);
}

export function link(to: string, text: string): HTMLElement {
  return h("a", { href: to }, text);
}

export function problem(fault: unknown): HTMLElement {
  return h("p", { class: "problem", role: "alert" }, fault instanceof Error ? fault.message : String(fault));
}

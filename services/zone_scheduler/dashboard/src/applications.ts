// All applications of the caller (of everybody, for an operator), with live state.
import { get, type Summary } from "./api";
import { badge, h, link, problem, redraw } from "./dom";
import { instant } from "./format";
import { atMostEvery, onEvent } from "./live";

interface Column { head: string; value: (one: Summary) => string | number; cell?: (one: Summary) => Node | string | number; isThere?: (all: Summary[]) => boolean }
interface Order { by: string; down: boolean; sort: (by: string) => void }

const ownerOf = (one: Summary) => one.owner?.replace(/^spiffe:\/\//, "") ?? "";
const programOf = (one: Summary) => one.program.split("/").pop() || one.program || one.id;
const kColumns: Column[] = [
  { head: "Program", value: programOf, cell: (one) => link(`#/application/${one.id}`, programOf(one)) },
  { head: "Name", value: (one) => one.name ?? "", isThere: (all) => all.some((one) => one.name) },
  { head: "Owner", value: ownerOf, isThere: (all) => all.some((one) => one.owner) },
  { head: "State", value: (one) => one.state, cell: (one) => badge(one.state) },
  { head: "Ranks", value: (one) => one.ranks },
  { head: "Zones", value: (one) => one.zones.join(", ") },
  { head: "Submitted", value: (one) => one.submitted_us, cell: (one) => instant(one.submitted_us) },
  { head: "Exit", value: (one) => one.exit_code ?? "" },
  { head: "Reason", value: (one) => one.reason },
];

const columnsOf = (all: Summary[]) => kColumns.filter((column) => column.isThere?.(all) ?? true);

/** Rows are cards where the page is narrow, so each cell knows its head; the roles stay what they are, whatever a cell is laid out as. */
export function applicationRows(applications: Summary[], order?: Order): HTMLElement {
  if (applications.length === 0) return h("p", { class: "quiet" }, "No applications yet.");
  const columns = columnsOf(applications);
  const head = ({ head: name }: Column) => {
    if (order === undefined) return h("th", { scope: "col", role: "columnheader" }, name);
    const isBy = order.by === name;
    return h("th", { scope: "col", role: "columnheader", "aria-sort": isBy ? (order.down ? "descending" : "ascending") : "none" },
      h("button", { type: "button", class: "sort", "data-key": `sort ${name}`, onclick: () => order.sort(name) }, name, h("span", { "aria-hidden": "true" }, isBy ? (order.down ? " \u2193" : " \u2191") : "")));
  };
  return h("div", { class: "scroll rows applications", tabindex: 0, role: "region", "aria-label": "Applications" },
    h("table", { role: "table" },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map(head))),
      h("tbody", { role: "rowgroup" }, applications.map((one) => h("tr", { role: "row" }, columns.map((column) => {
        const value = column.cell?.(one) ?? column.value(one);
        return h("td", { role: "cell", "data-head": column.head, class: value === "" ? "none-here" : "" }, value);
      }))))));
}

/** Text as one field of CSV; what a spreadsheet would take for a formula is kept from being one. */
export function csvField(value: string | number): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function asCsv(all: Summary[]): string {
  const columns = columnsOf(all);
  const time = (us: number) => (us === 0 ? "" : new Date(us / 1000).toISOString());
  const rows = all.map((one) => [one.id, ...columns.map((column) => (column.head === "Program" ? one.program : column.head === "Submitted" ? time(one.submitted_us) : column.value(one)))]);
  return [["Id", ...columns.map((column) => column.head)], ...rows].map((row) => row.map(csvField).join(",") + "\r\n").join("");
}

function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: address, download: name }).click();
  window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export async function applicationsPage(room: HTMLElement, signal: AbortSignal): Promise<void> {
  let all: Summary[] = [];
  let next: string | undefined;
  let by = "Submitted", down = true;
  const filter = h("input", { type: "search", id: "filter", placeholder: "program, state, zone", oninput: () => draw() });
  const more = h("button", { type: "button", onclick: () => void load(true) }, "Older");
  const rows = h("div", { "aria-live": "off" }), fault = h("div"), count = h("span", { class: "quiet", role: "status" });
  const shown = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (one: Summary) => `${one.id} ${one.program} ${one.name ?? ""} ${ownerOf(one)} ${one.state} ${one.zones.join(" ")} ${one.reason}`.toLowerCase();
    const { value } = kColumns.find((column) => column.head === by)!;
    const compare = (a: Summary, b: Summary) => {
      const [x, y] = [value(a), value(b)];
      return (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), undefined, { numeric: true })) || (a.id < b.id ? -1 : 1);
    };
    return all.filter((one) => words.every((word) => text(one).includes(word))).sort((a, b) => (down ? compare(b, a) : compare(a, b)));
  };
  const file = (name: string, ending: string, type: string, write: () => string) =>
    h("button", { type: "button", onclick: () => save(`applications.${ending}`, type, write()) }, name);
  room.append(
    h("div", { class: "row" }, h("label", { for: "filter" }, "Show only"), filter, count, h("span", { class: "space" }),
      file("CSV", "csv", "text/csv", () => asCsv(shown())), file("JSON", "json", "application/json", () => JSON.stringify({ applications: shown() }, null, 2))),
    fault, rows, more);

  const draw = () => {
    const list = shown();
    const sort = (wanted: string) => {
      down = wanted === by ? !down : wanted === "Submitted";
      by = wanted;
      draw();
    };
    redraw(rows, applicationRows(list, { by, down, sort }));
    count.textContent = `${list.length} of ${all.length}${next === undefined ? "" : " loaded"}`;
    more.hidden = next === undefined;
  };
  const load = async (older: boolean) => {
    const from = older && next ? `&after=${next}` : "";
    const page = await get<{ applications: Summary[]; next?: string }>(`v1/applications?limit=200${from}`);
    if (signal.aborted) return;
    if (older) {
      all = all.concat(page.applications);
      next = page.next;
    } else {
      // The newest ones anew; older ones that were loaded stay.
      const fresh = new Set(page.applications.map((one) => one.id));
      const oldest = page.applications.at(-1);
      const isBehind = (one: Summary, last: Summary) => one.submitted_us < last.submitted_us || (one.submitted_us === last.submitted_us && one.id < last.id);
      const kept = page.next === undefined || oldest === undefined ? [] : all.filter((one) => !fresh.has(one.id) && isBehind(one, oldest));
      all = page.applications.concat(kept);
      if (kept.length === 0) next = page.next;
    }
    draw();
  };
  await load(false);
  onEvent(signal, atMostEvery(500, signal, () => load(false).then(() => fault.replaceChildren(), (error) => fault.replaceChildren(problem(error)))));
}

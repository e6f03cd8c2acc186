// All applications of the caller (of everybody, for an operator), with live state.
import { get, type Summary } from "./api";
import { badge, h, link, problem, table } from "./dom";
import { instant } from "./format";
import { atMostEvery, onEvent } from "./live";

export function applicationRows(applications: Summary[]): HTMLElement {
  return table("Applications", ["Program", "State", "Ranks", "Zones", "Submitted", "Exit", "Reason"], applications.map((one) => [
    link(`#/application/${one.id}`, one.program.split("/").pop() || one.program || one.id), badge(one.state), one.ranks, one.zones.join(", "),
    instant(one.submitted_us), one.exit_code ?? "", one.reason]), "No applications yet.");
}

export async function applicationsPage(room: HTMLElement, signal: AbortSignal): Promise<void> {
  let all: Summary[] = [];
  let next: string | undefined;
  const filter = h("input", { type: "search", id: "filter", placeholder: "program, state, zone", oninput: () => draw() });
  const more = h("button", { type: "button", onclick: () => void load(true) }, "Older");
  const rows = h("div", { "aria-live": "off" }), fault = h("div");
  room.append(h("div", { class: "row" }, h("label", { for: "filter" }, "Show only"), filter), fault, rows, more);

  const draw = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (one: Summary) => `${one.id} ${one.program} ${one.state} ${one.zones.join(" ")} ${one.reason}`.toLowerCase();
    rows.replaceChildren(applicationRows(all.filter((one) => words.every((word) => text(one).includes(word)))));
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
      const oldest = page.applications.at(-1)?.id ?? "";
      const kept = page.next === undefined ? [] : all.filter((one) => !fresh.has(one.id) && one.id < oldest);
      all = page.applications.concat(kept);
      if (kept.length === 0) next = page.next;
    }
    draw();
  };
  await load(false);
  onEvent(signal, atMostEvery(500, signal, () => load(false).then(() => fault.replaceChildren(), (error) => fault.replaceChildren(problem(error)))));
}

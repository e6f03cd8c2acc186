// Past, running and planned work by processor: what runs here, is promised, waits or has been from the zone's queue, what is elsewhere from applications that the caller may see.
import { get, type Application, type Nodes, type QueueRow, type Summary } from "./api";
import { detailsOf, kEnds } from "./details";
import { badge, h, link, problem, table } from "./dom";
import { instant, ranges, seconds } from "./format";
import { makeGantt, type Bar, type Row } from "./gantt";
import { atMostEvery, onEvent, repeatedly } from "./live";

const kApplications = 200; // newest ones that are looked at
const kSlots = 256; // processors in the slice matrix
const kEnded = 2000; // parts that are kept
let ended: QueueRow[] = []; // here, the last one first; they change no more

/** A part in another zone: where it runs there is that zone's own affair. */
interface Away { zone: string; bar: Bar }

/** Bars of one application: here by "ZONE/MACHINE:PROCESSOR"; parts in other zones, which number machines anew for each, are gathered in `away`. */
export function barsOf(one: Application, zone: string, now: number, add: (row: string, bar: Bar) => void, away: Away[]): void {
  const at = (state: string) => one.history.find((change) => change.state === state)?.at_us;
  const started = at("running") ?? at("launching");
  const isOver = kEnds.includes(one.state);
  const begin = started ?? one.start_us;
  if (begin === undefined) return;
  const end = isOver ? one.history.at(-1)!.at_us : Math.max(begin + one.walltime_s * 1e6, now * 1000);
  const kind = isOver ? "past" : started !== undefined ? "running" : "planned";
  const name = one.program.split("/").pop() || one.id;
  if (isOver && started === undefined) return;
  const link = `#/application/${one.id}`;
  for (const part of one.parts) {
    if (part.zone !== zone) {
      const count = part.ranks.length || part.assignment.length;
      away.push({ zone: part.zone, bar: { begin: begin / 1000, end: end / 1000, kind, link, text: `${name}, ${count === 1 ? "rank" : "ranks"} ${ranges(part.ranks)}` } });
      continue;
    }
    for (const place of part.assignment)
      add(`${part.zone}/${place.machine}:${place.processor}`, { begin: begin / 1000, end: end / 1000, kind, text: `${name}, rank ${place.rank}`, link });
  }
}

/** Rows for parts in other zones: as few as keep those apart that overlap. */
export function lanesAway(away: Away[]): Row[] {
  const lanes = new Map<string, { bars: Bar[]; free: number }[]>();
  for (const { zone, bar } of [...away].sort((a, b) => a.bar.begin - b.bar.begin)) {
    const all = lanes.get(zone) ?? [];
    lanes.set(zone, all);
    let lane = all.find((one) => one.free <= bar.begin);
    if (lane === undefined) all.push((lane = { bars: [], free: 0 }));
    lane.bars.push(bar);
    lane.free = bar.end;
  }
  return [...lanes].sort(([a], [b]) => a.localeCompare(b)).flatMap(([zone, all]) => all.map((lane, i) => ({ name: `zone ${zone}, part ${i + 1}`, bars: lane.bars })));
}

/** Applications of other homes are not known here. */
function linkOf(row: QueueRow, zone: string): { link?: string } {
  return row.home === zone ? { link: `#/application/${row.application}` } : {};
}

function barsOfQueue(row: QueueRow, zone: string, now: number, add: (row: string, bar: Bar) => void): void {
  const begin = (row.start_us ?? now * 1000) / 1000;
  const end = row.end_us !== undefined ? row.end_us / 1000 : Math.max(begin + (row.walltime_s ?? 60) * 1000, row.state === "running" ? now : 0);
  const kind = row.end_us !== undefined ? "past" : row.state === "running" ? "running" : "planned";
  for (const [machine, processor] of row.places ?? [])
    add(`${zone}/${machine}:${processor}`, { begin, end, kind, text: `part of home ${row.home}`, ...linkOf(row, zone) });
}

/** When a part that waits may begin, milliseconds since the Unix epoch; none where that is not known. */
export function expectedStart(row: QueueRow, now: number): number | undefined {
  const seconds = row.queue?.promised_in_s ?? row.queue?.start_in_s;
  return seconds === undefined ? undefined : now + seconds * 1000;
}

/** What waits in the queue has no processors yet: it is drawn on those that are free soonest, in the order of its starts. */
export function addWaiting(waiting: QueueRow[], rows: Map<string, Bar[]>, zone: string, now: number): void {
  const known = waiting.flatMap((row) => { const begin = expectedStart(row, now); return begin === undefined ? [] : [{ row, begin }]; });
  const lanes = [...rows].filter(([name]) => name.startsWith(`${zone}/`)).map(([, bars]) => ({ bars, free: Math.max(0, ...bars.map((bar) => bar.end)) }));
  for (const { row, begin } of known.sort((a, b) => a.begin - b.begin)) {
    lanes.sort((a, b) => a.free - b.free);
    for (const lane of lanes.slice(0, row.ranks)) {
      const end = begin + (row.walltime_s ?? 60) * 1000;
      lane.bars.push({ begin, end, kind: "planned", ...linkOf(row, zone),
        text: `part of home ${row.home}, waits in the queue${row.queue?.place === undefined ? "" : ` at place ${row.queue.place}`}; on which processors is not known yet` });
      lane.free = Math.max(lane.free, end);
    }
  }
}

function startOf(row: QueueRow, now: number): string {
  if (row.start_us !== undefined) return instant(row.start_us);
  if (row.queue === undefined) return "when its home wishes";
  const expected = expectedStart(row, now);
  return `in its turn${row.queue.place === undefined ? "" : `, at place ${row.queue.place}`}${expected === undefined ? "" : `, about ${instant(expected * 1000)}`}`;
}

/** The slice matrix, where parts share processors: who has which processor in which slice. */
export function sliceMatrix(queue: QueueRow[], slices: number): HTMLElement {
  const slots = new Map<string, (HTMLElement | string)[]>();
  for (const row of queue) {
    if (row.slice === undefined || row.slice >= slices) continue;
    for (const [machine, processor] of row.places ?? []) {
      const key = `${machine}:${processor}`;
      const cells = slots.get(key) ?? Array.from({ length: slices }, () => "-");
      const text = `${row.home}, ${(row.application ?? row.part).slice(-6)}${row.state === "running" ? "" : ` (${row.state})`}`;
      cells[row.slice] = row.application === undefined ? text : link(`#/application/${row.application}`, text);
      slots.set(key, cells);
    }
  }
  const rows = [...slots].sort(([a], [b]) => a.localeCompare(b, undefined, { numeric: true })).slice(0, kSlots);
  return table("Slice matrix", ["Processor", ...Array.from({ length: slices }, (_, i) => `Slice ${i + 1}`)], rows.map(([slot, cells]) => [slot, ...cells]), "No part is here.");
}

export async function ganttPage(room: HTMLElement, signal: AbortSignal): Promise<void> {
  const gantt = makeGantt("Work by processor over time", signal);
  const reservations = h("div"), slices = h("div"), fault = h("div"), cut = h("p", { class: "quiet", id: "cut" });
  room.append(h("p", { class: "row" }, h("span", { class: "quiet" }, "Blue: past. Green: running, to the end of its walltime. Brown: planned, or waiting for its turn, drawn on processors that may be free then. Parts in other zones have rows of their own, one for each that runs at the same time.")),
    fault, gantt.element, cut, h("h2", {}, "Reservations and waiting parts"), reservations, slices);
  const draw = async () => {
    const [nodes, queue, list] = await Promise.all([
      get<Nodes>("v1/nodes"), get<{ parts: QueueRow[]; ended?: QueueRow[] }>(`v1/queue?ended_after=${ended[0]?.end_us ?? 0}`), get<{ applications: Summary[]; next?: string }>(`v1/applications?limit=${kApplications}`)]);
    const applications = await detailsOf(list.applications, signal);
    if (signal.aborted) return;
    const rows = new Map<string, Bar[]>();
    for (const node of nodes.nodes) for (let i = 0; i < Math.min(node.processors, 4096); i++) rows.set(`${nodes.zone}/${node.name}:${i}`, []);
    const add = (row: string, bar: Bar) => {
      const bars = rows.get(row);
      if (bars === undefined) rows.set(row, [bar]);
      else bars.push(bar);
    };
    const now = Date.now();
    const away: Away[] = [];
    for (const one of applications) barsOf(one, nodes.zone, now, add, away);
    ended = [...(queue.ended ?? []), ...ended].slice(0, kEnded);
    const own = new Set(applications.map((one) => one.id));
    for (const row of [...queue.parts, ...ended]) if (!own.has(row.application ?? "")) barsOfQueue(row, nodes.zone, now, add);
    addWaiting(queue.parts.filter((row) => row.queue !== undefined), rows, nodes.zone, now);
    gantt.show([...[...rows].map(([name, bars]): Row => ({ name, bars })), ...lanesAway(away)]);
    fault.replaceChildren();
    cut.textContent = list.next === undefined ? "" : `Only the newest ${list.applications.length} applications are drawn; older ones, and their parts in other zones, are left out.`;
    const waiting = queue.parts.filter((row) => row.state !== "running");
    reservations.replaceChildren(table("Reservations", ["Application", "Home", "Ranks", "State", "Start", "Walltime"], waiting.map((row) => [
      row.application === undefined ? row.part : link(`#/application/${row.application}`, row.application), row.home, row.ranks, badge(row.state),
      startOf(row, now), seconds(row.walltime_s)]), "None."));
    slices.replaceChildren(...(nodes.sharing === undefined ? [] : [h("h2", {}, `Slices (by ${nodes.sharing})`), sliceMatrix(queue.parts, nodes.slices ?? 1)]));
  };
  await draw();
  const again = atMostEvery(2000, signal, () => draw().catch((error) => fault.replaceChildren(problem(error))));
  onEvent(signal, again);
  repeatedly(10_000, signal, again);
}

// Bars over rows on a canvas. Drawing costs what is visible: rows are cut by position, bars of a row by a search for the first one in sight, and bars
// thinner than a pixel are drawn once per pixel. 100,000 bars of 64 rows take a few milliseconds.
import { h, link, table } from "./dom";
import { onTheme } from "./theme";

export interface Bar {
  begin: number; // milliseconds since the Unix epoch
  end: number; // the same; Infinity is not allowed: draw to an expected end
  kind: "past" | "running" | "planned";
  text: string;
  link?: string;
}
export interface Row { name: string; bars: Bar[] }
export interface Gantt { element: HTMLElement; show(rows: Row[]): void }

const kLabels = 96, kAxis = 24, kTallest = 28, kLowest = 14, kMost = 420;

interface Lanes { name: string; bars: Bar[]; lane: Uint8Array; lanes: number; longest: number }

/** Bars by begin; those that overlap, as where parts take turns on a processor, get lanes of their row. */
export function layOut(row: Row): Lanes {
  const bars = [...row.bars].sort((a, b) => a.begin - b.begin);
  const lane = new Uint8Array(bars.length);
  const free: number[] = [];
  let longest = 0;
  bars.forEach((bar, i) => {
    let at = free.findIndex((end) => end <= bar.begin);
    if (at < 0) at = free.length < 8 ? free.length : 7;
    free[at] = Math.max(bar.end, free[at] ?? 0);
    lane[i] = at;
    longest = Math.max(longest, bar.end - bar.begin);
  });
  return { name: row.name, bars, lane, lanes: Math.max(1, free.length), longest };
}

/** Index of the first bar that may still be seen at `from`: none before it, however long, reaches there. */
export function firstVisible(row: Lanes, from: number): number {
  let low = 0, high = row.bars.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row.bars[middle]!.begin < from - row.longest) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Steps of a time axis: the smallest that leaves `room` pixels between marks, in ms. */
export function tick(msPerPixel: number, room: number): number {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5, 1728e5, 6048e5, 2592e6, 31536e6];
  return steps.find((step) => step / msPerPixel >= room) ?? steps.at(-1)!;
}

type Colours = Record<Bar["kind"], string>;

/** Where the chart looks: a span of time, and how far down. */
class View {
  begin = 0;
  end = 1;
  top = 0;
  rowHeight = kTallest;
  height = kMost;
  isFitted = true;
  constructor(private readonly canvas: HTMLCanvasElement) {}

  get width(): number { return this.canvas.clientWidth || 320; }
  get room(): number { return Math.max(1, this.width - kLabels); }
  x(time: number): number { return kLabels + ((time - this.begin) / (this.end - this.begin)) * this.room; }
  time(x: number): number { return this.begin + ((x - kLabels) / this.room) * (this.end - this.begin); }

  fit(rows: Lanes[]): void {
    let from = Infinity, to = -Infinity;
    for (const row of rows) {
      if (row.bars.length > 0) from = Math.min(from, row.bars[0]!.begin);
      for (const bar of row.bars) to = Math.max(to, bar.end);
    }
    if (from > to) [from, to] = [Date.now() - 3_600_000, Date.now() + 3_600_000];
    const margin = Math.max(1000, (to - from) * 0.02);
    Object.assign(this, { begin: from - margin, end: to + margin, top: 0, isFitted: true });
  }
  zoom(factor: number, around = (this.begin + this.end) / 2): void {
    const span = Math.min(Math.max((this.end - this.begin) * factor, 10), 1e13);
    const share = (around - this.begin) / (this.end - this.begin);
    this.begin = around - share * span;
    this.end = this.begin + span;
    this.isFitted = false;
  }
  pan(share: number): void {
    const by = (this.end - this.begin) * share;
    this.begin += by;
    this.end += by;
    this.isFitted = false;
  }
  /** Brings a bar into sight, without another scale. */
  reveal(row: number, bar: Bar): void {
    if (bar.end < this.begin || bar.begin > this.end) this.pan(((bar.begin + Math.min(bar.end, bar.begin + this.end - this.begin)) / 2 - (this.begin + this.end) / 2) / (this.end - this.begin));
    const y = row * this.rowHeight, room = this.height - kAxis;
    if (y < this.top) this.top = y;
    if (y + this.rowHeight > this.top + room) this.top = y + this.rowHeight - room;
  }
  scroll(pixels: number, rows: number): void {
    this.top = Math.min(Math.max(0, this.top + pixels), Math.max(0, rows * this.rowHeight - (this.height - kAxis)));
  }
}

/** How many bars it drew. */
function drawRow(context: CanvasRenderingContext2D, view: View, row: Lanes, y: number, colours: Colours): number {
  const laneHeight = (view.rowHeight - 3) / row.lanes;
  const painted = new Int32Array(row.lanes).fill(-1); // up to which pixel each lane is done
  let count = 0;
  for (let i = firstVisible(row, view.begin); i < row.bars.length; i++) {
    const bar = row.bars[i]!;
    if (bar.begin > view.end) break;
    if (bar.end < view.begin) continue;
    const lane = row.lane[i]!;
    const left = Math.max(kLabels, view.x(bar.begin)), right = Math.min(view.width, view.x(bar.end));
    if (right < painted[lane]!) continue;
    const wide = Math.max(1, right - left - (right - left > 4 ? 1 : 0));
    context.fillStyle = colours[bar.kind];
    context.fillRect(left, y + lane * laneHeight, wide, Math.max(1, laneHeight - 1));
    painted[lane] = Math.floor(left + wide) + (wide <= 1 ? 1 : 0);
    count++;
  }
  return count;
}

function drawAxis(context: CanvasRenderingContext2D, view: View, style: CSSStyleDeclaration): void {
  const step = tick((view.end - view.begin) / view.room, 90);
  context.fillStyle = style.getPropertyValue("--quiet");
  for (let time = Math.ceil(view.begin / step) * step; time < view.end; time += step) {
    const at = new Date(time);
    const fraction = step < 1000 ? `.${String(at.getMilliseconds()).padStart(3, "0")}` : "";
    const text = step >= 86_400_000 ? at.toLocaleDateString() : at.toLocaleTimeString() + fraction;
    context.fillRect(view.x(time), 0, 1, 6);
    context.fillText(text, view.x(time) + 3, 14);
  }
  const now = Date.now();
  if (now < view.begin || now > view.end) return;
  context.fillStyle = style.getPropertyValue("--bad");
  context.fillRect(view.x(now), 0, 2, view.height);
}

/** A frame round the chosen bar. */
function drawChoice(context: CanvasRenderingContext2D, view: View, rows: Lanes[], choice: Choice, style: CSSStyleDeclaration): void {
  const row = rows[choice.row]!, bar = row.bars[choice.bar]!;
  const laneHeight = (view.rowHeight - 3) / row.lanes;
  const left = Math.max(kLabels, view.x(bar.begin)), right = Math.min(view.width, view.x(bar.end));
  if (right < left) return;
  context.strokeStyle = style.getPropertyValue("--text");
  context.lineWidth = 2;
  context.strokeRect(left, kAxis + choice.row * view.rowHeight - view.top + 1 + row.lane[choice.bar]! * laneHeight, Math.max(3, right - left), Math.max(2, laneHeight - 1));
}

/** Draws the rows in sight; how many bars that were. */
function drawAll(canvas: HTMLCanvasElement, view: View, rows: Lanes[], choice: Choice | undefined): number {
  const context = canvas.getContext("2d");
  if (context === null) return 0;
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(view.width * scale) || canvas.height !== Math.round(view.height * scale)) {
    canvas.width = Math.round(view.width * scale);
    canvas.height = Math.round(view.height * scale);
  }
  const style = getComputedStyle(document.documentElement);
  const colours = { past: style.getPropertyValue("--bar"), running: style.getPropertyValue("--bar-2"), planned: style.getPropertyValue("--bar-3") };
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, view.width, view.height);
  context.font = "12px system-ui, sans-serif";
  view.rowHeight = Math.min(kTallest, Math.max(kLowest, (view.height - kAxis) / Math.max(1, rows.length)));
  let bars = 0;
  context.save();
  context.beginPath();
  context.rect(0, kAxis, view.width, view.height - kAxis);
  context.clip();
  for (let i = Math.floor(view.top / view.rowHeight); i < rows.length && kAxis + i * view.rowHeight - view.top < view.height; i++) {
    const y = kAxis + i * view.rowHeight - view.top;
    context.fillStyle = style.getPropertyValue("--text");
    context.fillText(rows[i]!.name, 4, y + view.rowHeight / 2 + 3, kLabels - 8);
    bars += drawRow(context, view, rows[i]!, y + 1, colours);
  }
  if (choice !== undefined) drawChoice(context, view, rows, choice, style);
  context.restore();
  drawAxis(context, view, style);
  return bars;
}

/** A bar by its places: of the row, and in it. */
interface Choice { row: number; bar: number }

/** The bar that is drawn at a place of the canvas: of the lane that is there, the last one that begins before; else one that is at most two pixels off. */
export function barAt(view: View, rows: Lanes[], x: number, y: number): Choice | undefined {
  const time = view.time(x);
  const at = Math.floor((y - kAxis + view.top) / view.rowHeight);
  const row = y < kAxis ? undefined : rows[at];
  if (row === undefined) return undefined;
  const within = y - kAxis + view.top - at * view.rowHeight - 1;
  const lane = Math.min(row.lanes - 1, Math.max(0, Math.floor(within / ((view.rowHeight - 3) / row.lanes))));
  const slack = ((view.end - view.begin) / view.room) * 2;
  let exact: Choice | undefined, close: Choice | undefined;
  for (let i = firstVisible(row, time - slack); i < row.bars.length && row.bars[i]!.begin <= time + slack; i++) {
    const bar = row.bars[i]!;
    if (row.lane[i] !== lane || bar.end + slack < time) continue;
    close = { row: at, bar: i };
    if (bar.begin <= time && time <= bar.end) exact = close;
  }
  return exact ?? close;
}

/** The next or previous bar of the row, and of the rows after or before it. */
function besides(rows: Lanes[], from: Choice | undefined, step: 1 | -1): Choice | undefined {
  const row = from?.row ?? (step > 0 ? 0 : rows.length - 1);
  const bar = from === undefined ? (step > 0 ? 0 : (rows[row]?.bars.length ?? 0) - 1) : from.bar + step;
  if (rows[row]?.bars[bar] !== undefined) return { row, bar };
  for (let i = row + step; rows[i] !== undefined; i += step)
    if (rows[i]!.bars.length > 0) return { row: i, bar: step > 0 ? 0 : rows[i]!.bars.length - 1 };
  return undefined;
}

/** The bar of the next row up or down that is nearest in time. */
function across(rows: Lanes[], from: Choice, step: 1 | -1): Choice | undefined {
  const time = rows[from.row]!.bars[from.bar]!.begin;
  for (let i = from.row + step; rows[i] !== undefined; i += step) {
    const { bars } = rows[i]!;
    let best = -1;
    bars.forEach((bar, at) => {
      if (best < 0 || Math.abs(bar.begin - time) < Math.abs(bars[best]!.begin - time)) best = at;
    });
    if (best >= 0) return { row: i, bar: best };
  }
  return undefined;
}

function describe(row: Lanes, bar: Bar): string {
  return `${row.name}: ${bar.text}, ${bar.kind}, ${new Date(bar.begin).toLocaleString()} to ${new Date(bar.end).toLocaleString()}`;
}

/** Dragging moves; a press that moves nothing calls `choose`. */
function listenToPointer(canvas: HTMLCanvasElement, view: View, moved: (dx: number, dy: number) => void, choose: (x: number, y: number) => void): void {
  let last: { x: number; y: number; far: number } | undefined;
  canvas.addEventListener("pointerdown", (event) => {
    last = { x: event.clientX, y: event.clientY, far: 0 };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (last === undefined) return;
    const dx = event.clientX - last.x, dy = event.clientY - last.y;
    last = { x: event.clientX, y: event.clientY, far: last.far + Math.abs(dx) + Math.abs(dy) };
    if (last.far >= 4) moved(-dx / view.room, -dy);
  });
  canvas.addEventListener("pointerup", (event) => {
    const box = canvas.getBoundingClientRect();
    if (last !== undefined && last.far < 4) choose(event.clientX - box.left, event.clientY - box.top);
    last = undefined;
  });
  canvas.addEventListener("pointercancel", () => (last = undefined));
}

export function makeGantt(label: string, signal: AbortSignal): Gantt {
  const canvas = h("canvas", { tabindex: 0, role: "application", "aria-label": label, "aria-describedby": "gantt-keys" });
  const chosen = h("p", { role: "status", class: "quiet" }, "Choose a bar to see what it is.");
  const list = listOfBars();
  const view = new View(canvas);
  let rows: Lanes[] = [], due = false, isShown = false;
  let choice: Choice | undefined;
  const later = () => {
    if (due || !isShown) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      if (signal.aborted) return;
      const started = performance.now();
      canvas.dataset["bars"] = String(drawAll(canvas, view, rows, choice));
      canvas.dataset["ms"] = (performance.now() - started).toFixed(2);
      list.later(view, rows);
    });
  };
  const choose = (found: Choice | undefined) => {
    if (found === undefined) return;
    choice = found;
    const row = rows[found.row]!, bar = row.bars[found.bar]!;
    chosen.replaceChildren(bar.link ? h("a", { href: bar.link }, describe(row, bar)) : h("span", {}, describe(row, bar)));
    later();
  };
  const go = (find: (from: Choice | undefined) => Choice | undefined) => () => {
    const found = find(choice);
    if (found === undefined) return;
    view.reveal(found.row, rows[found.row]!.bars[found.bar]!);
    choose(found);
  };
  const then = (act: () => void) => () => (act(), later());
  const acts = {
    earlier: then(() => view.pan(-0.1)), later: then(() => view.pan(0.1)), nearer: then(() => view.zoom(0.7)), farther: then(() => view.zoom(1 / 0.7)),
    up: then(() => view.scroll(-3 * view.rowHeight, rows.length)), down: then(() => view.scroll(3 * view.rowHeight, rows.length)), all: then(() => view.fit(rows)),
  };
  const first = (step: 1 | -1) => besides(rows, undefined, step);
  const keys: Record<string, () => void> = {
    ArrowLeft: go((from) => besides(rows, from, -1)), ArrowRight: go((from) => besides(rows, from, 1)),
    ArrowUp: go((from) => (from === undefined ? first(-1) : across(rows, from, -1))), ArrowDown: go((from) => (from === undefined ? first(1) : across(rows, from, 1))),
    Enter: () => {
      const bar = choice === undefined ? undefined : rows[choice.row]!.bars[choice.bar];
      if (bar?.link !== undefined) location.hash = bar.link;
    },
    "+": acts.nearer, "=": acts.nearer, "-": acts.farther, Home: acts.all };
  const moves: Record<string, () => void> = { ArrowLeft: acts.earlier, ArrowRight: acts.later, ArrowUp: acts.up, ArrowDown: acts.down };
  canvas.addEventListener("keydown", (event) => {
    const act = (event.shiftKey ? moves[event.key] : undefined) ?? keys[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls
    event.preventDefault();
    view.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, view.time(event.clientX - canvas.getBoundingClientRect().left));
    later();
  }, { passive: false });
  listenToPointer(canvas, view, (share, pixels) => (view.pan(share), view.scroll(pixels, rows.length), later()), (x, y) => choose(barAt(view, rows, x, y)));
  onTheme(signal, later);
  const sizes = new ResizeObserver(later);
  sizes.observe(canvas);
  signal.addEventListener("abort", () => sizes.disconnect());
  return { element: chartWith(canvas, chosen, list.element, acts), show(wanted) {
    const kept = choice && { row: rows[choice.row]!, bar: rows[choice.row]!.bars[choice.bar]! };
    rows = wanted.map(layOut);
    isShown = true;
    choice = undefined;
    if (kept !== undefined) { // the same bar, wherever it is now
      const row = rows.findIndex((one) => one.name === kept.row.name);
      const bar = rows[row]?.bars.findIndex((one) => one.begin === kept.bar.begin && one.text === kept.bar.text) ?? -1;
      if (bar >= 0) choice = { row, bar };
    }
    view.height = Math.min(kMost, kAxis + Math.max(4, rows.length) * kTallest);
    canvas.style.height = `${view.height}px`;
    if (view.isFitted) view.fit(rows);
    later();
  } };
}

const kListed = 200; // bars in the list

/** The bars in sight as a table, for who cannot see or point at the chart; it is made when it is opened. */
function listOfBars(): { element: HTMLElement; later(view: View, rows: Lanes[]): void } {
  const place = h("div");
  const element = h("details", {}, h("summary", {}, "What is in view, as a table"), place);
  let timer: number | undefined, make = () => {};
  element.addEventListener("toggle", () => make());
  return { element, later(view, rows) {
    make = () => {
      if (!element.open) return;
      const found: { row: Lanes; bar: Bar }[] = [];
      let more = 0;
      for (const row of rows) {
        for (let i = firstVisible(row, view.begin); i < row.bars.length && row.bars[i]!.begin <= view.end; i++) {
          if (row.bars[i]!.end < view.begin) continue;
          if (found.length < kListed) found.push({ row, bar: row.bars[i]! });
          else more++;
        }
      }
      place.replaceChildren(
        table("Bars in view", ["Where", "What", "Kind", "From", "To"], found.map(({ row, bar }) => [
          row.name, bar.link ? link(bar.link, bar.text) : bar.text, bar.kind, new Date(bar.begin).toLocaleString(), new Date(bar.end).toLocaleString()]), "Nothing."),
        more > 0 ? h("p", { class: "quiet" }, `${more} more; zoom in to see them.`) : "");
    };
    window.clearTimeout(timer);
    timer = window.setTimeout(() => make(), 300);
  } };
}

function chartWith(canvas: HTMLCanvasElement, chosen: HTMLElement, list: HTMLElement, acts: { earlier(): void; later(): void; nearer(): void; farther(): void; all(): void }): HTMLElement {
  const button = (text: string, name: string, act: () => void) => h("button", { type: "button", "aria-label": name, onclick: act }, text);
  return h("div", {},
    h("div", { class: "row" }, button("-", "Zoom out", acts.farther), button("+", "Zoom in", acts.nearer), button("←", "Earlier", acts.earlier),
      button("→", "Later", acts.later), button("All", "Show all", acts.all)),
    canvas, chosen,
    h("p", { id: "gantt-keys", class: "quiet" }, "Drag to move. Keys: arrows go from bar to bar, Enter opens it; Shift and arrows move, + and - zoom, Home shows all. Ctrl and wheel zoom, too."), list);
}

// Bars over rows on a canvas. Drawing costs what is visible: rows are cut by position, bars of a row by a search for the first one in sight, and bars
// thinner than a pixel are drawn once per pixel. 100,000 bars of 64 rows take a few milliseconds.
import { h } from "./dom";

export interface Bar {
  begin: number; // milliseconds since the Unix epoch
  end: number; // the same; Infinity is not allowed: draw to an expected end
  kind: "past" | "running" | "planned";
  text: string;
  link?: string;
}
export interface Row { name: string; bars: Bar[] }
export interface Gantt { element: HTMLElement; show(rows: Row[]): void; drawn(): { bars: number; ms: number } }

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

export function makeGantt(label: string, signal: AbortSignal): Gantt {
  const canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": label, "aria-describedby": "gantt-keys" });
  const chosen = h("p", { role: "status", class: "quiet" }, "Choose a bar to see what it is.");
  let rows: Lanes[] = [], height = kMost, begin = 0, end = 1, top = 0, rowHeight = kTallest, isFitted = true, due = false;
  let last = { bars: 0, ms: 0 };

  const width = () => canvas.clientWidth || 320;
  const room = () => Math.max(1, width() - kLabels);
  const x = (time: number) => kLabels + ((time - begin) / (end - begin)) * room();
  const later = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      if (!signal.aborted) draw();
    });
  };
  const fit = () => {
    let from = Infinity, to = -Infinity;
    for (const row of rows) {
      if (row.bars.length > 0) from = Math.min(from, row.bars[0]!.begin);
      for (const bar of row.bars) to = Math.max(to, bar.end);
    }
    if (from > to) [from, to] = [Date.now() - 3_600_000, Date.now() + 3_600_000];
    const margin = Math.max(1000, (to - from) * 0.02);
    begin = from - margin;
    end = to + margin;
    top = 0;
    isFitted = true;
  };
  const zoom = (factor: number, around = (begin + end) / 2) => {
    const span = Math.min(Math.max((end - begin) * factor, 10), 1e13);
    const share = (around - begin) / (end - begin);
    begin = around - share * span;
    end = begin + span;
    isFitted = false;
    later();
  };
  const pan = (share: number) => {
    const by = (end - begin) * share;
    begin += by;
    end += by;
    isFitted = false;
    later();
  };
  const scroll = (pixels: number) => {
    top = Math.min(Math.max(0, top + pixels), Math.max(0, rows.length * rowHeight - (height - kAxis)));
    later();
  };

  const drawRow = (context: CanvasRenderingContext2D, row: Lanes, y: number, colours: Record<Bar["kind"], string>) => {
    const laneHeight = (rowHeight - 3) / row.lanes;
    const painted = new Int32Array(row.lanes).fill(-1); // up to which pixel each lane is done
    let count = 0;
    for (let i = firstVisible(row, begin); i < row.bars.length; i++) {
      const bar = row.bars[i]!;
      if (bar.begin > end) break;
      if (bar.end < begin) continue;
      const lane = row.lane[i]!;
      const left = Math.max(kLabels, x(bar.begin)), right = Math.min(width(), x(bar.end));
      if (right < painted[lane]!) continue;
      const wide = Math.max(1, right - left - (right - left > 4 ? 1 : 0));
      context.fillStyle = colours[bar.kind];
      context.fillRect(left, y + lane * laneHeight, wide, Math.max(1, laneHeight - 1));
      painted[lane] = Math.floor(left + wide) + (wide <= 1 ? 1 : 0);
      count++;
    }
    return count;
  };

  const drawAxis = (context: CanvasRenderingContext2D, style: CSSStyleDeclaration) => {
    const step = tick((end - begin) / room(), 90);
    context.fillStyle = style.getPropertyValue("--quiet");
    const showsDay = step >= 86_400_000;
    for (let time = Math.ceil(begin / step) * step; time < end; time += step) {
      const at = new Date(time);
      const text = showsDay ? at.toLocaleDateString() : at.toLocaleTimeString() + (step < 1000 ? `.${String(at.getMilliseconds()).padStart(3, "0")}` : "");
      context.fillRect(x(time), 0, 1, 6);
      context.fillText(text, x(time) + 3, 14);
    }
    const now = Date.now();
    if (now > begin && now < end) {
      context.fillStyle = style.getPropertyValue("--bad");
      context.fillRect(x(now), 0, 2, height);
    }
  };

  const draw = () => {
    const started = performance.now();
    const context = canvas.getContext("2d");
    if (context === null) return;
    const scale = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width() * scale) || canvas.height !== height * scale) {
      canvas.width = Math.round(width() * scale);
      canvas.height = height * scale;
    }
    const style = getComputedStyle(document.documentElement);
    const colours = { past: style.getPropertyValue("--bar"), running: style.getPropertyValue("--bar-2"), planned: style.getPropertyValue("--bar-3") };
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width(), height);
    context.font = "12px system-ui, sans-serif";
    rowHeight = Math.min(kTallest, Math.max(kLowest, (height - kAxis) / Math.max(1, rows.length)));
    let bars = 0;
    context.save();
    context.beginPath();
    context.rect(0, kAxis, width(), height - kAxis);
    context.clip();
    for (let i = Math.floor(top / rowHeight); i < rows.length && kAxis + i * rowHeight - top < height; i++) {
      const y = kAxis + i * rowHeight - top;
      context.fillStyle = style.getPropertyValue("--text");
      context.fillText(rows[i]!.name, 4, y + rowHeight / 2 + 3, kLabels - 8);
      bars += drawRow(context, rows[i]!, y + 1, colours);
    }
    context.restore();
    drawAxis(context, style);
    last = { bars, ms: performance.now() - started };
    canvas.dataset["bars"] = String(bars);
    canvas.dataset["ms"] = last.ms.toFixed(2);
  };

  const choose = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    const time = begin + ((event.clientX - box.left - kLabels) / room()) * (end - begin);
    const row = rows[Math.floor((event.clientY - box.top - kAxis + top) / rowHeight)];
    if (row === undefined) return;
    const slack = ((end - begin) / room()) * 2;
    for (let i = firstVisible(row, time); i < row.bars.length && row.bars[i]!.begin <= time + slack; i++) {
      const bar = row.bars[i]!;
      if (bar.end + slack < time) continue;
      const when = `${new Date(bar.begin).toLocaleString()} to ${new Date(bar.end).toLocaleString()}`;
      const text = `${row.name}: ${bar.text}, ${bar.kind}, ${when}`;
      chosen.replaceChildren(bar.link ? h("a", { href: bar.link }, text) : h("span", {}, text));
    }
  };

  const keys: Record<string, () => void> = {
    ArrowLeft: () => pan(-0.1), ArrowRight: () => pan(0.1), ArrowUp: () => scroll(-3 * rowHeight), ArrowDown: () => scroll(3 * rowHeight),
    "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), Home: () => (fit(), later()),
  };
  canvas.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, begin + ((event.clientX - box.left - kLabels) / room()) * (end - begin));
  }, { passive: false });
  let dragged: { x: number; y: number; far: number } | undefined;
  canvas.addEventListener("pointerdown", (event) => {
    dragged = { x: event.clientX, y: event.clientY, far: 0 };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (dragged === undefined) return;
    const dx = event.clientX - dragged.x, dy = event.clientY - dragged.y;
    dragged = { x: event.clientX, y: event.clientY, far: dragged.far + Math.abs(dx) + Math.abs(dy) };
    if (dragged.far < 4) return;
    pan(-dx / room());
    scroll(-dy);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (dragged !== undefined && dragged.far < 4) choose(event);
    dragged = undefined;
  });
  addEventListener("theme", later, { signal });
  const sizes = new ResizeObserver(later);
  sizes.observe(canvas);
  signal.addEventListener("abort", () => sizes.disconnect());

  const button = (text: string, name: string, act: () => void) => h("button", { type: "button", "aria-label": name, onclick: act }, text);
  const element = h("div", {},
    h("div", { class: "row" },
      button("-", "Zoom out", () => zoom(1 / 0.7)), button("+", "Zoom in", () => zoom(0.7)), button("←", "Earlier", () => pan(-0.25)),
      button("→", "Later", () => pan(0.25)), button("All", "Show all", () => (fit(), later()))),
    canvas, chosen,
    h("p", { id: "gantt-keys", class: "quiet" }, "Drag to move. Keys: arrows move, + and - zoom, Home shows all. Ctrl and wheel zoom, too."));
  return {
    element,
    show(wanted) {
      rows = wanted.map(layOut);
      height = Math.min(kMost, kAxis + Math.max(4, rows.length) * kTallest);
      canvas.style.height = `${height}px`;
      if (isFitted) fit();
      later();
    },
    drawn: () => last,
  };
}

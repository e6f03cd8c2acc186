// Who talks to whom: a heat map of bytes between ranks, with zone blocks; by rank (before) and zone by zone (after).
import type { Model } from "./api";
import { clean, h } from "./dom";
import { bytes } from "./format";
import { onTheme } from "./theme";

/** Light to dark by the logarithm of the bytes: traffic spans many orders of magnitude. `share` is 0..1. */
function colour(share: number, dark: boolean): [number, number, number] {
  const from = dark ? [23, 28, 35] : [245, 246, 248], to = dark ? [255, 180, 84] : [140, 20, 60];
  return [0, 1, 2].map((i) => Math.round(from[i]! + (to[i]! - from[i]!) * share)) as [number, number, number];
}

function isDark(element: Element): boolean {
  return getComputedStyle(element).colorScheme === "dark" || (getComputedStyle(element).colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

const kAxis = 34, kBlocks = 22; // CSS pixels: rank numbers at the left and on top; names of zones below
const shareOf = (bytes: number, most: number) => bytes > 0 && most > 0 ? 0.15 + (0.85 * Math.log1p(bytes)) / Math.log1p(most) : 0;

/** Where the zone changes along `order`: first places of the runs, and the name of each. */
function blocksOf(order: number[], zones: string[]): { at: number; end: number; zone: string }[] {
  const blocks: { at: number; end: number; zone: string }[] = [];
  order.forEach((rank, i) => {
    const last = blocks.at(-1);
    if (last?.zone === zones[rank]) last!.end = i + 1;
    else blocks.push({ at: i, end: i + 1, zone: zones[rank]! });
  });
  return blocks;
}

/**
 * Draws `order` along both axes, with ranks at them; lines where `zones` changes. More ranks than 512 share cells: the heaviest shows. The cells are painted
 * one by one beside the page and scaled without smoothing; lines and words go over them in pixels of the device, so they are sharp at any number of ranks.
 */
function heatMap(model: Model, order: number[], zones: string[] | undefined, label: string, signal: AbortSignal): HTMLElement {
  const size = Math.min(model.ranks, 512);
  const canvas = h("canvas", { role: "img", "aria-label": label, class: "heat" });
  const place = new Int32Array(model.ranks);
  order.forEach((rank, at) => (place[rank] = Math.floor((at * size) / model.ranks)));
  const heat = new Float64Array(size * size);
  let most = 0;
  for (const [u, v, weight] of model.edges) {
    const x = place[u]!, y = place[v]!;
    for (const at of [y * size + x, x * size + y]) heat[at] = Math.max(heat[at]!, weight);
    most = Math.max(most, weight);
  }
  const blocks = zones === undefined ? [] : blocksOf(order, zones);
  const draw = () => {
    const context = canvas.getContext("2d");
    const wide = canvas.clientWidth;
    if (context === null || wide === 0 || signal.aborted) return;
    const dark = isDark(document.documentElement);
    const cells = document.createElement("canvas");
    cells.width = cells.height = size;
    const inner = cells.getContext("2d")!;
    const image = inner.createImageData(size, size);
    heat.forEach((bytes, i) => image.data.set([...colour(shareOf(bytes, most), dark), 255], 4 * i));
    inner.putImageData(image, 0, 0);

    const scale = window.devicePixelRatio || 1;
    const side = Math.max(1, Math.floor((wide - kAxis - 1) * scale)), left = Math.round(kAxis * scale), top = left;
    canvas.width = Math.round(wide * scale);
    canvas.height = top + side + Math.round((blocks.length > 0 ? kBlocks : 4) * scale);
    canvas.style.height = `${canvas.height / scale}px`;
    Object.assign(canvas.dataset, { left, top, side });
    context.imageSmoothingEnabled = false;
    context.drawImage(cells, left, top, side, side);
    const style = getComputedStyle(document.documentElement);
    const at = (i: number) => Math.round((i * side) / model.ranks);
    const thick = Math.max(1, Math.round(scale));
    context.fillStyle = style.getPropertyValue("--accent");
    for (const { at: begin } of blocks.slice(1)) {
      context.fillRect(left + at(begin), top, thick, side);
      context.fillRect(left, top + at(begin), side, thick);
    }
    context.font = `${Math.round(11 * scale)}px system-ui, sans-serif`;
    context.fillStyle = style.getPropertyValue("--quiet");
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillText("rank", 0, top - 9 * scale);
    const every = Math.max(1, Math.ceil((model.ranks * 26 * scale) / side)); // ranks from one number to the next
    for (let i = 0; i < model.ranks; i += every) {
      const middle = (at(i) + at(i + 1)) / 2;
      context.textAlign = "right";
      context.fillText(String(order[i]), left - 4 * scale, top + middle);
      context.textAlign = "center";
      context.fillText(String(order[i]), left + middle, top - 9 * scale, every * (side / model.ranks));
    }
    context.fillStyle = style.getPropertyValue("--text");
    context.textAlign = "center";
    for (const block of blocks) {
      const room = at(block.end) - at(block.at);
      if (room > 14 * scale) context.fillText(clean(block.zone), left + at(block.at) + room / 2, top + side + 12 * scale, room);
    }
  };
  onTheme(signal, draw);
  const sizes = new ResizeObserver(draw);
  sizes.observe(canvas);
  signal.addEventListener("abort", () => sizes.disconnect());
  const scale = [0.25, 0.5, 0.75, 1].map((share) => Math.expm1(Math.log1p(most) * share));
  return h("div", {}, canvas, legend(most, scale, signal));
}

/** What the colours mean: from no traffic to the heaviest pair. */
function legend(most: number, marks: number[], signal: AbortSignal): HTMLElement {
  const patches = [0, ...marks].map((value) => ({ value, patch: h("canvas", { width: 18, height: 12, class: "patch", "aria-hidden": "true" }) }));
  const paint = () => patches.forEach(({ value, patch }) => {
    const context = patch.getContext("2d");
    if (context === null) return;
    context.fillStyle = `rgb(${colour(shareOf(value, most), isDark(document.documentElement)).join()})`;
    context.fillRect(0, 0, 18, 12);
  });
  paint();
  onTheme(signal, paint);
  return h("p", { class: "legend quiet" }, h("span", {}, "Bytes of a pair of ranks (logarithmic):"), patches.map(({ value, patch }) => h("span", {}, patch, ` ${value === 0 ? "none" : bytes(value)}`)));
}

export function crossing(model: Model, zones: string[]): number {
  return model.edges.reduce((sum, [u, v, weight]) => sum + (zones[u] === zones[v] ? 0 : weight), 0);
}

export function matrixPair(model: Model, zones: string[] | undefined, signal: AbortSignal): HTMLElement {
  const ranks = Array.from({ length: model.ranks }, (_, i) => i);
  const total = bytes(model.edges.reduce((sum, edge) => sum + edge[2], 0));
  const before = h("figure", {}, heatMap(model, ranks, zones, "Bytes between ranks, by rank", signal), h("figcaption", {}, `By rank: ${total} between ${model.ranks} ranks`));
  if (zones === undefined) return h("div", { class: "pair" }, before);
  const names = [...new Set(zones)].sort();
  const order = [...ranks].sort((a, b) => names.indexOf(zones[a]!) - names.indexOf(zones[b]!) || a - b);
  const after = heatMap(model, order, zones, "Bytes between ranks, zone by zone, with the blocks of zones", signal);
  return h("div", { class: "pair" }, before,
    h("figure", {}, after, h("figcaption", {}, `Zone by zone (${names.join(", ")}): ${bytes(crossing(model, zones))} cross zones`)));
}

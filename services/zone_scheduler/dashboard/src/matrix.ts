// Who talks to whom: a heat map of bytes between ranks, with zone blocks; by rank (before) and zone by zone (after).
import type { Model } from "./api";
import { h } from "./dom";
import { bytes } from "./format";

/** Light to dark by the logarithm of the bytes: traffic spans many orders of magnitude. `share` is 0..1. */
function colour(share: number, dark: boolean): [number, number, number] {
  const from = dark ? [23, 28, 35] : [245, 246, 248], to = dark ? [255, 180, 84] : [140, 20, 60];
  return [0, 1, 2].map((i) => Math.round(from[i]! + (to[i]! - from[i]!) * share)) as [number, number, number];
}

function isDark(element: Element): boolean {
  return getComputedStyle(element).colorScheme === "dark" || (getComputedStyle(element).colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

/** Draws `order` along both axes; lines where `zones` changes. More ranks than pixels share one: the heaviest shows. */
function heatMap(model: Model, order: number[], zones: string[] | undefined, label: string): HTMLElement {
  const size = Math.min(model.ranks, 512);
  const canvas = h("canvas", { width: size, height: size, role: "img", "aria-label": label });
  canvas.style.imageRendering = "pixelated";
  canvas.style.aspectRatio = "1";
  const place = new Int32Array(model.ranks);
  order.forEach((rank, at) => (place[rank] = Math.floor((at * size) / model.ranks)));
  const heat = new Float64Array(size * size);
  let most = 0;
  for (const [u, v, weight] of model.edges) {
    const x = place[u]!, y = place[v]!;
    for (const at of [y * size + x, x * size + y]) heat[at] = Math.max(heat[at]!, weight);
    most = Math.max(most, weight);
  }
  const draw = () => {
    const context = canvas.getContext("2d");
    if (context === null) return;
    const dark = isDark(document.documentElement);
    const image = context.createImageData(size, size);
    for (let i = 0; i < heat.length; i++) {
      const share = most > 0 && heat[i]! > 0 ? 0.15 + (0.85 * Math.log1p(heat[i]!)) / Math.log1p(most) : 0;
      const [r, g, b] = colour(share, dark);
      image.data.set([r, g, b, 255], 4 * i);
    }
    context.putImageData(image, 0, 0);
    if (zones === undefined) return;
    context.fillStyle = dark ? "#79b8ff" : "#0550ae";
    for (let i = 1; i < order.length; i++) {
      if (zones[order[i]!] === zones[order[i - 1]!]) continue;
      const at = (i * size) / model.ranks;
      const wide = Math.max(size / 256, 0.25);
      context.fillRect(at - wide / 2, 0, wide, size);
      context.fillRect(0, at - wide / 2, size, wide);
    }
  };
  draw();
  addEventListener("theme", () => canvas.isConnected && draw());
  return canvas;
}

export function crossing(model: Model, zones: string[]): number {
  return model.edges.reduce((sum, [u, v, weight]) => sum + (zones[u] === zones[v] ? 0 : weight), 0);
}

export function matrixPair(model: Model, zones: string[] | undefined): HTMLElement {
  const ranks = Array.from({ length: model.ranks }, (_, i) => i);
  const total = bytes(model.edges.reduce((sum, edge) => sum + edge[2], 0));
  const before = h("figure", {}, heatMap(model, ranks, zones, "Bytes between ranks, by rank"), h("figcaption", {}, `By rank: ${total} between ${model.ranks} ranks`));
  if (zones === undefined) return h("div", { class: "pair" }, before);
  const names = [...new Set(zones)].sort();
  const order = [...ranks].sort((a, b) => names.indexOf(zones[a]!) - names.indexOf(zones[b]!) || a - b);
  const after = heatMap(model, order, zones, "Bytes between ranks, zone by zone, with the blocks of zones");
  return h("div", { class: "pair" }, before,
    h("figure", {}, after, h("figcaption", {}, `Zone by zone (${names.join(", ")}): ${bytes(crossing(model, zones))} cross zones`)));
}

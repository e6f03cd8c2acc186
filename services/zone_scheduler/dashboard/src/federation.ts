// Other zones: a map with delays, who accepts whom, trust, and how long ago each was heard of.
import { get, type LinkView, type Nodes, type Peer, type Peering } from "./api";
import { badge, clean, h, problem, table } from "./dom";
import { bytes, instant, seconds } from "./format";
import { atMostEvery, onEvent, repeatedly } from "./live";

function svg(tag: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = clean(text);
  return element;
}

/** Of a peering "accepted" is the good end; of an application it is only the beginning. */
export function direction(state: string): HTMLElement {
  const element = badge(state);
  if (state === "accepted") element.className = "badge agreed";
  return element;
}

/** This zone in the middle, others around it; a line's kind says which directions are accepted. */
function map(zone: string, peers: Peer[], links: LinkView[]): Element {
  const others = peers.filter((peer) => peer.zone !== zone).slice(0, 24);
  const picture = svg("svg", { viewBox: "0 0 600 380", class: "map", role: "img", "aria-label": `Zone ${zone} and ${others.length} others` });
  const at = (i: number) => {
    const angle = (2 * Math.PI * i) / Math.max(1, others.length);
    return { x: 300 + 210 * Math.cos(angle), y: 190 + 130 * Math.sin(angle) };
  };
  others.forEach((peer, i) => {
    const { x, y } = at(i);
    const accepted = [peer.outbound, peer.inbound].filter((direction) => direction === "accepted").length;
    picture.append(svg("line", { x1: 300, y1: 190, x2: x, y2: y, class: accepted === 2 ? "ok" : accepted === 1 ? "half" : "" }));
    const delay = links.find((one) => one.zone === peer.zone)?.link.delay_s;
    if (delay !== undefined) picture.append(svg("text", { x: (300 + x) / 2, y: (190 + y) / 2 - 8, class: "delay" }, seconds(delay)));
  });
  others.forEach((peer, i) => {
    const { x, y } = at(i);
    picture.append(svg("circle", { cx: x, cy: y, r: 26 }), svg("text", { x, y: peer.zone.length > 6 ? y + 44 : y + 5 }, peer.zone));
  });
  picture.append(svg("circle", { cx: 300, cy: 190, r: 32 }), svg("text", { x: 300, y: 195 }, zone));
  return picture;
}

export async function federationPage(room: HTMLElement, signal: AbortSignal): Promise<void> {
  const draw = async () => {
    const [nodes, known, measured] = await Promise.all([
      get<Nodes>("v1/nodes"), get<{ peers: Peer[]; peerings: Peering[] }>("v1/peerings"), get<{ links: LinkView[] }>("v1/links")]);
    if (signal.aborted) return;
    room.replaceChildren(
      h("figure", {}, map(nodes.zone, known.peers, measured.links),
        h("figcaption", { class: "quiet" }, "Delays are one way. A whole line: both zones accept each other; a broken one: one of them does.")),
      h("h2", {}, "Zones"),
      table("Zones", ["Zone", "Organisation", "Accepts us", "Accepted here", "Last heard", "Lease until", "Note"], known.peers.map((peer) => [
        peer.zone, peer.organisation, direction(peer.outbound), direction(peer.inbound), instant(peer.last_heard_us),
        peer.leased_until_us === undefined ? "unknown" : instant(peer.leased_until_us), peer.reason]), "No other zone is known."),
      h("h2", {}, "Links"),
      table("Links", ["To", "Delay", "Rate", "Source", "Measured", "Unanswered"], measured.links.map((one) => [
        one.zone, seconds(one.link.delay_s), `${bytes(one.link.bandwidth_Bps)}/s`, one.source, instant(one.measured_us), one.failures]), "No links."),
      h("h2", {}, "Organisations and trust"),
      table("Organisations", ["Organisation", "State", "Trust", "Uses now"], known.peerings.map((one) => [
        one.organisation, direction(one.state), one.trust === undefined ? "for operators" : one.trust.score.toFixed(3),
        one.usage === undefined ? "for operators" : `${one.usage.processors} processors, ${one.usage.parts} parts`]), "No organisation has asked."));
  };
  await draw();
  const again = atMostEvery(1000, signal, () => draw().catch((fault) => room.querySelector(".problem") ?? room.prepend(problem(fault))));
  onEvent(signal, (event) => event === undefined && again());
  repeatedly(10_000, signal, again);
}

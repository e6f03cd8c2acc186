// The home zone at a glance.
import { get, type Nodes, type Peer, type QueueRow, type Summary } from "./api";
import { applicationRows } from "./applications";
import { detailsOf, kEnds } from "./details";
import { badge, facts, h, link, problem, redraw, table } from "./dom";
import { direction } from "./federation";
import { instant, seconds } from "./format";
import { atMostEvery, onEvent, repeatedly } from "./live";

const kNewest = 200; // applications that are looked at
const kWaits = 50; // ended ones whose waits are shown
const kSamples = 720; // of the utilisation, while the page is open
const kStates = ["running", "launching", "committed", "held", "planned", "accepted", "completed", "failed", "cancelled", "rejected"];
const samples: { at: number; share: number }[] = [];
function card(name: string, value: string | number, more: string | HTMLElement = ""): HTMLElement {
  return h("div", { class: "card" }, h("span", { class: "quiet" }, name), h("b", {}, value), typeof more === "string" ? h("span", { class: "quiet" }, more) : more);
}

async function countsByState(): Promise<Map<string, number>> {
  const { counts } = await get<{ counts: Record<string, number> }>("v1/applications/counts");
  return new Map(Object.entries(counts));
}

function stateBars(counts: Map<string, number>): HTMLElement {
  const rank = (state: string) => (kStates.indexOf(state) + kStates.length + 1) % (kStates.length + 1);
  const list = [...counts].filter(([, count]) => count > 0).sort(([a], [b]) => rank(a) - rank(b));
  const most = Math.max(1, ...list.map(([, count]) => count));
  if (list.length === 0) return h("p", { class: "quiet" }, "No applications yet.");
  return h("ul", { class: "states", "aria-label": "Applications by state" }, list.map(([state, count]) => {
    const bar = h("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * count) / most}%`;
    return h("li", {}, badge(state), h("span", { class: "room" }, bar), h("span", { class: "number" }, count));
  }));
}

/** The share of processors in use, as it was while this page was open. */
function course(): Element {
  const wide = 600, high = 120, from = samples[0]!.at, to = Math.max(samples.at(-1)!.at, from + 1);
  const x = (at: number) => (wide * (at - from)) / (to - from), y = (share: number) => high - 2 - (high - 4) * share;
  const make = (tag: string, attributes: Record<string, string | number>) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    return element;
  };
  let line = `M0,${y(samples[0]!.share)}`;
  for (const sample of samples.slice(1)) line += `H${x(sample.at).toFixed(1)}V${y(sample.share).toFixed(1)}`; // in use until it was another
  if (samples.length === 1) line += `H${wide}`;
  const mean = samples.slice(1).reduce((sum, sample, i) => sum + samples[i]!.share * (sample.at - samples[i]!.at), 0) / Math.max(1, samples.at(-1)!.at - from);
  const text = `${Math.round(100 * samples.at(-1)!.share)} % now${samples.length > 1 ? `, ${Math.round(100 * mean)} % on average while this page was open` : ""}`;
  const picture = make("svg", { viewBox: `0 0 ${wide} ${high}`, class: "course", role: "img", "aria-label": `Utilisation: ${text}`, preserveAspectRatio: "none" });
  for (const share of [0, 0.5, 1]) picture.append(make("line", { x1: 0, x2: wide, y1: y(share), y2: y(share) }));
  picture.append(make("path", { d: `${line}V${y(0)}H0Z`, class: "area" }), make("path", { d: line, class: "line" }));
  return h("figure", { class: "course" }, h("div", { class: "scale quiet", "aria-hidden": "true" }, h("span", {}, "100 %"), h("span", {}, "50 %"), h("span", {}, "0 %")), picture,
    h("figcaption", { class: "quiet" }, `Since ${new Date(from).toLocaleTimeString()}: ${text}.`));
}

function quantile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]!;
}

/** From submission to start, of those that ended last and had a start. */
async function waitsOf(list: Summary[], signal: AbortSignal): Promise<HTMLElement> {
  const ended = await detailsOf(list.filter((one) => kEnds.includes(one.state)).slice(0, kWaits), signal);
  const waits = ended.flatMap((one) => {
    const start = one.history.find((change) => change.state === "running" || change.state === "launching")?.at_us;
    return start === undefined ? [] : [(start - one.submitted_us) / 1e6];
  }).sort((a, b) => a - b);
  if (waits.length === 0) return h("p", { class: "quiet" }, "No application that ran has ended yet.");
  return facts([["Median", seconds(quantile(waits, 0.5))], ["90 % waited at most", seconds(quantile(waits, 0.9))], ["Longest", seconds(waits.at(-1)!)], ["Counted", `the last ${waits.length} that ran and ended`]]);
}

export async function overviewPage(room: HTMLElement, signal: AbortSignal): Promise<void> {
  const draw = async () => {
    const [nodes, queue, list, known] = await Promise.all([
      get<Nodes>("v1/nodes"), get<{ parts: QueueRow[] }>("v1/queue"), get<{ applications: Summary[] }>(`v1/applications?limit=${kNewest}`), get<{ peers: Peer[] }>("v1/peerings")]);
    const [counts, waits] = await Promise.all([countsByState(), waitsOf(list.applications, signal)]);
    if (signal.aborted) return;
    const processors = nodes.nodes.reduce((sum, node) => sum + node.processors, 0);
    const used = nodes.nodes.reduce((sum, node) => sum + node.used, 0);
    samples.push({ at: Date.now(), share: processors > 0 ? used / processors : 0 });
    if (samples.length > kSamples) samples.shift();
    const open = [...counts].filter(([state]) => !kEnds.includes(state)).reduce((sum, [, count]) => sum + count, 0);
    const running = counts.get("running") ?? 0;
    redraw(room,
      h("div", { class: "cards" },
        card("Processors in use", `${used} of ${processors}`, processors > 0 ? `${Math.round((100 * used) / processors)} % of the zone` : ""),
        card("Running", running, "of all"), card("Waiting", open - running, "of all"),
        card("Parts held or running here", queue.parts.length), card("Peers", known.peers.filter((peer) => peer.outbound === "accepted").length, "accept this zone")),
      h("div", { class: "halves" },
        h("section", {}, h("h2", {}, "Applications by state"), h("p", { class: "quiet" }, "Counted of all."), stateBars(counts)),
        h("section", {}, h("h2", {}, "Utilisation"), course()),
        h("section", {}, h("h2", {}, "Waits"), waits),
        h("section", {}, h("h2", {}, "Peers"), table("Peers", ["Zone", "Accepts us", "Accepted here", "Last heard"], known.peers.map((peer) => [
          link("#/federation", peer.zone), direction(peer.outbound), direction(peer.inbound), instant(peer.last_heard_us)]), "No other zone is known."))),
      h("h2", {}, "Newest applications"), applicationRows(list.applications.slice(0, 8)),
      h("h2", {}, `Machines of ${nodes.zone}`),
      table("Machines", ["Machine", "Processors", "In use", "Speed"], nodes.nodes.map((node) => [node.name, node.processors, node.used, node.speed])),
      nodes.sharing ? h("p", { class: "quiet" }, `Parts share processors by ${nodes.sharing}.`) : "",
      nodes.agents.length === 0 ? "" : h("h2", {}, "Node agents"),
      nodes.agents.length === 0 ? "" : table("Node agents", ["Node", "State", "Load", "Seen"],
        nodes.agents.map((agent) => [agent.description.name, badge(agent.live ? "running" : "expired"), agent.load.load_1.toFixed(2), instant(agent.seen_us)])));
  };
  await draw();
  const again = atMostEvery(1000, signal, () => draw().catch((fault) => room.querySelector(".problem") ?? room.prepend(problem(fault))));
  onEvent(signal, again);
  repeatedly(15_000, signal, again);
}

// The home zone at a glance.
import { get, type Nodes, type QueueRow, type Summary } from "./api";
import { applicationRows } from "./applications";
import { badge, h, problem, table } from "./dom";
import { instant } from "./format";
import { atMostEvery, onEvent, repeatedly } from "./live";

const kEnds = ["completed", "failed", "cancelled", "rejected"];

function card(name: string, value: string | number): HTMLElement {
  return h("div", { class: "card" }, h("span", { class: "quiet" }, name), h("b", {}, value));
}

export async function overviewPage(room: HTMLElement, signal: AbortSignal): Promise<void> {
  const draw = async () => {
    const [nodes, queue, list] = await Promise.all([
      get<Nodes>("v1/nodes"), get<{ parts: QueueRow[] }>("v1/queue"), get<{ applications: Summary[] }>("v1/applications?limit=100")]);
    if (signal.aborted) return;
    const processors = nodes.nodes.reduce((sum, node) => sum + node.processors, 0);
    const used = nodes.nodes.reduce((sum, node) => sum + node.used, 0);
    const open = list.applications.filter((one) => !kEnds.includes(one.state));
    room.replaceChildren(
      h("div", { class: "cards" },
        card("Processors in use", `${used} of ${processors}`),
        card("Running", open.filter((one) => one.state === "running").length),
        card("Waiting", open.filter((one) => one.state !== "running").length),
        card("Parts held or running here", queue.parts.length)),
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

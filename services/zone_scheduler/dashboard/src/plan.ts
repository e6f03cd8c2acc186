// A plan: which ranks go where, what crosses zones, and why.
import type { Change, Plan } from "./api";
import { facts, h, table } from "./dom";
import { bytes, instant, ranges, seconds } from "./format";

/** `history` of its application: what the plan expects counts from when it was made; without it, from now. */
export function planView(plan: Plan, history: Change[] = []): HTMLElement {
  const made = history.filter((change, i) => change.state === "planned" && history[i + 1]?.state !== "committed").at(-1)?.at_us; // else it was given up for the one before
  const when = made === undefined ? "" : `, as of ${instant(made)}`;
  const start = plan.start_in_s === undefined ? "-" : (plan.start_in_s === 0 ? "now" : `in ${seconds(plan.start_in_s)}`) + when;
  return h("div", {},
    facts([
      ["Start", plan.queued ? `${start}, in its turn` : start], ["Planned with", plan.profile], ["Round", plan.round],
      ["Expected run time", seconds(plan.predicted_s)],
      ["Crosses zones", plan.crossing_bytes === undefined ? "not known without a profile" : `${bytes(plan.crossing_bytes)} (in blocks of ranks ${bytes(plan.crossing_bytes_block)}, dealt in turn ${bytes(plan.crossing_bytes_round_robin)})`],
      ["Learned", plan.learned ?? "-"]]),
    h("h3", {}, "Clusters"), table("Clusters", ["Cluster", "Ranks", "Zone"], plan.clusters.map((ranks, i) => [i, ranges(ranks), plan.zone_of_cluster[i] ?? ""]), "No clusters."),
    h("h3", {}, "Zones asked"), table("Zones asked", ["Zone", "Offers", "Gets", "Start", "Reason"], plan.zones.map((zone) => [
      zone.zone, zone.processors, zone.ranks,
      zone.start_to_s === undefined ? "-" : zone.start_to_s === 0 ? "now" : `${seconds(zone.start_from_s ?? 0)} to ${seconds(zone.start_to_s)}`, zone.reason]), "No zone was asked."));
}

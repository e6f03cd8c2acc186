// Stored profiles of earlier runs.
import { get, type Model, type Profile } from "./api";
import { facts, h, link, table } from "./dom";
import { bytes, instant, seconds } from "./format";
import { matrixPair } from "./matrix";

function completeness(complete: boolean, unseen: Record<string, number> = {}): string {
  const missing = Object.entries(unseen).map(([name, calls]) => `${name} (${calls} ${calls === 1 ? "call" : "calls"})`).join(", ");
  return [...complete ? [] : [missing ? "not complete" : "the run was cut short"], ...missing ? [`messages of ${missing} are missing`] : []].join("; ") || "yes";
}

export async function profilesPage(room: HTMLElement, signal: AbortSignal): Promise<void> {
  const { profiles } = await get<{ profiles: Profile[] }>("v1/profiles");
  if (signal.aborted) return;
  room.append(table("Profiles", ["Program", "Arguments", "Ranks", "When", "Run time", "Predicted", "Complete"], profiles.map((one) => [
    link(`#/profile/${one.id}`, one.program || one.id), one.arguments, one.ranks, instant(one.at_us), seconds(one.measured_s), seconds(one.predicted_s),
    completeness(one.complete, one.unseen)]), "No profiles yet: complete runs leave them."));
}

export async function profilePage(room: HTMLElement, signal: AbortSignal, id: string): Promise<void> {
  if (id === "") throw new Error("This address names no profile.");
  const model = await get<Model>(`v1/profiles/${id}`);
  if (signal.aborted) return;
  const heaviest = [...model.edges].sort((a, b) => b[2] - a[2]).slice(0, 20);
  const compute = model.compute.reduce((sum, one) => sum + one, 0);
  room.append(
    facts([["Program", model.program], ["Ranks", model.ranks], ["Computing", `${seconds(compute)} over all ranks, most ${seconds(Math.max(...model.compute.slice(0, 100_000)))}`],
      ["Pairs that talk", model.edges.length], ["Complete", completeness(model.complete !== false, model.unseen)]]),
    h("h2", {}, "Communication"), matrixPair(model, undefined, signal),
    h("h2", {}, "Heaviest pairs"), table("Heaviest pairs", ["Ranks", "Bytes", "Messages"], heaviest.map(([u, v, weight, messages]) => [`${u} - ${v}`, bytes(weight), messages])));
}

// One application: state, plan, zones, communication, timeline, output, explanation.
import { get, output, send, type Application, type Explanation, type Model } from "./api";
import { kEnds } from "./details";
import { badge, clean, facts, h, link, problem, table } from "./dom";
import { bytes, instant, ranges, seconds } from "./format";
import { atMostEvery, onEvent, repeatedly } from "./live";
import { matrixPair } from "./matrix";
import { planView } from "./plan";

const kTailCharacters = 64 * 1024;

function timeline(one: Application): HTMLElement {
  return h("ol", { class: "timeline" }, one.history.map((change, i) => {
    const next = one.history[i + 1]?.at_us;
    const lasted = next === undefined ? "" : ` - ${seconds((next - change.at_us) / 1e6)}`;
    return h("li", {}, badge(change.state), ` ${instant(change.at_us)}`, h("span", { class: "quiet" }, lasted));
  }));
}

function parts(one: Application): HTMLElement {
  return table("Parts", ["Zone", "State", "Ranks", "Processors", "Note"], one.parts.map((part) => {
    const machines = new Map<string, number[]>();
    for (const place of part.assignment) machines.set(place.machine, [...(machines.get(place.machine) ?? []), place.processor]);
    const places = [...machines].map(([name, list]) => `${name}: ${ranges([...new Set(list)].sort((a, b) => a - b))}`).join("; ");
    const waits = part.queue === undefined ? "" :
      `place ${part.queue.place ?? "?"}, start in ${seconds(part.queue.start_in_s)}, waits for ${part.queue.waits_for ?? "its turn"}`;
    return [part.zone, badge(part.state), ranges(part.ranks), places, [part.reason, waits, part.work].filter(Boolean).join("; ")];
  }), "No zone holds a part.");
}

function cancelButton(id: string): HTMLElement {
  const said = h("p", { role: "status" });
  const dialog = h("dialog", { "aria-labelledby": "cancel-title" },
    h("h2", { id: "cancel-title" }, "Cancel this application?"),
    h("p", {}, "Every part is stopped and given back. What it has computed is lost."),
    h("div", { class: "row" },
      h("button", { type: "button", class: "danger", onclick: () => {
        dialog.close();
        send("DELETE", `v1/applications/${id}`).then(() => (said.textContent = "It is being cancelled."), (fault: unknown) => said.replaceChildren(problem(fault)));
      } }, "Yes, cancel it"),
      h("button", { type: "button", onclick: () => dialog.close() }, "No")));
  return h("div", {}, h("button", { type: "button", class: "danger", onclick: () => dialog.showModal() }, "Cancel"), said, dialog);
}

/** The end of one output, followed while the application runs. */
function outputTail(id: string, signal: AbortSignal): { element: HTMLElement; follow: () => Promise<void> } {
  const choice = h("select", { id: "output-of" });
  const text = h("pre", { tabindex: 0, role: "region", "aria-label": "Output" });
  let shown = "", offset = 0, busy = false;
  const follow = async () => {
    if (busy) return;
    busy = true;
    try {
      const index = await get<{ files: { rank: string; stream: string; bytes: number }[]; complete: boolean }>(`v1/applications/${id}/logs`);
      if (signal.aborted) return;
      const names = index.files.map((file) => `${file.rank} ${file.stream}`);
      if (names.join() !== [...choice.options].map((option) => option.value).join()) {
        const kept = choice.value;
        choice.replaceChildren(...index.files.map((file, i) =>
          h("option", { value: names[i]! }, `${file.rank === "launcher" ? "launcher" : `rank ${file.rank}`}, ${file.stream} (${bytes(file.bytes)})`)));
        if (names.includes(kept)) choice.value = kept;
      }
      if (choice.value === "") {
        text.textContent = "No output yet.";
        return;
      }
      const size = index.files[choice.selectedIndex]?.bytes ?? 0;
      const [rank = "", stream = ""] = choice.value.split(" ");
      if (choice.value !== shown) {
        shown = choice.value;
        offset = Math.max(0, size - kTailCharacters);
        text.textContent = "";
      }
      for (let more = offset < size; more && !signal.aborted; ) {
        const piece = await output(id, rank, stream, offset);
        const stays = text.scrollTop + text.clientHeight >= text.scrollHeight - 4;
        offset += piece.bytes;
        text.textContent = ((text.textContent ?? "") + clean(piece.text)).slice(-kTailCharacters);
        if (stays) text.scrollTop = text.scrollHeight;
        more = piece.bytes > 0 && offset < size;
      }
    } finally {
      busy = false;
    }
  };
  choice.addEventListener("change", () => void follow());
  return { element: h("div", {}, h("div", { class: "row" }, h("label", { for: "output-of" }, "Output of"), choice), text), follow };
}

function explanation(why: Explanation): HTMLElement {
  return table("What zones were asked", ["When", "Zone", "Asked", "Answer", "Times"], why.events.map((event) => [
    instant(event.at_us), event.zone, event.what, h("span", { class: event.ok ? "" : "failed" }, event.answer), event.times]), "Nobody was asked.");
}

async function communication(one: Application, signal: AbortSignal): Promise<HTMLElement> {
  const id = one.profile ?? (/^[0-9A-Z]{26}$/i.test(one.plan?.profile ?? "") ? one.plan!.profile : undefined);
  if (id === undefined) return h("p", { class: "quiet" }, "No profile of this program is here yet: its first complete run leaves one.");
  const model = await get<Model>(`v1/profiles/${id}`);
  return matrixPair(model, one.plan && one.plan.zone_of_rank.length === model.ranks ? one.plan.zone_of_rank : undefined, signal);
}

export async function applicationPage(room: HTMLElement, signal: AbortSignal, id: string): Promise<void> {
  if (id === "") throw new Error("This address names no application.");
  const fault = h("div"), top = h("div"), plan = h("div"), matrix = h("div"), why = h("div");
  const tail = outputTail(id, signal);
  const cancel = cancelButton(id);
  room.append(fault, top, cancel, h("h2", {}, "Plan"), plan, h("h2", {}, "Communication"), matrix, h("h2", {}, "Output"), tail.element, h("h2", {}, "Why it is where it is"), why);
  let matrixOf = "", ended = false, drawn = new AbortController();
  const draw = async () => {
    const [one, reasons] = await Promise.all([get<Application>(`v1/applications/${id}`), get<Explanation>(`v1/applications/${id}/explain`)]);
    if (signal.aborted) return;
    ended = kEnds.includes(one.state);
    cancel.hidden = ended;
    top.replaceChildren(
      facts([
        ["Command", one.argv.join(" ")], ["State", badge(one.state)], ["Reason", one.reason || "-"], ["Id", one.id], ["Ranks", one.ranks],
        ["Folder", one.directory], ["Walltime", seconds(one.walltime_s)], ["Submitted", instant(one.submitted_us)],
        ["Reserved start", one.start_us === undefined ? "-" : instant(one.start_us)], ["Exit code", one.exit_code ?? "-"],
        ["Profile", one.profile ? link(`#/profile/${one.profile}`, one.profile) : "-"]]),
      h("h2", {}, "Zones"), parts(one), h("h2", {}, "Timeline"), timeline(one));
    plan.replaceChildren(one.plan ? planView(one.plan, one.history) : h("p", { class: "quiet" }, "There is no plan yet."));
    why.replaceChildren(explanation(reasons));
    const source = `${one.profile} ${one.plan?.profile} ${one.plan?.round}`;
    if (source !== matrixOf) {
      matrixOf = source;
      // A picture that is taken away listens no more.
      drawn.abort();
      drawn = new AbortController();
      signal.addEventListener("abort", drawn.abort.bind(drawn));
      communication(one, drawn.signal).then((made) => !signal.aborted && matrix.replaceChildren(made), (fault: unknown) => matrix.replaceChildren(problem(fault)));
    }
    tail.follow().catch((fault: unknown) => tail.element.append(problem(fault)));
  };
  await draw();
  const again = atMostEvery(400, signal, () => draw().then(() => fault.replaceChildren(), (error) => fault.replaceChildren(problem(error))));
  onEvent(signal, (event) => (event === undefined || event.application === id) && again());
  repeatedly(3000, signal, () => !ended && again());
}

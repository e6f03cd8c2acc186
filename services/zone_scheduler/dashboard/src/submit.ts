// A form that shows the plan before anything is submitted.
import { freshId, get, send, type Application, type Plan, type WhoAmI } from "./api";
import { h, link, problem } from "./dom";
import { planView } from "./plan";

/** Words as a POSIX shell splits them, by blanks, quotes and backslashes; nothing is expanded. Throws where a quote or a backslash is left open. */
export function words(line: string): string[] {
  const found: string[] = [];
  let word: string | undefined; // of which something was read
  for (let i = 0; i < line.length; i++) {
    const at = line[i]!;
    if (/\s/.test(at)) {
      if (word !== undefined) found.push(word);
      word = undefined;
    } else if (at === "'") {
      const end = line.indexOf("'", i + 1);
      if (end < 0) throw new Error("A ' is never closed. Write \\' for the mark itself, or put the word into \"...\".");
      word = (word ?? "") + line.slice(i + 1, end);
      i = end;
    } else if (at === '"') {
      word ??= "";
      for (i++; line[i] !== '"'; i++) {
        if (i >= line.length) throw new Error("A \" is never closed. Write \\\" for the mark itself, or put the word into '...'.");
        if (line[i] === "\\" && /["\\$`]/.test(line[i + 1] ?? "")) i++; // before others it stands for itself
        word += line[i];
      }
    } else if (at === "\\") {
      if (i + 1 === line.length) throw new Error("Nothing follows the last \\. Write \\\\ for the mark itself.");
      word = (word ?? "") + line[++i]!;
    } else {
      word = (word ?? "") + at;
    }
  }
  if (word !== undefined) found.push(word);
  return found;
}

function faultOf(line: string): string {
  try {
    words(line);
    return "";
  } catch (fault) {
    return (fault as Error).message;
  }
}

/** Word by word, so that nobody has to guess what quotes did. */
function argvView(argv: string[]): HTMLElement {
  return h("ol", { class: "argv", start: 0, "aria-label": "Words of the command" }, argv.map((word) => h("li", {}, h("code", {}, word === "" ? "(empty)" : word))));
}

export async function submitPage(room: HTMLElement, signal: AbortSignal): Promise<void> {
  const field = (name: string, label: string, properties: Record<string, string | number | boolean>) => {
    const input = h("input", { id: name, name, ...properties });
    return { input, element: h("div", {}, h("label", { for: name }, label), input) };
  };
  const command = field("command", "Program and arguments", { class: "wide", required: true, placeholder: "/home/me/bin/solver --steps 1000", autocomplete: "off" });
  const directory = field("directory", "Working folder", { class: "wide", required: true, placeholder: "/home/me", pattern: "/.*", title: "an absolute path", value: localStorage.getItem("directory") ?? "" });
  const ranks = field("ranks", "Ranks", { type: "number", min: 1, max: 1_000_000, value: 4, required: true });
  const walltime = field("walltime", "Walltime, minutes", { type: "number", min: 1, max: 527_040, value: 60, required: true });
  const zones = field("zones", "Only these zones (empty: any)", { class: "wide", autocomplete: "off" });
  const mapper = h("select", { id: "mapper" }, ["auto", "hier", "multilevel", "metis", "global", "block", "round-robin", "random"].map((name) => h("option", {}, name)));
  const wrong = h("p", { id: "command-fault", class: "field-fault", role: "alert" });
  command.input.setAttribute("aria-describedby", "command-fault");
  command.element.append(wrong);
  const result = h("div", { "aria-live": "polite" });
  const submitButton = h("button", { type: "button", class: "main", disabled: true }, "Submit this");
  const me = (await get<WhoAmI>("v1/whoami")).name;
  let id = await freshId(me);
  let planned = "";

  const request = () => ({
    ranks: Number(ranks.input.value), argv: words(command.input.value), directory: directory.input.value, walltime_s: Number(walltime.input.value) * 60,
    mapper: mapper.value, zones: zones.input.value.split(/[\s,]+/).filter(Boolean),
  });
  // What is submitted is what the plan was shown for.
  const changed = () => {
    const fault = faultOf(command.input.value);
    command.input.setCustomValidity(fault);
    command.input.setAttribute("aria-invalid", String(fault !== ""));
    wrong.textContent = fault;
    submitButton.disabled = fault !== "" || planned === "" || planned !== JSON.stringify(request());
  };
  const plan = async () => {
    const wanted = request();
    result.replaceChildren(h("p", { class: "quiet" }, "Asking the zones..."));
    const made = await send<Plan>("POST", "v1/applications?dry_run=true", { id, ...wanted });
    if (signal.aborted) return;
    planned = JSON.stringify(wanted);
    changed();
    result.replaceChildren(h("h2", {}, "What will run"), argvView(wanted.argv), h("h2", {}, "The plan as of now"), planView(made));
  };
  const submit = async () => {
    submitButton.disabled = true;
    localStorage.setItem("directory", directory.input.value);
    const application = await send<Application>("POST", "v1/applications", { id, ...request() });
    id = await freshId(me);
    planned = "";
    result.replaceChildren(h("p", { class: "note" }, "Submitted: ", link(`#/application/${application.id}`, application.id)));
  };
  const reporting = (work: () => Promise<void>) => () => void work().catch((fault: unknown) => {
    result.replaceChildren(problem(fault)); // a repeat has the same id, so nothing runs twice
    changed();
  });
  submitButton.addEventListener("click", reporting(submit));
  room.append(
    h("form", { onsubmit: (event) => { event.preventDefault(); reporting(plan)(); }, oninput: changed },
      command.element, directory.element, h("div", { class: "row" }, ranks.element, walltime.element, h("div", {}, h("label", { for: "mapper" }, "Mapper"), mapper)),
      zones.element, h("div", { class: "row" }, h("button", { type: "submit" }, "Show the plan"), submitButton)),
    h("p", { class: "quiet" }, "Files that travel along, environments and delegations are for the command line: zbs run, zbs submit."),
    result);
}

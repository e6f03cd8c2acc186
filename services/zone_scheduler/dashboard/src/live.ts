// What happens in the zone, as it happens: one stream of events for all pages, opened again whenever it breaks.
import type { StateEvent } from "./api";
import { h } from "./dom";

/** Receives each event, or undefined where some may have been missed: then the page has to reload its data. */
type Listener = (event: StateEvent | undefined) => void;
const kKinds = ["application", "part"]; // names of the zone's events
const kFirstPause = 500, kLongestPause = 15_000; // ms
const listeners = new Set<Listener>();
let stream: EventSource | undefined;
let lastId = ""; // of the newest event that was seen
let failures = 0; // in a row
let waiting: number | undefined;

/** Is shown while the zone cannot be heard. */
export const banner = h("div", { id: "connection", role: "status" });

/** Calls `listener` until `signal` aborts. */
export function onEvent(signal: AbortSignal, listener: Listener): void {
  listeners.add(listener);
  signal.addEventListener("abort", () => listeners.delete(listener));
  if (stream === undefined) open();
}

function publish(event: StateEvent | undefined): void {
  for (const listener of listeners) listener(event);
}

function open(): void {
  window.clearTimeout(waiting);
  waiting = undefined;
  const opened = new EventSource(lastId === "" ? "v1/events" : `v1/events?after=${lastId}`);
  stream = opened;
  for (const kind of kKinds) {
    opened.addEventListener(kind, (message: MessageEvent<string>) => {
      lastId = message.lastEventId || lastId;
      publish(JSON.parse(message.data) as StateEvent);
    });
  }
  opened.addEventListener("open", () => {
    if (failures > 0) publish(undefined);
    failures = 0;
    banner.replaceChildren();
  });
  // By itself a browser comes again only after some faults, and then with the address as it was: neither is enough here.
  opened.addEventListener("error", () => {
    opened.close();
    if (stream !== opened || waiting !== undefined) return;
    failures++;
    if (failures > 1) banner.replaceChildren(h("p", {}, "The connection to the zone is lost, trying again. What is shown may be old."));
    const pause = Math.min(kLongestPause, kFirstPause * 2 ** (failures - 1));
    waiting = window.setTimeout(open, pause * (0.5 + Math.random() / 2)); // not all browsers in the same moment
  });
}

addEventListener("online", () => waiting !== undefined && open());

/** `work`, but no more often than every `ms`; a call in between is made up for. */
export function atMostEvery(ms: number, signal: AbortSignal, work: () => void): () => void {
  let timer: number | undefined;
  let last = 0;
  signal.addEventListener("abort", () => window.clearTimeout(timer));
  return () => {
    if (timer !== undefined) return;
    timer = window.setTimeout(() => {
      timer = undefined;
      last = Date.now();
      if (!signal.aborted) work();
    }, Math.max(0, last + ms - Date.now()));
  };
}

/** Events stand for every change of state; some figures change without one, so they are asked for again now and then. */
export function repeatedly(ms: number, signal: AbortSignal, work: () => void): void {
  const timer = window.setInterval(() => {
    if (!document.hidden) work();
  }, ms);
  signal.addEventListener("abort", () => window.clearInterval(timer));
}

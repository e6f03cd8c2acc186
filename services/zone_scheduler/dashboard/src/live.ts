// What happens in the zone, as it happens: one stream of events for all pages.
import type { StateEvent } from "./api";

type Listener = (event: StateEvent) => void;
const listeners = new Set<Listener>();
let source: EventSource | undefined;

/** Calls `listener` for each event until `signal` aborts. */
export function onEvent(signal: AbortSignal, listener: Listener): void {
  listeners.add(listener);
  signal.addEventListener("abort", () => listeners.delete(listener));
  source ??= open();
}

function open(): EventSource {
  const stream = new EventSource("v1/events");
  stream.onmessage = (message) => {
    const event = JSON.parse(message.data as string) as StateEvent;
    for (const listener of listeners) listener(event);
  };
  return stream;
}

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

// The zone's interface as far as the pages use it (schemas/openapi/zone), by addresses relative to the page.

export interface Change { state: string; at_us: number }
export interface Place { rank: number; machine: string; processor: number }
export interface Outlook { place?: number; start_in_s?: number; promised_in_s?: number; waits_for?: string }
export interface Part { id: string; zone: string; ranks: number[]; state: string; reason: string; assignment: Place[]; queue?: Outlook; work?: string }
export interface Verdict { zone: string; processors: number; ranks: number; reason: string; start_from_s?: number; start_to_s?: number }
export interface Plan {
  profile: string; clusters: number[][]; zone_of_cluster: string[]; zone_of_rank: string[]; zones: Verdict[]; round: number;
  crossing_bytes?: number; crossing_bytes_block?: number; crossing_bytes_round_robin?: number;
  start_in_s?: number; queued?: boolean; learned?: string; predicted_s?: number;
}
export interface Summary {
  id: string; state: string; ranks: number; program: string; zones: string[]; reason: string; submitted_us: number; exit_code?: number;
  name?: string; owner?: string;
}
export interface Application extends Summary {
  argv: string[]; directory: string; walltime_s: number; mapper: string; history: Change[]; parts: Part[]; plan?: Plan;
  profile?: string; launcher?: string; cancel_requested: boolean; start_us?: number; result_notes?: string[];
}
export interface Explanation {
  reason: string; plan?: Plan;
  events: { at_us: number; last_us: number; times: number; round: number; zone: string; what: string; answer: string; ok: boolean }[];
}
export interface Nodes {
  zone: string; organisation: string; sharing?: string; slices?: number;
  nodes: { name: string; processors: number; used: number; speed: number }[];
  agents: { live: boolean; seen_us: number; description: { name: string }; load: { load_1: number } }[];
}
export interface QueueRow {
  part: string; application?: string; home: string; ranks: number; state: string; walltime_s?: number; start_us?: number; places?: [string, number][]; slice?: number;
  queue?: { place?: number; start_in_s?: number; promised_in_s?: number }; end_us?: number;
}
export interface LinkView {
  zone: string; source: string; failures: number; link: { delay_s: number; bandwidth_Bps: number }; measured_us?: number; delay?: { values: number[] };
}
export interface Peer { zone: string; organisation: string; url: string; outbound: string; inbound: string; reason: string; last_heard_us: number; leased_until_us?: number }
export interface Peering { organisation: string; state: string; trust?: { score: number; initial: number }; usage?: { processors: number; parts: number } }
export interface Profile {
  id: string; application?: string; at_us: number; program: string; arguments: string; ranks: number; complete: boolean; predicted_s?: number; measured_s?: number;
  unseen?: Record<string, number>;
}
export interface Model { program: string; ranks: number; compute: number[]; edges: [number, number, number, number][]; complete?: boolean; unseen?: Record<string, number> }
export interface WhoAmI { name: string; zone: string; groups: string[]; via_proxy: boolean }
export interface StateEvent { id: number; at_us: number; application: string; part?: string; state: string; reason: string }

/** What the zone said against a call. */
export class Refusal extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

async function answer(method: string, path: string, body?: unknown): Promise<Response> {
  let reply: Response;
  try {
    const how: RequestInit = { method, cache: "no-cache" };
    if (body !== undefined) Object.assign(how, { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
    reply = await fetch(path, how);
  } catch {
    throw new Refusal(0, "The zone does not answer. Is it running, and is 'zbs dashboard' still there?");
  }
  if (reply.ok) return reply;
  let detail = `The zone answered ${reply.status}.`;
  try {
    detail = ((await reply.json()) as { detail: string }).detail || detail;
  } catch {
    // no problem document: the status has to do
  }
  throw new Refusal(reply.status, detail);
}

export async function get<T>(path: string): Promise<T> {
  return (await answer("GET", path)).json() as Promise<T>;
}
export async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  return (await answer(method, path, body)).json() as Promise<T>;
}

/** One piece of output, as text; bytes that are none become U+FFFD. */
export async function output(id: string, rank: string, stream: string, offset: number): Promise<{ text: string; bytes: number }> {
  const reply = await answer("GET", `v1/applications/${id}/logs/${rank}?stream=${stream}&offset=${offset}`);
  const bytes = await reply.arrayBuffer();
  return { text: new TextDecoder().decode(bytes), bytes: bytes.byteLength };
}

const kDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** A fresh id of `owner`'s: 48 bits of time, 48 of chance, 32 that mark the owner, in the text form of a ULID. */
export async function freshId(owner: string, now = Date.now()): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(owner));
  let number = BigInt(now);
  for (const byte of [...crypto.getRandomValues(new Uint8Array(6)), ...new Uint8Array(digest, 0, 4)]) number = number * 256n + BigInt(byte);
  let text = "";
  for (let i = 0; i < 26; i++, number /= 32n) text = kDigits[Number(number % 32n)]! + text;
  return text;
}

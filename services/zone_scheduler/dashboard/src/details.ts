// Whole applications. Those that have ended change no more, so each is asked for once.
import { get, type Application, type Summary } from "./api";

export const kEnds = ["completed", "failed", "cancelled", "rejected"];
const kAtOnce = 4;
const known = new Map<string, Application>();

export async function detailsOf(list: Summary[], signal: AbortSignal): Promise<Application[]> {
  const found: Application[] = [];
  const wanted = [...list];
  const work = async () => {
    for (let one = wanted.shift(); one !== undefined && !signal.aborted; one = wanted.shift()) {
      const application = known.get(one.id) ?? (await get<Application>(`v1/applications/${one.id}`));
      if (kEnds.includes(application.state)) known.set(one.id, application);
      found.push(application);
    }
  };
  await Promise.all(Array.from({ length: kAtOnce }, work));
  return found;
}

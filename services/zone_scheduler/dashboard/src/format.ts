// Numbers and times as people read them.

export function instant(us: number | undefined): string {
  return us === undefined || us === 0 ? "-" : new Date(us / 1000).toLocaleString();
}

/** 3723 -> "1 h 2 min"; below a minute with decimals. */
export function seconds(s: number | undefined): string {
  if (s === undefined || !Number.isFinite(s)) return "-";
  if (s === 0) return "0 s";
  if (s < 1e-3) return `${Math.round(s * 1e6)} µs`;
  if (s < 1) return `${Math.round(s * 1e4) / 10} ms`;
  if (s < 60) return `${Math.round(s * 10) / 10} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export function bytes(n: number | undefined): string {
  if (n === undefined) return "-";
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) {
    n /= 1024;
    unit++;
  }
  return `${unit === 0 ? Math.round(n) : n.toFixed(1)} ${units[unit]}`;
}

/** [0,1,2,5] -> "0-2, 5"; */
export function ranges(unsorted: number[]): string {
  const ranks = [...unsorted].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < ranks.length; ) {
    let end = i;
    while (end + 1 < ranks.length && ranks[end + 1] === ranks[end]! + 1) end++;
    parts.push(end === i ? `${ranks[i]}` : `${ranks[i]}-${ranks[end]}`);
    i = end + 1;
  }
  return parts.join(", ");
}

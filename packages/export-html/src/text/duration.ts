const steps = [
  { unit: "min", below: "s", length: 60, part: 1, end: 3600 },
  { unit: "h", below: "min", length: 3600, part: 60, end: 86_400 },
  { unit: "d", below: "h", length: 86_400, part: 3600, end: Number.POSITIVE_INFINITY },
] as const;

/** A duration as people read it: `350 ms`, `4.2 s`, `12 s`, `2 min 3 s`, `1 h 5 min`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1).replace(/\.0$/, "")} s`;
  if (ms < 59_500) return `${Math.round(ms / 1000)} s`;
  for (const { unit, below, length, part, end } of steps) {
    const seconds = Math.round(ms / 1000 / part) * part;
    // Rounding may have filled the largest unit: 59 min 59.9 s is 1 h.
    if (seconds >= end) continue;
    const rest = Math.floor((seconds % length) / part);
    const whole = `${Math.floor(seconds / length)} ${unit}`;
    return rest === 0 ? whole : `${whole} ${rest} ${below}`;
  }
  return "";
}

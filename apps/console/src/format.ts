/** `$0.0042`, `$1.20`, `$340`. */
export function dollars(cost: number): string {
  if (cost === 0) return "$0";
  if (cost < 0.01) return `$${cost.toFixed(4)}`;
  return cost < 100 ? `$${cost.toFixed(2)}` : `$${Math.round(cost)}`;
}

/** `812`, `4.2k`, `120k`, `1.3M`. */
export function count(value: number): string {
  if (value < 1000) return String(value);
  if (value < 10_000) return `${(value / 1000).toFixed(1)}k`;
  if (value < 1_000_000) return `${Math.round(value / 1000)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

/** How long ago: `now`, `4 min`, `3 h`, `2 d`. */
export function age(since: number, now: number): string {
  const minutes = Math.floor((now - since) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** The last two parts of a path. */
export function shortPath(path: string): string {
  const parts = path.split("/").filter((part) => part !== "");
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join("/")}`;
}

/** The subject of a call in one line. */
export function subjectOf(input: unknown): string {
  const { command, path, file_path, pattern, url, task, tasks, agent } = Object(input) as Record<
    string,
    unknown
  >;
  const { task: subject } = Object(Array.isArray(tasks) ? tasks[0] : undefined);
  const all = [command, pattern, path, file_path, url, task, subject, agent];
  const first = all.find((value) => typeof value === "string");
  return typeof first === "string" ? (first.split("\n")[0] ?? "") : "";
}

import { execFileSync } from "node:child_process";

/** Kills the leader of a process group, the group, and all descendants, including those in other groups. */
export function killTree(pid: number): void {
  if (process.platform === "win32") {
    run("taskkill", ["/F", "/T", "/PID", String(pid)]);
    return;
  }
  for (const target of [-pid, ...descendants(pid)]) {
    try {
      process.kill(target, "SIGKILL");
    } catch {
      // Already gone.
    }
  }
}

function descendants(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const line of run("ps", ["-A", "-o", "pid=,ppid="]).split("\n")) {
    const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found: number[] = [];
  for (const next = [root]; next.length > 0; ) {
    const pid = next.pop() ?? 0;
    if (pid > 0) found.push(pid);
    next.push(...(children.get(pid) ?? []));
  }
  return found;
}

function run(program: string, words: readonly string[]): string {
  try {
    return execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return "";
  }
}

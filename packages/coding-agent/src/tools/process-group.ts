/** Whether children get a process group of their own; Windows has none. */
export const hasProcessGroups = process.platform !== "win32";

/**
 * Kills a process and everything in its group at once. The group is stopped first: killed one by
 * one, the shell of `a; b` could see `a` die and start `b`.
 */
export function killGroup(pid: number, systemRoot?: string | undefined): void {
  if (!hasProcessGroups) {
    killTree(pid, systemRoot);
    return;
  }
  signalGroup(pid, "SIGSTOP");
  signalGroup(pid, "SIGKILL");
}

/** Whether any process of the group is left. */
export function isGroupAlive(pid: number): boolean {
  return signalGroup(hasProcessGroups ? pid : -pid, 0);
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    // Gone already, or (macOS) nothing but zombies.
    return false;
  }
}

// By absolute path: taskkill need not be on the PATH, and an unhandled spawn error would crash.
function killTree(pid: number, systemRoot = "C:\\Windows"): void {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const taskkill = `${systemRoot}\\System32\\taskkill.exe`;
  const killer = spawn(taskkill, ["/F", "/T", "/PID", String(pid)], {
    stdio: "ignore",
    windowsHide: true,
  });
  killer.on("error", () => {});
  killer.unref();
}

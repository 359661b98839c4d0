import { spawn } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Readable } from "node:stream";
import type { WorkspaceSandbox } from "@tau-agent/rpc-protocol/workspace";
import { attempt } from "../base/attempt.ts";
import { statusDescriptor } from "../processes/sandbox.ts";
import { isolationArguments, statusArguments } from "./bubblewrap/bubblewrap-arguments.ts";

export interface SandboxCheck
  extends Pick<WorkspaceSandbox, "available" | "mechanism" | "reason" | "remedy"> {
  readonly program: string;
  /** Whether it reports if a command ran. */
  readonly reportsStatus?: boolean;
}

const TIMEOUT_MS = 5_000;
const NO_ANSWER = `bubblewrap did not answer within ${TIMEOUT_MS / 1000} seconds`;
/** Longer than any reason. */
const MAX_ERROR_LENGTH = 16 * 1024;

/** Tests by running it, because settings of the kernel, of containers and of AppArmor all play a part. */
export async function checkSandbox(
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): Promise<SandboxCheck> {
  if (platform === "darwin") return checkSeatbelt();
  if (platform !== "linux") {
    return unavailable(
      "there is none for this system",
      "Run the host on Linux or macOS, or in a container.",
    );
  }
  const program = findProgram("bwrap", environment.PATH ?? "");
  if (program === undefined) {
    return unavailable(
      "bubblewrap is not installed",
      "Install it, for example with: apt install bubblewrap.",
    );
  }
  const arguments_ = [
    ...isolationArguments,
    "--unshare-net",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--tmpfs",
    "/tmp",
    "--",
    "/bin/sh",
    "-c",
    ":",
  ];
  const found = { mechanism: "bubblewrap", program } as const;
  const failure = await run(program, [...statusArguments, ...arguments_]);
  if (failure === undefined) return { available: true, reportsStatus: true, ...found };
  // A wrapper may pass on only the standard descriptors.
  if (failure !== NO_ANSWER && (await run(program, arguments_)) === undefined) {
    return { available: true, reportsStatus: false, ...found };
  }
  return { ...unavailable(failure, remedyOf(failure)), ...found };
}

async function checkSeatbelt(): Promise<SandboxCheck> {
  const program = "/usr/bin/sandbox-exec";
  const failure = await run(program, ["-p", "(version 1)(allow default)", "/usr/bin/true"]);
  if (failure === undefined) return { available: true, mechanism: "seatbelt", program };
  return unavailable(failure, "Check that sandbox-exec can be run.");
}

function unavailable(reason: string, remedy: string): SandboxCheck {
  return { available: false, mechanism: null, program: "", reason, remedy };
}

/** Why a program failed; undefined if it succeeded. */
function run(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      // The last stream is for the status of a command.
      stdio: ["ignore", "ignore", "pipe", "pipe"],
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
      detached: true,
      env: {},
    });
    let errors = "";
    // There are no streams if too many files are open; the error follows.
    const status = child.stdio?.[statusDescriptor] as Readable | undefined;
    status?.on("error", () => {}).resume();
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      errors = (errors + text).slice(-MAX_ERROR_LENGTH);
    });
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (_, signal) => {
      // bubblewrap may leave a process behind that waits for it and keeps its streams open.
      killGroup(child.pid);
      if (signal === "SIGKILL") resolve(NO_ANSWER);
    });
    child.once("close", (code) => {
      const said = errors
        .trim()
        .split("\n")
        .at(-1)
        ?.replace(/^bwrap: /, "");
      resolve(code === 0 ? undefined : said || `it ended with exit code ${code}`);
    });
  });
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // No process is left.
  }
}

/** What to change, according to the errors of bubblewrap and the kernel. */
function remedyOf(failure: string): string {
  if (/unknown option/i.test(failure)) {
    return "bubblewrap is too old: install version 0.4 or newer.";
  }
  if (/mount.*proc|proc.*mount/i.test(failure)) {
    return "This container hides parts of /proc. Start it with --security-opt systempaths=unconfined, or without a sandbox inside of it.";
  }
  if (kernelValue("apparmor_restrict_unprivileged_userns") === "1") {
    return "AppArmor forbids user namespaces. Allow them to bwrap with a profile in /etc/apparmor.d, or set the sysctl kernel.apparmor_restrict_unprivileged_userns to 0.";
  }
  if (kernelValue("unprivileged_userns_clone") === "0") {
    return "The kernel forbids user namespaces. Set the sysctl kernel.unprivileged_userns_clone to 1.";
  }
  if (/loopback|RTM_/i.test(failure)) {
    return 'This container may not set up a network. Start it with --cap-add NET_ADMIN, or set sandbox.network to "all".';
  }
  return "The system or its container forbids user namespaces. In a container, start it with --security-opt seccomp=unconfined; else set the sysctl user.max_user_namespaces above 0.";
}

function kernelValue(name: string): string | undefined {
  return attempt(() => readFileSync(`/proc/sys/kernel/${name}`, "utf8").trim());
}

function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

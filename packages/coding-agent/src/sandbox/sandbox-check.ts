import { execFile } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { isolationArguments } from "./bubblewrap/bubblewrap-arguments.ts";

/** Whether this machine can keep a command in a sandbox. */
export interface SandboxCheck {
  readonly available: boolean;
  readonly mechanism: "bubblewrap" | "seatbelt" | null;
  /** The program that makes it. */
  readonly program: string;
  /** Why it is not available. */
  readonly reason?: string;
  /** What to change. */
  readonly remedy?: string;
}

const TIMEOUT_MS = 5_000;

/** Finds out by doing it, because settings of the kernel, of containers and of AppArmor all have a say. */
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
  const failure = await run(program, arguments_);
  if (failure === undefined) return { available: true, mechanism: "bubblewrap", program };
  return { ...unavailable(failure, remedyOf(failure)), mechanism: "bubblewrap", program };
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

/** Why a program failed; undefined if it did not. */
function run(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { timeout: TIMEOUT_MS, killSignal: "SIGKILL", env: {} },
      (error, _, errors) => {
        if (error === null) resolve(undefined);
        else if (error.killed)
          resolve(`bubblewrap did not answer within ${TIMEOUT_MS / 1000} seconds`);
        else
          resolve(
            errors
              .trim()
              .split("\n")
              .at(-1)
              ?.replace(/^bwrap: /, "") || error.message,
          );
      },
    );
  });
}

/** What to change, by what bubblewrap and the kernel say. */
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
  try {
    return readFileSync(`/proc/sys/kernel/${name}`, "utf8").trim();
  } catch {
    return undefined;
  }
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

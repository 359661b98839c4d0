import { existsSync, readdirSync, readFileSync } from "node:fs";
import { startDescriptor } from "../../processes/start-watch.ts";

/** Set for descriptors that do not reach a child (`O_CLOEXEC`, in the octal `flags` of fdinfo). */
const CLOSED_ON_EXEC = 0o2000000;

/**
 * Descriptors above a command's own that every child of this process would inherit: what the program that
 * started the host left open. Node closes only the first of them.
 */
export function inheritedDescriptors(): readonly number[] {
  try {
    return readdirSync("/proc/self/fdinfo")
      .map(Number)
      .filter((number) => number > startDescriptor && isInherited(number));
  } catch {
    return [];
  }
}

/**
 * What runs a command inside: a program and its first arguments. It says that the sandbox is set up, and
 * closes these descriptors.
 */
export function startingCommand(descriptors: readonly number[]): readonly string[] {
  const closed = [startDescriptor, ...descriptors].map((number) => `${number}>&-`).join(" ");
  const script = `echo >&${startDescriptor}; exec ${closed}; exec "$@"`;
  return [shellFor(descriptors), "-c", script, "sh"];
}

/** Small shells take one digit only, bash any number. */
function shellFor(descriptors: readonly number[]): string {
  const candidates = descriptors.some((number) => number > 9) ? ["/bin/bash", "/usr/bin/bash"] : [];
  return candidates.find((file) => existsSync(file)) ?? "/bin/sh";
}

function isInherited(number: number): boolean {
  try {
    const [, flags = ""] =
      /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
  } catch {
    return false;
  }
}

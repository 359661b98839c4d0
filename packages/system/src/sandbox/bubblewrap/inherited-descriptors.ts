import { existsSync, readdirSync, readFileSync } from "node:fs";
import { attempt } from "../../base/attempt.ts";

/** Set for descriptors that no child inherits (`O_CLOEXEC`, in the octal `flags` of fdinfo). */
const CLOSED_ON_EXEC = 0o2000000;

/**
 * Descriptors above the standard streams that every child of this process would inherit because the
 * program that started the host left them open. Node closes only the first of them.
 */
export function inheritedDescriptors(): readonly number[] {
  return (
    attempt(() =>
      readdirSync("/proc/self/fdinfo")
        .map(Number)
        .filter((number) => number > 2 && isInherited(number)),
    ) ?? []
  );
}

/** A program and its first arguments that run a command without these descriptors. */
export function closingCommand(descriptors: readonly number[]): readonly string[] {
  if (descriptors.length === 0) return [];
  const closed = descriptors.map((number) => `${number}>&-`).join(" ");
  return [...shell(), "-c", `exec ${closed}; exec "$@"`, "sh"];
}

/**
 * Small shells accept only one digit, and lose variables whose names they could not write; bash accepts any
 * number. In this mode it does not run the file that `BASH_ENV` names.
 */
function shell(): readonly string[] {
  const bash = ["/bin/bash", "/usr/bin/bash"].find((file) => existsSync(file));
  return bash === undefined ? ["/bin/sh"] : [bash, "--posix"];
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

import type { ShellWord } from "../line/shell-word.ts";

/**
 * Variables that may be set before a command: known to change neither which programs run nor what code
 * they load. Any other assignment makes the line not understood.
 */
const harmless: ReadonlySet<string> = new Set([
  ...["CI", "DEBUG", "FORCE_COLOR", "NO_COLOR", "NODE_ENV", "NODE_NO_WARNINGS", "PORT", "HOST"],
  ...["VERBOSE", "TZ", "COLUMNS", "LINES", "RUST_BACKTRACE", "RUST_LOG", "CARGO_TERM_COLOR"],
  ...["PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "CGO_ENABLED", "GOOS", "GOARCH"],
  ...["GIT_TERMINAL_PROMPT", "DEBIAN_FRONTEND", "TURBO_TELEMETRY_DISABLED", "DO_NOT_TRACK"],
]);
/**
 * How a shell splits text into characters depends on these variables; only values that every system has are accepted.
 */
const locales = /^(?:LANG|LC_ALL)=(?:C|POSIX|(?:C|en_US)\.(?:UTF-8|utf-?8))$/;

/** Values that stay unchanged wherever they are expanded or evaluated later. */
const plainAssignment = /^(\w+)=[\w./:,=+@%-]*$/;

/** Whether a word, `NAME=value`, sets a harmless variable to a known value. */
export function isHarmlessAssignment({
  text,
  isLiteral,
}: Pick<ShellWord, "text" | "isLiteral">): boolean {
  if (!isLiteral) return false;
  return harmless.has(plainAssignment.exec(text)?.[1] ?? "") || locales.test(text);
}

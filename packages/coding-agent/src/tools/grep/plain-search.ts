import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { ToolError } from "@tau-agent/agent";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { openRegularFile, unlessLimited } from "@tau-agent/system";
import { walk } from "../common/walk.ts";
import type { Search } from "./search.ts";

const maxFileBytes = 50 * 1024 * 1024;

/**
 * Searches without ripgrep, on platforms it is not built for: slower, with JavaScript's regular
 * expressions, and with the same output.
 *
 * @throws {ToolError} if the pattern is not a regular expression
 */
export async function plainSearch(search: Search): Promise<void> {
  const expression = expressionOf(search);
  const { root, filter, signal } = search;
  if (!root.isDirectory) {
    await searchFile(root.path, basename(root.path), expression, search);
    return;
  }
  const isWanted = (path: string) => filter === undefined || filter.matches(path);
  for await (const entries of walk(root.path, { signal })) {
    for (const { path, isFile } of entries) {
      if (!isFile || !isWanted(path)) continue;
      const goesOn = await searchFile(join(root.path, path), path, expression, search);
      if (!goesOn) return;
    }
  }
}

function expressionOf({ pattern, isLiteral, ignoresCase }: Search): RegExp {
  const inline = /^\(\?i\)/.test(pattern) && !isLiteral;
  const flags = ignoresCase || inline ? "i" : "";
  const source = isLiteral
    ? pattern.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")
    : inline
      ? pattern.slice(4)
      : pattern;
  try {
    return new RegExp(source, flags);
  } catch (error) {
    const reason = errorMessage(error);
    throw new ToolError(
      `Cannot search for ${JSON.stringify(pattern)}: ${reason}\nCorrect the pattern, or set literal to search for plain text.`,
      undefined,
      { cause: error },
    );
  }
}

async function searchFile(
  file: string,
  path: string,
  expression: RegExp,
  search: Search,
): Promise<boolean> {
  search.signal.throwIfAborted();
  const text = await textOf(file);
  if (text === undefined) return true;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  let reported = -1;
  const report = (index: number, isMatch: boolean) => {
    reported = index;
    return search.onLine({ path, number: index + 1, text: lines[index] ?? "", isMatch });
  };
  let contextEnd = -1;
  for (const [index, line] of lines.entries()) {
    const isMatch = expression.test(line.replace(/\r$/, ""));
    if (!isMatch && index > contextEnd) continue;
    const before = isMatch ? Math.max(reported + 1, index - search.context) : index;
    for (let earlier = before; earlier < index; earlier++) {
      if (!report(earlier, false)) return false;
    }
    if (!report(index, isMatch)) return false;
    if (isMatch) contextEnd = index + search.context;
  }
  return true;
}

/** The text of a file; undefined for what is unreadable, huge or binary. */
async function textOf(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || found.size > maxFileBytes) return undefined;
  const handle = await openRegularFile(file).catch(unlessLimited(undefined));
  const bytes = await handle?.readFile().catch(() => undefined);
  await handle?.close();
  if (bytes === undefined) return undefined;
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return bytes.subarray(0, 8192).includes(0) ? undefined : new TextDecoder().decode(bytes);
}

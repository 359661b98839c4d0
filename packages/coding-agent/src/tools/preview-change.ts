import { readFile, stat } from "node:fs/promises";
import type { ToolEnvironment } from "../processes/environment.ts";
import { describeChange } from "./common/diff.ts";
import { resolvePath } from "./common/paths.ts";
import type { EditArguments } from "./edit/edit.ts";

/** A larger file is not compared while a person waits for the question. */
const MAX_BYTES = 5 * 1024 * 1024;

/**
 * What a call of `edit` or `write` would change, as a unified diff; undefined for any other call, and
 * for one that would fail.
 */
export async function previewChange(
  toolName: string,
  input: Readonly<Record<string, unknown>>,
  environment: ToolEnvironment,
): Promise<string | undefined> {
  try {
    if (toolName === "edit") {
      const { previewEdit } = await import("./edit/edit.ts");
      return await previewEdit(input as unknown as EditArguments, environment);
    }
    if (toolName === "write") return await previewWrite(input, environment);
  } catch {
    // The tool says what is wrong.
  }
  return undefined;
}

async function previewWrite(
  { path, content }: Readonly<Record<string, unknown>>,
  environment: ToolEnvironment,
): Promise<string | undefined> {
  if (typeof path !== "string" || typeof content !== "string") return undefined;
  const before = await currentText(resolvePath(path, environment));
  return before === undefined ? undefined : (await describeChange(path, before, content)).patch;
}

async function currentText(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return "";
  if (!found.isFile() || found.size > MAX_BYTES) return undefined;
  return readFile(file, "utf8");
}

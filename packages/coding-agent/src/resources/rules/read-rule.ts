import { basename } from "node:path";
import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "@tau-agent/system";
import { parseFrontmatter, textAttribute } from "../files/frontmatter.ts";
import { clipped, parsePattern, type RulePattern } from "./rule-pattern.ts";
import { parseScope, splitList } from "./rule-scope.ts";
import type { StreamRule } from "./stream-rule.ts";

/** More text than a model should receive in the middle of its work. */
const MAX_LENGTH = 256 * 1024;

/** Reads a rule's file; undefined if it is not a stream rule, or is malformed. */
export async function readRule(
  { path, text: source }: { readonly path: string; readonly text: string },
  diagnostics: Diagnostic[],
): Promise<StreamRule | undefined> {
  const leaveOut = (reason: string): undefined => {
    const message = `Rule ${path} is left out: ${reason}`;
    diagnostics.push({ severity: "warning", message, path });
  };
  const { attributes, body, problem } = await parseFrontmatter(source);
  if (problem !== undefined) {
    return leaveOut(`${problem}. Put patterns and globs in single quotes`);
  }
  // YAML reads `no`, `off` and quoted words as strings, but their author means false.
  if (/^(?:false|no|off)$/i.test(String(attributes.enabled).trim())) return undefined;
  const written = listAttribute(attributes, "ttsr_trigger", "ttsrTrigger", "condition");
  if (written === undefined) {
    const isMeant = isJsonObject(attributes.ttsr_trigger ?? attributes.ttsrTrigger);
    return isMeant
      ? leaveOut("its ttsr_trigger is neither a string nor a list of strings")
      : undefined;
  }
  if (source.length > MAX_LENGTH) return leaveOut(`it is longer than ${MAX_LENGTH} characters`);
  const patterns: RulePattern[] = [];
  for (const text of written) {
    const pattern = parsePattern(text);
    if ("problem" in pattern) {
      const problem = clipped(pattern.problem);
      const reason = `its ttsr_trigger is not a regular expression (${problem})`;
      return leaveOut(`${reason}. Correct it, or remove the file`);
    }
    patterns.push(pattern);
  }
  const globs = listAttribute(attributes, "globs")?.flatMap(splitList);
  const scope = parseScope(listAttribute(attributes, "scope")?.flatMap(splitList), globs);
  if ("unknown" in scope) {
    return leaveOut(
      `its scope ${scope.unknown} is not one of text, thinking, tool, tool:name, tool:name(glob)`,
    );
  }
  const description = textAttribute(attributes, "description");
  const content = body === "" ? description : body;
  if (content === undefined) return leaveOut("it has no text that could be shown to the model");
  const name = textAttribute(attributes, "name") ?? basename(path).replace(/\.mdc?$/, "");
  return { name, filePath: path, description, content, patterns, scope };
}

/** The first of these attributes that exists, as a list of texts; undefined if it is empty. */
function listAttribute(attributes: JsonObject, ...names: readonly string[]): string[] | undefined {
  for (const name of names) {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    const texts = (Array.isArray(value) ? value : [value])
      .filter((one) => ["string", "number"].includes(typeof one))
      .map(String)
      .filter((text) => text.trim() !== "");
    if (texts.length > 0) return texts;
  }
  return undefined;
}

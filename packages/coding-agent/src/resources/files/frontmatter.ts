import { errorMessage, isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";

export interface Frontmatter {
  /** Empty if the file has none. */
  readonly attributes: JsonObject;
  /** The text after the frontmatter, trimmed. */
  readonly body: string;
  /** Why the attributes could not be read; then they are empty. */
  readonly problem?: string;
}

/** The YAML at the beginning of a Markdown text, empty if there is none, and the trimmed rest. */
export function splitFrontmatter(text: string): { readonly yaml: string; readonly body: string } {
  const source = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const opening = /^---[ \t]*\n/.exec(source);
  const whole = { yaml: "", body: source.trim() };
  if (opening === null) return whole;
  // Searched from the newline of the opening line, so that an empty frontmatter is recognised.
  const end = source.indexOf("\n---", opening[0].length - 1);
  if (end === -1) return whole;
  const lineEnd = source.indexOf("\n", end + 1);
  const body = lineEnd === -1 ? "" : source.slice(lineEnd + 1).trim();
  return { yaml: source.slice(opening[0].length, end + 1), body };
}

/** Reads the YAML frontmatter of a Markdown text. The YAML parser is loaded only if there is any. */
export async function parseFrontmatter(text: string): Promise<Frontmatter> {
  const { yaml, body } = splitFrontmatter(text);
  if (yaml.trim() === "") return { attributes: {}, body };
  const { parse } = await import("yaml");
  try {
    const attributes: unknown = parse(yaml, { logLevel: "error" });
    if (attributes === null) return { attributes: {}, body };
    if (isJsonObject(attributes)) return { attributes, body };
    return { attributes: {}, body, problem: "its frontmatter is not a list of names and values" };
  } catch (error) {
    const [reason = ""] = errorMessage(error).split("\n");
    return { attributes: {}, body, problem: `its frontmatter is not valid YAML: ${reason}` };
  }
}

/** An attribute as text, or `undefined`; numbers and booleans are converted. */
export function textAttribute(attributes: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (typeof value === "string") return value.trim() === "" ? undefined : value.trim();
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

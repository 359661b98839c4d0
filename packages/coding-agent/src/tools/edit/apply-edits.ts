import { ToolError } from "@tau-agent/agent";
import { closestLine } from "./closest-line.ts";
import { describeDifferences } from "./differences.ts";
import { indentsOf, type Match, MatchFinder } from "./find-match.ts";
import { NormalizedText, toLineFeeds } from "./line-endings.ts";
import { spellings } from "./spellings.ts";
import { weaveRegion } from "./weave.ts";

export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
}

interface PlacedEdit extends TextEdit, Match {
  readonly name: string;
}

/** A file after its edits. */
export interface EditedText {
  readonly text: string;
  /** For the model: which texts did not match exactly, and why. */
  readonly notes: readonly string[];
}

/**
 * Applies all edits to a file's content, or none. All other bytes stay the same.
 *
 * @throws {ToolError} if a text is missing, not unique or overlaps another, or if nothing would change
 */
export async function applyEdits(
  path: string,
  raw: string,
  edits: readonly TextEdit[],
): Promise<EditedText> {
  const bom = raw.startsWith("\uFEFF") ? "\uFEFF" : "";
  const file = new NormalizedText(raw.slice(bom.length));
  const placed = await placeEdits(path, file.text, edits);
  let result = bom;
  let at = 0;
  for (const edit of placed) {
    const { start, end, looseness, spelling } = edit;
    const [from, to] = [file.rawOffset(start), file.rawOffset(end)];
    result += file.raw.slice(at, from);
    const oldText = spelling.convert(edit.oldText);
    const newText = spelling.convert(edit.newText);
    const indents = looseness === undefined ? undefined : indentsOf(file.text, edit, oldText);
    const change = { oldText, newText, lineEnd: file.lineEnd, looseness, indents };
    result += await weaveRegion(file.raw.slice(from, to), change);
    at = to;
  }
  result += file.raw.slice(at);
  if (result === raw) {
    throw new ToolError(`No change to ${path}: the new text gives the content it already has.`);
  }
  return { text: result, notes: placed.flatMap((edit) => noteOn(edit, file.text)) };
}

/** Why a match is not exact, so that the model knows the file's real content. */
function noteOn(edit: PlacedEdit, content: string): string[] {
  const { name, spelling, looseness, start, end } = edit;
  const reasons = spelling.words === undefined ? [] : [spelling.words];
  if (looseness !== undefined) {
    const oldText = spelling.convert(edit.oldText);
    const what = describeDifferences(oldText, content.slice(start, end));
    reasons.push(
      `it and the file differ in ${what}; what you did not change keeps the file's form`,
    );
  }
  return reasons.length === 0 ? [] : [`${name} was not an exact match: ${reasons.join("; ")}.`];
}

async function placeEdits(
  path: string,
  content: string,
  edits: readonly TextEdit[],
): Promise<PlacedEdit[]> {
  const finder = new MatchFinder(content);
  const wanted = edits.map((edit, index) => ({
    name: edits.length === 1 ? "oldText" : `edits[${index}].oldText`,
    oldText: toLineFeeds(edit.oldText).replace(/^\uFEFF/, ""),
    newText: toLineFeeds(edit.newText).replace(/^\uFEFF/, ""),
  }));
  const found = await finder.findAll(wanted.map(({ oldText }) => oldText));
  const placed: PlacedEdit[] = [];
  for (const [index, edit] of wanted.entries()) {
    const { name, oldText, newText } = edit;
    if (oldText === newText) {
      throw new ToolError(`No change to ${path}: ${name} and its newText are identical.`);
    }
    const { match, count = 0 } = found[index] ?? {};
    if (oldText === "") placed.push(emptyMatch(path, content, edit));
    else if (match !== undefined) placed.push({ ...edit, ...match });
    else if (count === 0) throw missing(path, name, content, oldText);
    else {
      // In a search for many texts, the second occurrence ended the search for a text.
      const [counted] = await finder.findAll([oldText]);
      throw ambiguous(path, name, counted?.count ?? count);
    }
  }
  placed.sort((left, right) => left.start - right.start);
  for (const [index, edit] of placed.entries()) {
    const next = placed[index + 1];
    if (next !== undefined && next.start < edit.end) {
      const text = `${edit.name} and ${next.name} overlap in ${path}. Join them into one edit.`;
      throw new ToolError(text);
    }
  }
  return placed;
}

function emptyMatch(
  path: string,
  content: string,
  edit: TextEdit & { readonly name: string },
): PlacedEdit {
  const [spelling] = spellings;
  if (content === "" && spelling !== undefined) return { ...edit, start: 0, end: 0, spelling };
  throw new ToolError(
    `${edit.name} is empty, but ${path} is not. Give the text to replace, or use write.`,
  );
}

function ambiguous(path: string, name: string, count: number): ToolError {
  return new ToolError(
    `Found ${count} occurrences of ${name} in ${path}. The text must be unique; add lines around it.`,
  );
}

function missing(path: string, name: string, content: string, oldText: string): ToolError {
  const closest = closestLine(content, oldText);
  const hint =
    closest === undefined
      ? "Read the file and copy the text from it."
      : `The closest is line ${closest.line}: ${JSON.stringify(closest.text)}.`;
  return new ToolError(
    `Could not find the exact text in ${path}: ${name} must match the file, whitespace and newlines included. ${hint}`,
  );
}

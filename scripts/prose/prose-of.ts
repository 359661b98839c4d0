import { parseSync, Visitor } from "oxc-parser";

/** A part of a source text, by its offsets. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Separates two pieces of prose, so that no phrase is found across them. */
const GAP = "\0";

const testFunctions = new Set(["describe", "it", "test"]);

/**
 * Hides everything in a file that is not prose. The result has the length and the lines of the file, so
 * that places in it are places in the file.
 */
export function proseOf(path: string, source: string): string {
  const prose = path.endsWith(".md") ? proseOfMarkdown(source) : proseOfCode(path, source);
  return hide(prose, /`[^`\n]*`|\]\([^)\n]*\)|https?:\/\/\S+/g);
}

/** All but code blocks, HTML comments and front matter. */
function proseOfMarkdown(source: string): string {
  return hide(source, /^(`{3,})[\s\S]*?^\1|<!--[\s\S]*?-->|^---\n[\s\S]*?\n---$/gm);
}

/** Comments, and the titles of tests. */
function proseOfCode(path: string, source: string): string {
  const { program, comments } = parseSync(path, source);
  const kept: Span[] = [...comments];
  new Visitor({
    CallExpression({ callee, arguments: [title] }) {
      const name = source.slice(callee.start, callee.end).match(/^\w+/)?.[0] ?? "";
      if (title === undefined || !testFunctions.has(name) || !isText(title.type)) return;
      // Without its quotes: backticks around a whole title do not make it code.
      kept.push({ start: title.start + 1, end: title.end - 1 });
    },
  }).visit(program);
  let prose = "";
  for (const { start, end } of kept.toSorted((first, second) => first.start - second.start)) {
    prose += blank(source.slice(prose.length, start)) + withoutMarks(source.slice(start, end));
  }
  return prose + blank(source.slice(prose.length));
}

function isText(type: string): boolean {
  return type === "Literal" || type === "TemplateLiteral";
}

/** Slashes and stars of a comment become spaces: a phrase may run over lines. */
function withoutMarks(comment: string): string {
  return comment.replace(/^\/[/*]+|\*\/$|^[ \t]*\*/gm, (mark) => " ".repeat(mark.length));
}

function hide(text: string, what: RegExp): string {
  return text.replace(what, blank);
}

/** White space stays: comments in lines that follow each other are one text. */
function blank(text: string): string {
  return text.replace(/\S/g, GAP);
}

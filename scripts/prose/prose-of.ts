import { parseSync, Visitor } from "oxc-parser";

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Separates two pieces of prose, so that no phrase is found across them. */
const GAP = "\0";

/**
 * Blanks out everything in a file that is not prose. The result keeps the length and the lines of
 * the file, so offsets stay the same.
 */
const testCall =
  /^(?:describe|it|test)(?:\.(?:concurrent|each|fails|for|only|runIf|sequential|skip|skipIf|todo))*(?:$|[(`])/;

/** Everything but code blocks, HTML comments and front matter. */
export function proseOf(path: string, source: string): string {
  const prose = path.endsWith(".md") ? proseOfMarkdown(source) : proseOfCode(path, source);
  return hide(prose, /`[^`\n]*`|\]\([^)\n]*\)|https?:\/\/\S+/g);
}

function proseOfMarkdown(source: string): string {
  return hide(source, /^(`{3,})[\s\S]*?^\1|<!--[\s\S]*?-->|^---\n[\s\S]*?\n---$/gm);
}

/** Excludes the quotes: backticks around a whole title do not make it code. */
function proseOfCode(path: string, source: string): string {
  const { program, comments } = parseSync(path, source);
  const kept: Span[] = [...comments];
  new Visitor({
    CallExpression({ callee, arguments: [title] }) {
      const isTest = testCall.test(source.slice(callee.start, callee.end));
      if (title === undefined || !isTest || !isText(title.type)) return;
      // Slashes and asterisks of a comment become spaces, because a phrase may span lines.
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

/** Keeps white space, so that adjacent line comments form one text. */
function withoutMarks(comment: string): string {
  return comment.replace(/^\/[/*]+|\*\/$|^[ \t]*\*/gm, (mark) => " ".repeat(mark.length));
}

function hide(text: string, what: RegExp): string {
  return text.replace(what, blank);
}

/** Keeps white space, so that comments on consecutive lines form one text. */
function blank(text: string): string {
  return text.replace(/\S/g, GAP);
}

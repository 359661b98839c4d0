import { parentPort, workerData } from "node:worker_threads";
import type TurndownService from "turndown";
import type { DocumentAnswer, DocumentTask } from "./document-task.ts";

type ParsedDocument = ReturnType<typeof import("linkedom")["parseHTML"]>["document"];
type ParsedElement = NonNullable<ReturnType<ParsedDocument["querySelector"]>>;

/** The problems of a PDF in words, by the name of the library's error. */
const pdfProblems: Readonly<Record<string, string>> = {
  PasswordException: "it is encrypted",
  InvalidPDFException: "it is damaged",
};

/** The main part of a page as Markdown; the whole page if no main part is found. */
async function readHtml(html: string, url: string): Promise<DocumentAnswer> {
  const [{ parseHTML }, { Readability }, { default: Turndown }] = await Promise.all([
    import("linkedom"),
    import("@mozilla/readability"),
    import("turndown"),
  ]);
  const wrapped = (body: string) => `<html><head></head><body>${body}</body></html>`;
  const parsed = () => {
    const { document } = parseHTML(/<html[\s>]/i.test(html) ? html : wrapped(html));
    absolute(document, url);
    return document;
  };
  const found = new Readability(parsed() as never, { keepClasses: true }).parse();
  const whole = parsed();
  const title = found?.title || whole.querySelector("title")?.textContent || "";
  const hasMain = Boolean(found?.textContent?.trim());
  const { body } = hasMain ? parseHTML(wrapped(found?.content ?? "")).document : whole;
  const turndown = new Turndown({
    headingStyle: "atx",
    codeBlockStyle: "fenced",
    bulletListMarker: "-",
  });
  turndown.remove(["script", "style", "noscript", "template", "iframe", "svg", "title"] as never);
  addTables(turndown);
  return { kind: "page", title: title.trim(), markdown: turndown.turndown(body as never).trim() };
}

/** Tables become one line per row; the first row is the head. */
function addTables(turndown: TurndownService): void {
  const oneLine = (text: string) =>
    text
      .trim()
      .replace(/\s*\n\s*/g, " ")
      .replaceAll("|", "\\|");
  turndown.addRule("cell", { filter: ["td", "th"], replacement: (text) => ` ${oneLine(text)} |` });
  turndown.addRule("row", {
    filter: "tr",
    replacement: (text, row) => {
      const isFirst =
        (row as unknown as ParsedElement).closest("table")?.querySelector("tr") === row;
      const rule = `\n|${" --- |".repeat((row as unknown as ParsedElement).children.length)}`;
      return `\n|${text}${isFirst ? rule : ""}`;
    },
  });
  turndown.addRule("table", {
    filter: "table",
    replacement: (text) => `\n\n${text.trim().replace(/\n+/g, "\n")}\n\n`,
  });
}

/** Makes links absolute, so that they work outside the page. */
function absolute(document: ParsedDocument, url: string): void {
  for (const [selector, name] of [
    ["a[href]", "href"],
    ["img[src]", "src"],
  ] as const) {
    for (const element of document.querySelectorAll(selector)) {
      const value = element.getAttribute(name) ?? "";
      if (/^(?:javascript|data|vbscript):/i.test(value.trim())) element.removeAttribute(name);
      else if (URL.canParse(value, url)) element.setAttribute(name, new URL(value, url).href);
    }
  }
}

async function readPdf({
  bytes,
  first,
  last,
  maxPages,
}: Extract<DocumentTask, { kind: "pdf" }>): Promise<DocumentAnswer> {
  const { getDocumentProxy } = await import("unpdf");
  const document = await getDocumentProxy(bytes, { verbosity: 0 });
  const { numPages: total } = document;
  if (total > maxPages)
    return { kind: "failed", reason: `it has ${total} pages; at most ${maxPages} are read` };
  const pages: string[] = [];
  for (let number = first ?? 1; number <= Math.min(last ?? total, total); number++) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const text = items
      .map((item) => ("str" in item ? `${item.str}${item.hasEOL ? "\n" : ""}` : ""))
      .join("");
    pages.push(text.replaceAll(/[^\S\n]+\n/g, "\n").trim());
    page.cleanup();
  }
  return { kind: "pages", pages, total };
}

async function answer(task: DocumentTask): Promise<DocumentAnswer> {
  try {
    return await (task.kind === "html" ? readHtml(task.html, task.url) : readPdf(task));
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: "", message: String(error) };
    return { kind: "failed", reason: pdfProblems[name] ?? `it cannot be read (${message})` };
  }
}

parentPort?.postMessage(await answer(workerData as DocumentTask));

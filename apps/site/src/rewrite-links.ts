import { posix } from "node:path";

/** The web address of the repository; without one, links into the repository become plain text. */
export interface RewriteOptions {
  /** The path of the page's file from the repository root. */
  readonly file: string;
  /** The pages on the site by source file: their path on the site, with `.md`. */
  readonly pages: ReadonlyMap<string, string>;
  /** The base address of the repository's files and folders, to which a slash and the path are appended. */
  readonly sourceAddress: string | undefined;
}

const fence = /^(```|~~~)/;
const link = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;

/**
 * Rewrites the links of a repository page for its page on the site. Links to files without a page lead to the
 * repository or become plain text. Comments are removed. Code blocks are unchanged.
 */
export function rewriteLinks(text: string, options: RewriteOptions): string {
  let open: string | undefined;
  const lines = text.replaceAll(/^<!--[\s\S]*?-->\n/gm, "").split("\n");
  return lines
    .map((line) => {
      const mark = fence.exec(line)?.[1];
      if (mark !== undefined && (open === undefined || open === mark)) {
        open = open === undefined ? mark : undefined;
        return line;
      }
      return open === undefined
        ? line.replaceAll(link, (...found) => rewrite(found, options))
        : line;
    })
    .join("\n");
}

function rewrite(
  [whole, image, text, target = ""]: readonly string[],
  { file, pages, sourceAddress }: RewriteOptions,
): string {
  if (/^([a-z]+:|#)/i.test(target)) return whole ?? "";
  const [path = "", fragment] = target.split("#");
  const source = posix.join(posix.dirname(file), path).replace(/\/$/, "");
  const page = pages.get(source) ?? pages.get(`${source}/README.md`);
  if (page !== undefined) {
    const from = posix.dirname(pages.get(file) ?? "");
    const relative = posix.relative(from, page);
    const address = relative.startsWith(".") ? relative : `./${relative}`;
    return `${image}[${text}](${address}${fragment === undefined ? "" : `#${fragment}`})`;
  }
  if (sourceAddress !== undefined) return `${image}[${text}](${sourceAddress}/${source})`;
  return image === "!" ? "" : (text ?? "");
}

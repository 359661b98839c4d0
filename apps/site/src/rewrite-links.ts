import { posix } from "node:path";

/** Where the repository is shown on the web; until it has an address, links into it become plain text. */
export interface RewriteOptions {
  /** The page's file, from the root of the repository. */
  readonly file: string;
  /** Pages by the file that they come from: their path on the site, with `.md`. */
  readonly pages: ReadonlyMap<string, string>;
  /** Address of a file or folder of the repository is this, a slash and its path. */
  readonly sourceAddress: string | undefined;
}

const fence = /^(```|~~~)/;
const link = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;

/**
 * Makes the links of a page of the repository those of its page on the site. Links to files that have no
 * page go to the repository, or become plain text. Comments are left out. Code blocks stay as they are.
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

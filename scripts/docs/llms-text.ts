import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sections } from "../../apps/site/src/site-map.ts";

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));

/** The entry page for language models (llmstxt.org): every page with its first sentence. */
export function llmsText(): string {
  const parts = sections.map(({ title, pages }) => {
    const lines = pages.map((page) => {
      const { heading, sentence } = describe(readFileSync(`${docs}${page}.md`, "utf8"));
      return `- [${heading}](${page}.md)${sentence === "" ? "" : `: ${sentence}`}`;
    });
    return `## ${title}\n\n${lines.join("\n")}`;
  });
  return `# Tau\n\n> A headless coding agent: \`tau --mode rpc\` speaks JSON lines on stdin and stdout, \`tau -p\` answers one prompt, and \`@tau-agent/coding-agent\` is the same agent as a library.\n\n${parts.join("\n\n")}\n`;
}

function describe(text: string): { readonly heading: string; readonly sentence: string } {
  const heading = /^# (.*)$/m.exec(text)?.[1] ?? "";
  const paragraphs = text.replaceAll(/<!--[\s\S]*?-->/g, "").split(/\n{2,}/);
  const first = paragraphs.find((paragraph) => /^[A-Z`[]/.test(paragraph.trimStart())) ?? "";
  const plain = first
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\s+/g, " ")
    .trim();
  const sentence = /^.*?[^.]\.(?= [^a-z]|$)/.exec(plain)?.[0] ?? plain;
  return { heading, sentence: sentence.replace(/:$/, ".") };
}

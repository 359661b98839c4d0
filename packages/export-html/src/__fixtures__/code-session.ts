import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ExportSource } from "../export-html.ts";
import { call, SessionBuilder } from "./session-builder.ts";

/** A session of about `size` entries about real code: it reads, changes and tests the files of this folder. */
export function codeSession(size: number): ExportSource {
  const root = join(import.meta.dirname, "..");
  const files = globSync("**/*.ts", { cwd: root }).sort();
  const session = new SessionBuilder();
  for (let turn = 0; session.entries.length < size; turn += 1) {
    const path = files[turn % files.length] ?? "";
    // Each turn shows another part of a file, so that hardly any text is repeated.
    const lines = readFileSync(join(root, path), "utf8").split("\n");
    const from = (Math.floor(turn / files.length) * 23) % lines.length;
    const part = lines.slice(from, from + 60).map((line) => line.replace(/\w{6,}/g, (word) => `${word}${turn % 7}`));
    const before = part.slice(0, 4).join("\n");
    const after = before.replaceAll("const", "let");
    session.user(`Look at \`${path}\` from line ${from}, and tell me what it does in turn ${turn}.`);
    session.assistant([
      { type: "thinking", thinking: part.slice(0, 6).join(" ") },
      { type: "text", text: `I'll read ${path} first.` },
      call(`r${turn}`, "read", { path, offset: from, limit: 60 }),
    ]);
    session.result(`r${turn}`, "read", { text: part.join("\n") });
    session.assistant([
      call(`e${turn}`, "edit", { path, oldText: before, newText: after }),
      call(`b${turn}`, "bash", { command: `npx vitest run ${path}` }),
    ]);
    session.result(`e${turn}`, "edit", {
      text: `Successfully replaced text in ${path}.`,
      details: { diff: part.slice(0, 8).flatMap((line, at) => (at < 4 ? [`-${at} ${line}`, `+${at} ${line} `] : [` ${at} ${line}`])).join("\n") },
    });
    session.result(`b${turn}`, "bash", { text: part.slice(10, 40).map((line, at) => `✓ ${at} ${line.trim()}`).join("\n") });
    session.assistant(`Done.\n\n| File | Lines |\n|---|---:|\n| ${path} | ${part.length} |\n\n\`\`\`ts\n${part.slice(20, 32).join("\n")}\n\`\`\`\n\nThe rest stays as it is.`);
  }
  return session.source({ name: `Code session of ${size}` });
}

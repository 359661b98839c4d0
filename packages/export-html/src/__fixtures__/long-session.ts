import type { ExportSource } from "../export-html.ts";
import { call, SessionBuilder } from "./session-builder.ts";

/** A session of about `size` entries: prompts, calls with output, answers, a branch now and then. */
export function longSession(size: number): ExportSource {
  const session = new SessionBuilder();
  for (let turn = 0; session.entries.length < size; turn += 1) {
    const prompt = session.user(`Prompt ${turn}: please look at **file ${turn}**.`);
    session.assistant([
      { type: "thinking", thinking: `Thinking about file ${turn}.` },
      call(`c${turn}`, "bash", { command: `cat file-${turn}.txt` }),
    ]);
    const lines = Array.from({ length: 30 }, (_, line) => `${turn}:${line} some output of a program`);
    session.result(`c${turn}`, "bash", { text: lines.join("\n") });
    session.assistant(`Answer ${turn}.\n\n- one\n- two\n\n\`\`\`ts\nconst answer = ${turn};\n\`\`\``);
    if (turn % 50 !== 49) continue;
    const { leafId } = session;
    session.leafId = prompt;
    session.assistant(`Another answer ${turn}.`);
    session.leafId = leafId;
  }
  return session.source({ name: `Long session of ${size}` });
}

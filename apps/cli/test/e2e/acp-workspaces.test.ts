import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { expect, it } from "vitest";
import { Editor } from "../support/acp-editor.ts";
import { elsewhere } from "../support/tool-suite.ts";

const scenario = [
  turn(toolCall("read", { path: "a.txt" })),
  turn(toolCall("write", { path: "made.txt", content: "made" })),
  turn(toolCall("bash", { command: "pwd; cat made.txt" })),
  turn("Done."),
];

/** An editor that offers its files and terminals; records the agent's requests. */
async function start(words: readonly string[]) {
  const asked: string[] = [];
  const editor = await Editor.start({
    scenario,
    arguments: [...words],
    capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
    answers: (app) => {
      app.onRequest("fs/read_text_file", ({ params }) => {
        asked.push("read");
        return { content: readFileSync(params.path, "utf8") };
      });
      app.onRequest("fs/write_text_file", () => {
        asked.push("write");
        return {};
      });
      app.onRequest("terminal/create", () => {
        asked.push("terminal");
        throw new Error("no terminals today");
      });
    },
  });
  return { editor, asked };
}

it("the editor's files and terminals override those of this machine, but not those of another workspace", async () => {
  const there = elsewhere();
  const spec = { shell: ["sh", "-c"], cwd: there };
  const { editor, asked } = await start(["--workspace", JSON.stringify(spec)]);
  const { sessionId } = await editor.open(there);
  await editor.prompt(sessionId, "go");
  expect(asked).toEqual([]);
  expect(readFileSync(join(there, "made.txt"), "utf8")).toBe("made");
  const states = Object.values(editor.states(sessionId)).map((each) => each.at(-1));
  expect(states).toEqual(["completed", "completed", "completed"]);
  // Paths are resolved on the other machine.
  await expect(editor.open("/no/such/folder")).rejects.toThrow(
    /\/no\/such\/folder in workspace ws-/,
  );

  const here = await start([]);
  const folder = elsewhere();
  const own = await here.editor.open(folder);
  await here.editor.prompt(own.sessionId, "go");
  expect(new Set(here.asked)).toEqual(new Set(["read", "write", "terminal"]));
  expect(existsSync(join(folder, "made.txt"))).toBe(false);
  await expect(here.editor.open("/no/such/folder/here")).rejects.toMatchObject({ code: -32602 });
});

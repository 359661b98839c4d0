import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { thinking, toolCall, turn } from "@tau-agent/ai/testing";
import { mcpServer, picture } from "../project.ts";
import { answer, prose, step } from "../script.ts";
import { read, type Trajectory, work, workInPrompts } from "./trajectory.ts";

/** A context window that long work fills, whatever the model's own window is. */
const WINDOW = 100_000;
/** The time that a host gets to connect to an MCP server, even on a busy machine. */
const CONNECT_MS = 2_000;

/** Work of different lengths and kinds in one session. */
export const ordinary: readonly Trajectory[] = [
  {
    name: "question",
    what: "A short question",
    play: (session) => session.prompt("What does this project do?", [answer(1)]),
  },
  {
    name: "fix",
    what: "A fix in 30 turns",
    play: (session) => workInPrompts(session, 30),
  },
  {
    name: "turns-80",
    what: "80 turns, into compaction",
    needs: { window: WINDOW },
    play: (session) => workInPrompts(session, 80),
  },
  {
    name: "turns-150",
    what: "150 turns, through compactions",
    needs: { window: WINDOW },
    play: (session) => workInPrompts(session, 150),
  },
  {
    name: "parallel-4",
    what: "Four parallel calls a turn",
    play: (session) => parallel(session, 4),
  },
  {
    name: "parallel-12",
    what: "Twelve parallel calls a turn",
    play: (session) => parallel(session, 12),
  },
  {
    name: "images",
    what: "25 images",
    async play(session) {
      for (let prompt = 0; prompt < 5; prompt++) {
        const turns = Array.from({ length: 5 }, (_, at) =>
          step(at, toolCall("read", { path: picture(prompt * 5 + at) })),
        );
        await session.prompt(`Look at the pictures of step ${prompt}.`, [...turns, answer(prompt)]);
      }
    },
  },
  {
    name: "thinking",
    what: "Thinking, its level changed twice",
    async play(session) {
      for (const [index, level] of ["medium", "high", "low"].entries()) {
        await session.host.request("set_thinking_level", { level });
        const thought = (at: number) =>
          thinking(prose(800, at), { signature: `signed-${index}-${at}` });
        const turns = work(8, index * 8).map((each, at) => {
          const content = Array.isArray(each.content) ? each.content : [];
          return turn([thought(at), ...content]);
        });
        await session.prompt(`Think about part ${index}.`, [...turns, answer(index)]);
      }
    },
  },
  {
    name: "mcp-late",
    what: "Deferred MCP tools, up late and found late",
    needs: {
      settings: { defaultTools: ["+tool_search"] },
      mcp: { late: mcpServer(20, "late.go") },
    },
    async play(session) {
      await workInPrompts(session, 10);
      writeFileSync(join(session.cwd, "late.go"), "");
      await sleep(CONNECT_MS);
      // Before 1.0, pi has no MCP support.
      const result = session.host.next(({ type }) => type === "tool_execution_end");
      await session.prompt("Use a tool of the late server.", found(3));
      if ((await result).isError === true) throw new Error("There is no tool_search");
      await workInPrompts(session, 10, 10);
      await session.prompt("Use another one.", found(7));
      await workInPrompts(session, 10, 20);
    },
  },
];

function found(number: number) {
  const name = `mcp__late__nothing_${number}`;
  return [
    step(number, toolCall("tool_search", { query: `nothing_${number}`, limit: 1 })),
    step(number, toolCall(name, { id: "1" })),
    answer(number),
  ];
}

async function parallel(session: Parameters<Trajectory["play"]>[0], width: number): Promise<void> {
  const turns = Array.from({ length: 6 }, (_, at) =>
    step(at, ...Array.from({ length: width }, (_, call) => read(at * width + call, 60))),
  );
  await session.prompt("Read all of it.", [...turns, answer(1)]);
}

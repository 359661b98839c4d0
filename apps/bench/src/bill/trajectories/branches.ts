import { type ScenarioRequest, type Turn, toolCall, turn } from "@tau-agent/ai/testing";
import type { BillSession } from "../bill-session.ts";
import { answer, prose, step } from "../script.ts";
import { read, type Trajectory, work, workInPrompts } from "./trajectory.ts";

/** Sessions that branch, move to another session, or use subagents. */
export const branches: readonly Trajectory[] = [
  {
    name: "model-switch",
    what: "Model switched, and back",
    async play(session) {
      const { vendor: provider, model, other } = session.vendor;
      await workInPrompts(session, 10);
      await session.host.request("set_model", { provider, modelId: other });
      await workInPrompts(session, 10, 10);
      await session.host.request("set_model", { provider, modelId: model });
      await workInPrompts(session, 10, 20);
    },
  },
  {
    name: "resume",
    what: "Resumed in a new process",
    play: (session) => resumed(session, "stop"),
  },
  {
    name: "kill",
    what: "Resumed after `kill -9`",
    play: (session) => resumed(session, "kill"),
  },
  {
    name: "fork",
    what: "Forked",
    async play(session) {
      await workInPrompts(session, 20);
      const data = await session.host.request("get_fork_messages");
      const { messages } = data as { messages: { entryId: string }[] };
      await session.host.request("fork", { entryId: messages.at(-1)?.entryId });
      await workInPrompts(session, 20, 20);
    },
  },
  {
    name: "rewind",
    what: "Rewound, files and conversation",
    isOnlyTaus: true,
    needs: { settings: { rewind: { enabled: true } } },
    async play(session) {
      await workInPrompts(session, 20);
      const data = await session.host.request("list_checkpoints");
      const { checkpoints } = data as { checkpoints: { entryId: string }[] };
      const entryId = checkpoints.at(-1)?.entryId;
      await session.host.request("rewind", { entryId, conversation: true });
      await workInPrompts(session, 10, 20);
    },
  },
  {
    name: "output-schema",
    what: "A prompt with `outputSchema`",
    isOnlyTaus: true,
    async play(session) {
      await workInPrompts(session, 20);
      const value = { done: true, files: ["src/module-1.ts"] };
      const outputSchema = {
        type: "object",
        properties: {
          done: { type: "boolean" },
          files: { type: "array", items: { type: "string" } },
        },
        required: ["done", "files"],
        additionalProperties: false,
      };
      session.script.aside = (request) => {
        const given = structured(request, value);
        if (given !== undefined) session.script.aside = undefined;
        return given;
      };
      await session.prompt("What is done?", work(2, 20), { outputSchema });
      await workInPrompts(session, 10, 30);
    },
  },
  {
    name: "subagents",
    what: "Three subagents, twice",
    isOnlyTaus: true,
    async play(session) {
      session.script.aside = subagent;
      await workInPrompts(session, 10);
      for (const round of [0, 1]) {
        const tasks = [0, 1, 2].map((number) => ({
          name: `Part${round}${number}`,
          description: `Part ${number}`,
          task: `Subtask ${round}.${number}: ${prose(200, number)}`,
        }));
        const calls = tasks.map((task) => toolCall("task", task));
        await session.prompt(`Split part ${round}.`, [step(round, ...calls), answer(round)]);
      }
      await workInPrompts(session, 10, 10);
    },
  },
];

async function resumed(session: BillSession, how: "stop" | "kill"): Promise<void> {
  await workInPrompts(session, 20);
  await session.resume(how);
  await workInPrompts(session, 10, 20);
}

/** The replies of a subagent that reads four files and answers. */
function subagent({ messages }: ScenarioRequest): Turn | undefined {
  const first = messages[0];
  const text = JSON.stringify(first?.content ?? "");
  const number = /Subtask (\d)\.(\d)/.exec(text);
  if (first?.role !== "user" || number === null) return undefined;
  const replies = messages.filter(({ role }) => role === "assistant").length;
  const at = Number(number[1]) * 12 + Number(number[2]) * 4 + replies;
  return replies < 4 ? step(at, read(at)) : answer(at);
}

/** The final answer: through the host's tool for structured answers if there is one, otherwise as text. */
function structured({ tools, messages }: ScenarioRequest, value: object): Turn | undefined {
  const run = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
  if (run.filter(({ role }) => role === "assistant").length < 2) return undefined;
  const tool = tools.find(({ name }) => name === "structured_output");
  return tool === undefined ? turn(JSON.stringify(value)) : turn(toolCall(tool.name, { ...value }));
}

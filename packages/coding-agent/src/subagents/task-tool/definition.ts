import { toolRow } from "../../tools/common/tool-row.ts";
import type { TaskServices } from "../tasks/task-services.ts";
import { describeTask } from "./describe-task.ts";

/** The `task` tool. */
export const taskTool = toolRow({
  name: "task",
  description: (services: TaskServices) => describeTask(services),
  parameters: {
    type: "object",
    properties: {
      task: {
        type: "string",
        description: "What to do, complete in itself: the subagent sees nothing else",
      },
      agent: { type: "string", description: 'Default "task"' },
      description: { type: "string", description: "A few words for people who watch" },
      tasks: {
        type: "array",
        description: "Several that run at the same time, instead of task",
        items: {
          type: "object",
          properties: {
            id: { type: "string", description: "Short unique name" },
            task: { type: "string" },
            agent: { type: "string" },
            description: { type: "string" },
          },
          required: ["id", "task"],
        },
      },
      context: { type: "string", description: "What all of tasks need to know" },
      model: { type: "string", description: "Instead of your own" },
      outputSchema: {
        type: "object",
        description: "JSON Schema of each final answer",
        additionalProperties: true,
      },
      isolated: {
        type: "boolean",
        description:
          "Work in a copy of the working tree; changes come back as a patch when all is done",
      },
      verify: {
        description:
          "Checks of isolated work: true, a profile's name, or {profile?, commands: [{name, command, timeoutMs?, optional?}], onFailure?: return_failure | retry_once | discard_patch}",
        anyOf: [
          { type: "boolean" },
          { type: "string" },
          { type: "object", additionalProperties: true },
        ],
      },
    },
  },
  promptSnippet: "Give work to subagents, one or several at once",
  load: async () => (await import("./task.ts")).runTaskTool,
});

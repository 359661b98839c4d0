import { toolRow } from "../../tools/common/tool-row.ts";
import type { TaskServices } from "../tasks/task-services.ts";

export const taskTool = toolRow({
  name: "task",
  description:
    ({ description }: TaskServices) =>
    () =>
      description.text,
  parameters: {
    type: "object",
    properties: {
      task: {
        type: "string",
        description: "All that the subagent sees",
      },
      agent: { type: "string", description: "Default task" },
      description: { type: "string" },
      tasks: {
        type: "array",
        description: "Several at once, instead of task",
        items: {
          type: "object",
          properties: {
            id: { type: "string" },
            task: { type: "string" },
            agent: { type: "string" },
          },
          required: ["id", "task"],
        },
      },
      context: { type: "string", description: "For all tasks" },
      model: { type: "string" },
      outputSchema: { type: "object", description: "JSON Schema of each answer" },
      isolated: {
        type: "boolean",
        description: "In a copy of the tree; changes come back as a patch",
      },
      background: { type: "boolean", description: "Return at once" },
      notify: { type: "boolean", description: "With background: a message at the end" },
      resume: { type: "string", description: "Id of an ended subagent to go on with, by task" },
      verify: {
        description: "Check isolated work: true, or {commands: [{name, command}]}",
      },
    },
  },
  load: async () => (await import("./task.ts")).runTaskTool,
});

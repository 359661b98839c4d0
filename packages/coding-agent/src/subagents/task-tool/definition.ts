import { toolRow } from "../../tools/common/tool-row.ts";
import type { TaskServices } from "../tasks/task-services.ts";

export const taskTool = toolRow({
  name: "task",
  description:
    ({ description }: TaskServices) =>
    () =>
      description.text,
  properties: {
    task: {
      type: "string",
      description: "All it sees",
    },
    agent: { type: "string" },
    description: { type: "string" },
    tasks: {
      type: "array",
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
    context: { type: "string", description: "For all" },
    model: { type: "string" },
    outputSchema: { type: "object" },
    isolated: {
      type: "boolean",
      description: "Comes back as a patch",
    },
    background: { type: "boolean" },
    notify: { type: "boolean" },
    resume: { type: "string", description: "Ended id" },
    verify: {
      description: "true, or {commands: [{name, command}]}",
    },
  },
  load: async () => (await import("./task.ts")).runTaskTool,
});

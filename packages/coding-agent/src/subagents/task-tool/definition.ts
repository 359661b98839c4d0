/** The arguments of `task`, as a model sees them. */
export const taskParameters = {
  type: "object",
  properties: {
    task: {
      type: "string",
      description: "What is to be done, complete in itself: the subagent sees nothing else",
    },
    agent: { type: "string", description: 'Agent that does it (default "task")' },
    description: { type: "string", description: "A few words for people who watch" },
    tasks: {
      type: "array",
      description: "Several tasks that run at the same time, instead of task",
      items: {
        type: "object",
        properties: {
          id: { type: "string", description: "Short unique name of this task" },
          task: { type: "string", description: "What is to be done" },
          agent: { type: "string", description: "Agent that does it" },
          description: { type: "string", description: "A few words for people who watch" },
        },
        required: ["id", "task"],
      },
    },
    context: { type: "string", description: "What all of tasks need to know; put before each" },
    model: { type: "string", description: "Model to use instead of your own" },
    outputSchema: {
      type: "object",
      description: "JSON Schema that each final answer has to fit",
      additionalProperties: true,
    },
    isolated: {
      type: "boolean",
      description:
        "Work in a separate copy of the working tree; changes come back as a patch when all is done",
    },
    verify: {
      description:
        "Checks of isolated work before it comes back: true, a profile's name, or {profile?, commands: [{name, command, timeoutMs?, optional?}], onFailure?: return_failure | retry_once | discard_patch}",
      anyOf: [
        { type: "boolean" },
        { type: "string" },
        { type: "object", additionalProperties: true },
      ],
    },
  },
} as const;

/** What `task` is for; the agents that can be named follow it. */
export const taskDescription =
  "Give work to subagents, each with a conversation of its own; you get their final answers. " +
  "Use it for work that can be described completely and would fill your own conversation, and for several independent pieces at once. " +
  "Subagents that change files at the same time should be isolated.";

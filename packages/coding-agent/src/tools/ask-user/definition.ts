import { toolRow } from "../common/tool-row.ts";

export const ASK_USER = "ask_user";

/** The `ask_user` tool, declared if somebody can answer. */
export const askUserTool = toolRow({
  name: ASK_USER,
  description:
    "Ask the user one to four questions of two to four options, when you cannot decide well.",
  properties: {
    questions: {
      type: "array",
      items: {
        type: "object",
        properties: {
          question: { type: "string" },
          header: { type: "string" },
          options: {
            type: "array",
            items: {
              type: "object",
              properties: { label: { type: "string" }, description: { type: "string" } },
              required: ["label"],
            },
          },
          multiSelect: { type: "boolean" },
        },
        required: ["question", "options"],
      },
    },
  },
  required: ["questions"],
  load: async () => (await import("./ask-user.ts")).runAskUserTool,
});

import { toolRow } from "../common/tool-row.ts";

export const ASK_USER = "ask_user";

/** The `ask_user` tool, declared where somebody can answer. */
export const askUserTool = toolRow({
  name: ASK_USER,
  description:
    "Ask the user one to four questions with two to four options each, when you cannot decide well without them. They may also answer in their own words.",
  parameters: {
    type: "object",
    properties: {
      questions: {
        type: "array",
        items: {
          type: "object",
          properties: {
            question: { type: "string" },
            header: { type: "string", description: "One or two words" },
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
  },
  load: async () => (await import("./ask-user.ts")).runAskUserTool,
});

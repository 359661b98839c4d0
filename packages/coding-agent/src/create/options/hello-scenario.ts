import type { Turn } from "@tau-agent/ai/testing";

/** What `--provider scripted` does without a file: lists the folder and names the first entry. */
export const helloScenario: readonly Turn[] = [
  {
    repeat: true,
    when: { hasToolResults: false },
    content: ["Let me look.", { type: "toolCall", name: "ls", arguments: {} }],
  },
  {
    repeat: true,
    when: { lastToolName: "ls", lastToolResultMatches: "^(?<first>\\S+)" },
    content: "The first thing here is {{first}}.",
  },
];

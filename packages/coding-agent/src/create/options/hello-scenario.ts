import type { Turn } from "@tau-agent/ai/testing";

/** What `--provider scripted` says without a file: looks into the folder and names what comes first. */
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

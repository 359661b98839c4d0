// Adds a message to each prompt and keeps only the newest of them in what the model reads.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function clock(pi: ExtensionApi): void {
  let count = 0;
  pi.on("before_agent_start", () => {
    count += 1;
    return {
      message: { customType: "clock", content: `This is prompt ${count}.`, display: false },
    };
  });
  pi.on("context", ({ messages }) => {
    const isClock = (message: (typeof messages)[number]): boolean =>
      message.role === "custom" && message.customType === "clock";
    const newest = messages.findLast(isClock);
    return { messages: messages.filter((message) => !isClock(message) || message === newest) };
  });
}

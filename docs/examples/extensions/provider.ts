// A provider that answers without any service behind it.
import { createAssistantMessageEventStream } from "@mariozechner/pi-ai";
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function echo(pi: ExtensionApi): void {
  pi.registerProvider("echo", {
    models: [{ id: "echo-1", name: "Echo", contextWindow: 8000, maxTokens: 1000 }],
    streamSimple: (model) => {
      const stream = createAssistantMessageEventStream();
      const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
      const message = {
        role: "assistant" as const,
        content: [{ type: "text" as const, text: "echo!" }],
        api: model.api,
        provider: model.provider,
        model: model.id,
        usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost },
        stopReason: "stop" as const,
        timestamp: Date.now(),
      };
      stream.push({ type: "start", partial: message });
      stream.push({ type: "done", reason: "stop", message });
      return stream;
    },
  });
}

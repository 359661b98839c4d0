// Observes what is otherwise hidden: the vendor's raw events, the final request, waits for the
// user.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function observe(pi: ExtensionApi): void {
  let rawEvents = 0;
  pi.on("provider_stream_event", () => {
    rawEvents += 1;
  });
  pi.on("context_with_system", ({ messages: [head, ...rest] }) => {
    if (head?.role !== "system") return undefined;
    return { messages: [{ ...head, content: `${head.content}\n\nAnswer in verse.` }, ...rest] };
  });
  pi.on("ui_prompt_start", ({ kind, title }) => pi.appendEntry("waiting", { kind, title }));
  pi.on("ui_prompt_end", ({ kind }) => pi.appendEntry("answered", { kind }));
  pi.registerCommand("observed", {
    description: "Says how many raw events the model has sent",
    handler: async (_args, { ui }) => {
      if (await ui.confirm("Show the count?", "It is only a number.")) ui.notify(String(rawEvents));
    },
  });
}

// A command for each kind of dialog that reports the answer.
import type { ExtensionApi, ExtensionContext } from "@tau-agent/coding-agent";

export default function dialogs(pi: ExtensionApi): void {
  const add = (name: string, ask: (ctx: ExtensionContext, args: string) => unknown) =>
    pi.registerCommand(name, {
      description: `Asks with ${name}`,
      handler: async (args, ctx) => {
        const answer = await ask(ctx, args);
        ctx.ui.notify(`answer: ${answer === undefined ? "undefined" : JSON.stringify(answer)}`);
      },
    });
  add("select", (ctx, args) =>
    ctx.ui.select("Allow dangerous command?", ["Allow", "Block"], {
      timeout: Number(args) || 10_000,
    }),
  );
  add("confirm", (ctx, args) =>
    ctx.ui.confirm("Clear session?", "All messages will be lost.", {
      timeout: Number(args) || 5_000,
    }),
  );
  add("input", (ctx) => ctx.ui.input("Enter a value", "type something..."));
  add("editor", (ctx) => ctx.ui.editor("Edit some text", "Line 1\nLine 2\nLine 3"));
}

// An extension whose commands open dialogs and report the answers.
export default function dialogs(pi) {
  const ask = (name, open) =>
    pi.registerCommand(name, {
      handler: async (args, ctx) => {
        const answer = await open(ctx.ui, args);
        ctx.ui.notify(`${name}: ${JSON.stringify(answer) ?? "nothing"}`, "info");
      },
    });
  ask("select", (ui) => ui.select("Which?", ["one", "two"]));
  ask("confirm", (ui) => ui.confirm("Sure?", "It cannot be undone."));
  ask("input", (ui) => ui.input("Name?", "yours"));
  ask("editor", (ui) => ui.editor("Text?", "begin"));
  ask("brief", (ui) => ui.input("Quick?", "now", { timeout: 200 }));
  // Delays some prompts before they begin.
  pi.on("input", async ({ text }) => {
    if (text.startsWith("look")) await new Promise((resolve) => setTimeout(resolve, 300));
  });
}

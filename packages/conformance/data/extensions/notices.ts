// One command shows everything that needs no answer, another uses what only a terminal offers.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function notices(pi: ExtensionApi): void {
  pi.registerCommand("notices", {
    handler: async (_args, { ui }) => {
      ui.notify("Command blocked by user", "warning");
      ui.notify("plain");
      ui.setStatus("my-ext", "Turn 3 running...");
      ui.setStatus("my-ext", undefined);
      ui.setWidget("my-ext", ["--- My Widget ---", "Line 1", "Line 2"], {
        placement: "aboveEditor",
      });
      ui.setWidget("my-ext", ["below"], { placement: "belowEditor" });
      ui.setWidget("my-ext", () => ({ render: () => [] }));
      ui.setWidget("my-ext", undefined);
      ui.setTitle("pi - my project");
      ui.setEditorText("prefilled text for the user");
      ui.pasteToEditor("pasted");
    },
  });
  pi.registerCommand("terminal", {
    handler: async (_args, { ui, hasUI }) => {
      ui.setWorkingMessage("working");
      ui.setFooter(() => undefined);
      ui.setHeader(() => undefined);
      ui.setEditorComponent(() => undefined);
      ui.setToolsExpanded(true);
      const answers = {
        custom: (await ui.custom(() => undefined)) === undefined,
        editorText: ui.getEditorText(),
        toolsExpanded: ui.getToolsExpanded(),
        themes: ui.getAllThemes(),
        theme: ui.getTheme("dark") === undefined,
        setTheme: [ui.setTheme("dark").success, typeof ui.setTheme("dark").error],
        hasUI,
      };
      ui.notify(JSON.stringify(answers), "info");
    },
  });
}

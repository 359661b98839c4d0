import type { ClientUi, ExtensionUi, TerminalUi, Theme } from "../api/ui.ts";

/** A theme that leaves all text unchanged: there is no terminal to colour. */
export const plainTheme: Theme = {
  name: "plain",
  fg: (_color, text) => text,
  bg: (_color, text) => text,
  bold: (text) => text,
  italic: (text) => text,
  underline: (text) => text,
  inverse: (text) => text,
  strikethrough: (text) => text,
  dim: (text) => text,
  getFgAnsi: () => "",
  getBgAnsi: () => "",
  getColorMode: () => "truecolor",
};

/** Adds the terminal-only members, with the behaviour documented for hosts without a terminal. */
export function terminalUi(client: ClientUi): ExtensionUi {
  const terminal: TerminalUi = {
    theme: plainTheme,
    pasteToEditor: (text) => client.setEditorText(text),
    getEditorText: () => "",
    custom: async () => undefined,
    onTerminalInput: () => () => {},
    setWorkingMessage: () => {},
    setWorkingVisible: () => {},
    setWorkingIndicator: () => {},
    setHiddenThinkingLabel: () => {},
    setFooter: () => {},
    setHeader: () => {},
    setEditorComponent: () => {},
    getEditorComponent: () => undefined,
    addAutocompleteProvider: () => {},
    getToolsExpanded: () => false,
    setToolsExpanded: () => {},
    getAllThemes: () => [],
    getTheme: () => undefined,
    setTheme: () => ({ success: false, error: "Themes need a terminal" }),
  };
  return { ...client, ...terminal };
}

import { stripVTControlCharacters } from "node:util";
import * as components from "./components.ts";
import { fuzzyFilter, fuzzyMatch } from "./fuzzy.ts";
import { Key, matchesKey, parseKey } from "./keys.ts";
import { sliceByColumn, truncateToWidth, visibleWidth, wrapTextWithAnsi } from "./text-width.ts";

const { Component, Container } = components;

/** Key bindings for a host where no keys are pressed. */
class KeybindingsManager {
  static create(): KeybindingsManager {
    return new KeybindingsManager();
  }

  matches(_data: string, _action: string): boolean {
    return false;
  }

  getKeys(_action: string): string[] {
    return [];
  }

  getConfig(): object {
    return {};
  }
}

const keybindings = new KeybindingsManager();
const nothing = (): void => {};

/** Replaces pi's terminal library: the same names, with no terminal behind them. */
export const terminalModule = {
  ...components,
  Key,
  matchesKey,
  parseKey,
  visibleWidth,
  truncateToWidth,
  wrapTextWithAnsi,
  sliceByColumn,
  fuzzyMatch,
  fuzzyFilter,
  KeybindingsManager,
  EditorKeybindingsManager: KeybindingsManager,
  TUI_KEYBINDINGS: {},
  DEFAULT_EDITOR_KEYBINDINGS: {},
  getKeybindings: () => keybindings,
  setKeybindings: nothing,
  getEditorKeybindings: () => keybindings,
  setEditorKeybindings: nothing,
  CURSOR_MARKER: "\u001B_pi:c\u0007",
  isFocusable: (value: unknown) =>
    typeof value === "object" && value !== null && "focused" in value,
  isKeyRelease: () => false,
  isKeyRepeat: () => false,
  isKittyProtocolActive: () => false,
  setKittyProtocolActive: nothing,
  decodeKittyPrintable: () => undefined,
  isCtrlC: (data: string) => matchesKey(data, "ctrl+c"),
  isEscape: (data: string) => matchesKey(data, "escape"),
  isEnter: (data: string) => matchesKey(data, "enter"),
  isArrowUp: (data: string) => matchesKey(data, "up"),
  isArrowDown: (data: string) => matchesKey(data, "down"),
  Image: class Image extends Component {},
  PaneContainer: class PaneContainer extends Container {},
  HStack: class HStack extends Container {},
  VStack: class VStack extends Container {},
  ScrollView: class ScrollView extends Container {},
  MouseRegion: class MouseRegion extends Container {},
  TuiMainScreen: class TuiMainScreen extends Container {},
  TuiAltScreen: class TuiAltScreen extends Container {},
  isViewportTUI: () => false,
  hyperlink: (text: string) => text,
  getOsc8LinkAtColumn: () => undefined,
  stripTerminalSequences: stripVTControlCharacters,
  renderLatex: (text: string) => text,
  setCapabilities: nothing,
  setCapabilityOverrides: nothing,
  getNativeClipboard: () => undefined,
  parseOsc11BackgroundColor: () => undefined,
  parseTerminalColorSchemeReport: () => undefined,
  CombinedAutocompleteProvider: class CombinedAutocompleteProvider extends Component {
    async getSuggestions(): Promise<null> {
      return null;
    }

    applyCompletion(lines: string[], cursorLine: number, cursorCol: number) {
      return { lines, cursorLine, cursorCol };
    }
  },
  StdinBuffer: class StdinBuffer extends Component {},
  ProcessTerminal: class ProcessTerminal extends Component {
    readonly columns: number = 80;
    readonly rows: number = 24;
    start(): void {}
    stop(): void {}
    write(_text: string): void {}
  },
  getCapabilities: () => ({ images: null, trueColor: false, hyperlinks: false }),
  detectCapabilities: () => ({ images: null, trueColor: false, hyperlinks: false }),
  resetCapabilitiesCache: nothing,
  getCellDimensions: () => ({ widthPx: 9, heightPx: 18 }),
  setCellDimensions: nothing,
  calculateImageRows: () => 1,
  getImageDimensions: () => null,
  imageFallback: (mimeType: string) => `[Image: ${mimeType}]`,
  renderImage: () => null,
  allocateImageId: () => 1,
  deleteKittyImage: () => "",
  deleteAllKittyImages: () => "",
  encodeKitty: () => "",
  encodeITerm2: () => "",
  getPngDimensions: () => null,
  getJpegDimensions: () => null,
  getGifDimensions: () => null,
  getWebpDimensions: () => null,
};

import { wrapTextWithAnsi } from "./text-width.ts";

/** A part of a terminal screen. There is no screen, so most of these do nothing. */
export class Component {
  /** The constructor's arguments, which are not used here. */
  readonly given: readonly unknown[];
  focused = false;

  constructor(...given: unknown[]) {
    this.given = given;
  }

  render(_width: number): string[] {
    return [];
  }

  handleInput(_data: string): void {}

  invalidate(): void {}

  dispose(): void {}
}

export class Container extends Component {
  children: Component[] = [];

  addChild(child: Component): void {
    this.children.push(child);
  }

  removeChild(child: Component): void {
    this.children = this.children.filter((other) => other !== child);
  }

  clear(): void {
    this.children = [];
  }

  override render(width: number): string[] {
    return this.children.flatMap((child) => child.render(width));
  }
}

/** A container with a margin, as far as it is observable. */
export class Box extends Container {
  setBgFn(_paint?: unknown): void {}
}

export class Text extends Component {
  #text: string;

  constructor(text: unknown = "", ...rest: unknown[]) {
    super(text, ...rest);
    this.#text = String(text);
  }

  setText(text: string): void {
    this.#text = text;
  }

  getText(): string {
    return this.#text;
  }

  setCustomBgFn(_paint?: unknown): void {}

  override render(width: number): string[] {
    return this.#text.trim() === "" ? [] : wrapTextWithAnsi(this.#text, Math.max(1, width));
  }
}

export class Markdown extends Text {}

export class TruncatedText extends Text {}

export class Spacer extends Component {
  #lines: number;

  constructor(lines: unknown = 1) {
    super(lines);
    this.#lines = Number(lines);
  }

  setLines(lines: number): void {
    this.#lines = lines;
  }

  override render(_width: number): string[] {
    return Array.from({ length: this.#lines }, () => "");
  }
}

/** A list to choose from; without key presses nothing is ever chosen. */
export class SelectList<Item = unknown> extends Component {
  onSelect: ((item: Item) => void) | undefined;
  onCancel: (() => void) | undefined;
  onSelectionChange: ((item: Item) => void) | undefined;
  readonly #items: readonly Item[];
  #selected = 0;

  constructor(items: readonly Item[] = [], ...rest: unknown[]) {
    super(items, ...rest);
    this.#items = items;
  }

  setFilter(_filter: string): void {}

  setSelectedIndex(index: number): void {
    this.#selected = index;
  }

  getSelectedItem(): Item | null {
    return this.#items[this.#selected] ?? null;
  }
}

export class SettingsList extends Component {
  updateValue(_id: string, _value: string): void {}
}

export class Input extends Component {
  onSubmit: ((value: string) => void) | undefined;
  onEscape: (() => void) | undefined;
  onChange: ((value: string) => void) | undefined;
  #value = "";

  getValue(): string {
    return this.#value;
  }

  setValue(value: string): void {
    this.#value = value;
  }
}

export class Editor extends Component {
  onSubmit: ((text: string) => void) | undefined;
  onChange: ((text: string) => void) | undefined;
  disableSubmit = false;
  #text = "";

  getText(): string {
    return this.#text;
  }

  getExpandedText(): string {
    return this.#text;
  }

  setText(text: string): void {
    this.#text = text;
  }

  insertTextAtCursor(text: string): void {
    this.#text += text;
  }

  getLines(): string[] {
    return this.#text.split("\n");
  }

  getCursor(): { line: number; col: number } {
    return { line: 0, col: 0 };
  }

  addToHistory(_text: string): void {}

  setAutocompleteProvider(_provider: unknown): void {}

  setPaddingX(_padding: number): void {}
}

/** An editor that extensions build on. */
export class CustomEditor extends Editor {
  readonly actionHandlers: Map<string, () => void> = new Map();
  onEscape: (() => void) | undefined;
  onCtrlD: (() => void) | undefined;

  onAction(action: string, handler: () => void): void {
    this.actionHandlers.set(action, handler);
  }
}

export class Loader extends Text {
  start(): void {}

  stop(): void {}

  setMessage(message: string): void {
    this.setText(message);
  }

  setIndicator(_indicator?: unknown): void {}
}

export class CancellableLoader extends Loader {
  onAbort: (() => void) | undefined;
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#controller.signal.aborted;
  }
}

export class BorderedLoader extends CancellableLoader {}

export class TUI extends Container {
  readonly terminal: { columns: number; rows: number; write: (text: string) => void } = {
    columns: 80,
    rows: 24,
    write: () => {},
  };

  start(): void {}

  stop(): void {}

  requestRender(_force?: boolean): void {}

  setFocus(_component: unknown): void {}

  showOverlay(_component: unknown, _options?: unknown) {
    return { hide: () => {}, setHidden: (_isHidden: boolean) => {}, isHidden: () => true };
  }

  hideOverlay(): void {}

  hasOverlay(): boolean {
    return false;
  }

  addInputListener(_listener: unknown): () => void {
    return () => {};
  }
}

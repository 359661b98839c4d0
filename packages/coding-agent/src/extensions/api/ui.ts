/** Ways for a dialog to end without an answer. */
export interface DialogOptions {
  /** Dismisses the dialog after this many milliseconds. */
  readonly timeout?: number | undefined;
  /** Aborting dismisses the dialog. */
  readonly signal?: AbortSignal | undefined;
}

/** How urgent a notification is. */
type NotificationType = "info" | "warning" | "error";

/** Where to show a widget. */
interface WidgetOptions {
  readonly placement?: "aboveEditor" | "belowEditor" | undefined;
}

/** Styles text for a terminal; without one, every method returns its text unchanged. */
export interface Theme {
  readonly name?: string | undefined;
  fg(color: string, text: string): string;
  bg(color: string, text: string): string;
  bold(text: string): string;
  italic(text: string): string;
  underline(text: string): string;
  inverse(text: string): string;
  strikethrough(text: string): string;
  dim(text: string): string;
  getFgAnsi(color: string): string;
  getBgAnsi(color: string): string;
  getColorMode(): "truecolor" | "256color";
}

/** The methods that reach a client: dialogs wait for its answer, the others do not. */
export interface ClientUi {
  select(
    title: string,
    options: readonly string[],
    dialog?: DialogOptions,
  ): Promise<string | undefined>;
  confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean>;
  input(title: string, placeholder?: string, dialog?: DialogOptions): Promise<string | undefined>;
  editor(title: string, prefill?: string, dialog?: DialogOptions): Promise<string | undefined>;
  notify(message: string, type?: NotificationType): void;
  /** Sets the status; without a text, clears it. */
  setStatus(key: string, text?: string | undefined): void;
  /** Sets the widget; without lines, clears it. Anything but lines of text is ignored. */
  setWidget(key: string, content?: unknown, options?: WidgetOptions): void;
  setTitle(title: string): void;
  setEditorText(text: string): void;
}

/** The methods that need a terminal; here they do nothing and return what is documented. */
export interface TerminalUi {
  readonly theme: Theme;
  pasteToEditor(text: string): void;
  getEditorText(): string;
  custom(factory?: unknown, options?: unknown): Promise<undefined>;
  onTerminalInput(handler?: unknown): () => void;
  setWorkingMessage(message?: string): void;
  setWorkingVisible(isVisible?: boolean): void;
  setWorkingIndicator(indicator?: unknown): void;
  setHiddenThinkingLabel(label?: string): void;
  setFooter(factory?: unknown): void;
  setHeader(factory?: unknown): void;
  setEditorComponent(factory?: unknown): void;
  getEditorComponent(): undefined;
  addAutocompleteProvider(factory?: unknown): void;
  getToolsExpanded(): boolean;
  setToolsExpanded(isExpanded?: boolean): void;
  getAllThemes(): { name: string; path: string | undefined }[];
  getTheme(name?: string): undefined;
  setTheme(theme?: unknown): { success: boolean; error?: string };
}

/** What an extension can show to users and ask them. */
export interface ExtensionUi extends ClientUi, TerminalUi {}

import type { AgentTool } from "@tau-agent/agent";
import { type Diagnostic, SparseMap, SparseSet } from "@tau-agent/system";
import {
  isTakenAway,
  type SelectableTools,
  selectServerTools,
  selectTools,
} from "./tool-selection.ts";

/** The source of a tool. */
export type ToolSource = "builtin" | "custom" | "host" | "extension" | "mcp";

/** Sources whose tools may change during a session. */
export type ChangingToolSource = Exclude<ToolSource, "builtin" | "custom">;

/** The initial tools of a {@link ToolSet}. */
export interface ToolSetOptions
  extends Pick<SelectableTools, "builtIn" | "selection" | "settings" | "isAllowed"> {
  readonly custom?: readonly AgentTool[] | undefined;
  /** Finds deferred tools; declared while there are any. */
  readonly search: AgentTool;
  /** Calls found tools, for models that accept no additional tools during a conversation. */
  readonly caller: AgentTool;
  /** Built-in tools that are available once loaded, and that `tool_search` does not list. */
  readonly onDemand?: ReadonlySet<string> | undefined;
  /** Built-in tools that are declared together with a change that rewrites the beginning of requests anyway. */
  readonly onRewrite?: readonly AgentTool[] | undefined;
}

/** The tools of a source. */
interface Offer {
  readonly tools: readonly AgentTool[];
  /** The names of tools that are inactive by default. */
  readonly inactive: ReadonlySet<string>;
}

const nothing: Offer = { tools: [], inactive: new Set() };

/**
 * A session's tools, and which of them the model may call. Every source passes its tools to
 * {@link offer}; a tool with `isDeferred` is declared once `tool_search` has found it.
 */
export class ToolSet {
  readonly #options: ToolSetOptions;
  readonly #offers = new SparseMap<ChangingToolSource, Offer>();
  readonly #sources = new WeakMap<AgentTool, ToolSource>();
  /** Tools that were switched on or off since the start, by name; the client's tools have a separate list. */
  readonly #switched = new SparseMap<string, boolean>();
  readonly #hostToolsOff = new SparseSet<string>();
  /** The names of deferred tools, in the order in which they were found. */
  #loaded: ReadonlySet<string> = new Set();
  /** Those that the client has activated by name. */
  #asked: ReadonlySet<string> = new Set();
  /** The names of the `onRewrite` tools that are needed. */
  readonly #needed = new SparseSet<string>();
  /** Whether deferred tools may come later, because their source is configured but not connected. */
  #expectsDeferred = false;
  /** The names of the tools that requests have declared, in their original order. */
  readonly #requested = new Map<string, number>();
  #all: readonly AgentTool[] = [];
  #declared: readonly AgentTool[] = [];
  #named: readonly AgentTool[] = [];
  #deferred: readonly AgentTool[] = [];
  #onDemand: readonly AgentTool[] = [];
  #active: readonly AgentTool[] = [];
  #callable: readonly AgentTool[] = [];
  /** The tools for a model without appendable tools, until something changes. */
  #unappended: readonly AgentTool[] | undefined;

  constructor(given: ToolSetOptions) {
    const allowed = (tools: readonly AgentTool[]) =>
      tools.filter(({ name }) => given.isAllowed?.(name) !== false);
    const custom = allowed(given.custom ?? []);
    const options = { ...given, custom, builtIn: allowed(given.builtIn) };
    this.#options = options;
    const { builtIn, search, caller, onRewrite = [] } = options;
    for (const tool of [...builtIn, search, caller, ...onRewrite]) {
      this.#sources.set(tool, "builtin");
    }
    this.#update();
  }

  /** All tools, in a fixed order. */
  get all(): readonly AgentTool[] {
    return this.#all;
  }

  /** The tools that the model knows; the same list object until something changes. */
  get active(): readonly AgentTool[] {
    return this.#active;
  }

  /** The tools that a call may name: the active ones and those on demand, declared or not. */
  get callable(): readonly AgentTool[] {
    return this.#callable;
  }

  /**
   * The tools that the next request declares. For a model without appendable tools, this excludes tools found since its
   * first request: a changed list would invalidate everything that the vendor has cached.
   */
  declaredFor(isAppendable: boolean): readonly AgentTool[] {
    if (isAppendable) return this.#active;
    this.#unappended ??= this.#withoutFound();
    return this.#unappended;
  }

  #withoutFound(): readonly AgentTool[] {
    const { caller, search, onRewrite = [] } = this.#options;
    const shown = this.#active.filter(
      (tool) => !this.#isLoadedByModel(tool) && !this.#isLate(tool),
    );
    const isCalled = this.#onDemand.length > 0 || this.#declared.includes(search);
    const callers = isCalled && this.#isAllowed(caller) ? [caller] : [];
    // These tools come after the caller, because the caller was declared before them, even in an earlier process.
    const isNeeded = (tool: AgentTool) => onRewrite.includes(tool);
    const before = shown.filter((tool) => !isNeeded(tool));
    return this.#inOrder([...before, ...callers, ...shown.filter(isNeeded)]);
  }

  /**
   * The active tools that the system prompt names: without those that were found or became necessary later, and without
   * those of MCP servers. The prompt thus keeps its bytes when a tool is found or a server connects.
   */
  get named(): readonly AgentTool[] {
    return this.#named;
  }

  /** Notes that a request declares these tools: from now on they keep their order, before later ones. */
  noteRequested(declared: readonly Pick<AgentTool, "name">[]): void {
    for (const { name } of declared) {
      if (this.#requested.has(name)) continue;
      this.#requested.set(name, this.#requested.size);
      this.#unappended = undefined;
    }
  }

  /** Whether a request has declared a tool of this name. */
  wasRequested(name: string): boolean {
    return this.#requested.has(name);
  }

  /** The tools that `tool_search` searches, found or not. */
  get deferred(): readonly AgentTool[] {
    const late = this.#active.filter((tool) => !tool.isDeferred && this.#isLate(tool));
    return late.length === 0 ? this.#deferred : [...this.#deferred, ...late];
  }

  /** Every tool that is switched on in the session, whether the model knows it or not. */
  get available(): readonly AgentTool[] {
    return [...new Set([...this.#callable, ...this.#deferred])];
  }

  /** Whether a deferred tool was found. */
  isLoaded(name: string): boolean {
    return this.#loaded.has(name);
  }

  /** The problems of the selection: names that none of these tools has. */
  diagnose(): readonly Diagnostic[] {
    return this.#select().diagnostics;
  }

  /** The source of a tool, even if it has been replaced. */
  sourceOf(tool: AgentTool): ToolSource {
    return this.#sources.get(tool) ?? "custom";
  }

  /**
   * Replaces the tools of a source, from the next model request on. The client's tools are always active, others
   * according to the selection.
   */
  offer(
    source: ChangingToolSource,
    tools: readonly AgentTool[],
    inactive: ReadonlySet<string> = nothing.inactive,
  ): void {
    const { isAllowed } = this.#options;
    const allowed = tools.filter(({ name }) => isAllowed?.(name) !== false);
    for (const tool of allowed) this.#sources.set(tool, source);
    this.#offers.set(source, { tools: allowed, inactive });
    if (source === "host") this.#switchOnHostTools(allowed);
    this.#update();
  }

  /**
   * Activates exactly these tools; unknown names are ignored. Deferred tools can still be found if
   * `tool_search` is among them.
   */
  activate(names: Iterable<string>): void {
    const wanted = new Set(names);
    const staysFound = wanted.has(this.#options.search.name);
    const ofHost = new Set(this.#offered("host").tools.map(({ name }) => name));
    for (const { name, isDeferred } of this.#everything()) {
      const isOn = wanted.has(name) || (staysFound && isDeferred === true);
      if (ofHost.has(name)) this.#hostToolsOff[isOn ? "delete" : "add"](name);
      // A tool that is hidden by one of the client is not switched on with it.
      if (!isOn || !ofHost.has(name)) this.#switched.set(name, isOn);
    }
    const found = this.#everything().filter(
      ({ isDeferred, name }) => isDeferred && wanted.has(name),
    );
    this.#asked = new Set(found.map(({ name }) => name));
    this.#loaded = new Set([...this.#loaded, ...this.#asked].filter((name) => wanted.has(name)));
    this.#update();
  }

  /** Sets whether deferred tools may come later; then `tool_search` is declared, too. */
  expectDeferred(isExpected: boolean): void {
    if (this.#expectsDeferred === isExpected) return;
    this.#expectsDeferred = isExpected;
    this.#update();
  }

  /** Declares deferred tools, after all others and after those found before. */
  load(names: Iterable<string>): void {
    this.#loaded = new Set([...this.#loaded, ...names]);
    this.#activateLoaded();
  }

  /** Replaces the found tools with those of another session. */
  restoreLoaded(names: Iterable<string>): void {
    this.#loaded = new Set(names);
    this.#asked = new Set();
    this.#activateLoaded();
  }

  /** Sets whether a tool of `onRewrite` is declared. */
  need(name: string, isNeeded: boolean): void {
    if (this.#needed.has(name) === isNeeded) return;
    this.#needed[isNeeded ? "add" : "delete"](name);
    this.#update();
  }

  #switchOnHostTools(tools: readonly AgentTool[]): void {
    this.#hostToolsOff.clear();
    if (tools.some(({ isDeferred }) => isDeferred))
      this.#switched.delete(this.#options.search.name);
  }

  #offered(source: ChangingToolSource): Offer {
    return this.#offers.get(source) ?? nothing;
  }

  #everything(): AgentTool[] {
    const { builtIn, custom = [], search, onRewrite = [] } = this.#options;
    const offered = [...this.#offers.values()].flatMap(({ tools }) => tools);
    return [...builtIn, ...custom, ...offered, search, ...onRewrite];
  }

  #select() {
    const { builtIn, custom = [], selection, settings, search, onRewrite = [] } = this.#options;
    const [extension, mcp] = [this.#offered("extension"), this.#offered("mcp")];
    const added = [...extension.tools, ...custom];
    const { all, tools, diagnostics } = selectTools({
      builtIn,
      custom: added,
      selection,
      settings,
      alsoKnown: [search, ...onRewrite],
      isAllowed: this.#options.isAllowed,
    });
    const names = new Set(all.map(({ name }) => name));
    const ofServers = mcp.tools.filter(({ name }) => selection?.none !== true && !names.has(name));
    const on = [
      ...tools.filter(({ name }) => !extension.inactive.has(name)),
      ...selectServerTools(ofServers, selection, settings),
    ];
    return { all: [...all, ...ofServers], diagnostics, isOn: new Set(on) };
  }

  #update(): void {
    const { search, onDemand } = this.#options;
    const host = this.#offered("host").tools;
    const selected = this.#select();
    const all = withHostTools(selected.all, host);
    const active = all.filter((tool) =>
      host.includes(tool)
        ? !this.#hostToolsOff.has(tool.name)
        : (this.#switched.get(tool.name) ?? selected.isOn.has(tool)),
    );
    this.#deferred = active.filter(({ isDeferred }) => isDeferred);
    this.#onDemand = active.filter(({ name }) => onDemand?.has(name));
    // Once declared, the search stays declared, even if there is nothing left to find.
    const mayFind = this.#expectsDeferred || this.#requested.has(search.name);
    const isSearched =
      (mayFind || all.some(({ isDeferred }) => isDeferred)) &&
      !all.some(({ name }) => name === search.name) &&
      this.#isAllowed(search);
    const needed = this.#neededBeside(all);
    this.#all = [...all, ...(isSearched ? [search] : []), ...needed];
    const isOn =
      isSearched &&
      (mayFind || this.#deferred.length > 0) &&
      (this.#switched.get(search.name) ?? true);
    const declared = active.filter(({ isDeferred, name }) => !isDeferred && !onDemand?.has(name));
    const switchedOn = needed.filter(({ name }) => this.#switched.get(name) ?? true);
    this.#declared = [...declared, ...(isOn ? [search] : []), ...switchedOn];
    this.#name();
    this.#activateLoaded();
  }

  #neededBeside(all: readonly AgentTool[]): AgentTool[] {
    const { onRewrite = [] } = this.#options;
    const names = new Set(all.map(({ name }) => name));
    return onRewrite.filter(
      (tool) => this.#needed.has(tool.name) && !names.has(tool.name) && this.#isAllowed(tool),
    );
  }

  /** Keeps the list object while its tools are the same, so that data derived from it can be cached. */
  #name(): void {
    const isOfServers = (tool: AgentTool) => this.sourceOf(tool) === "mcp";
    const { search, onRewrite = [] } = this.#options;
    const isSearchOfServers = this.#deferred.every(isOfServers);
    const named = this.#declared.filter(
      (tool) =>
        !isOfServers(tool) && !(tool === search && isSearchOfServers) && !onRewrite.includes(tool),
    );
    const isSame =
      named.length === this.#named.length && named.every((tool, at) => tool === this.#named[at]);
    if (!isSame) this.#named = named;
  }

  #activateLoaded(): void {
    this.#unappended = undefined;
    const byName = new Map([...this.#deferred, ...this.#onDemand].map((tool) => [tool.name, tool]));
    const loaded = [...this.#loaded].flatMap((name) => byName.get(name) ?? []);
    this.#active = this.#inOrder(
      loaded.length === 0 ? this.#declared : [...this.#declared, ...loaded],
    );
    const unloaded = this.#onDemand.filter((tool) => !loaded.includes(tool));
    this.#callable = [...this.#active, ...unloaded, this.#options.caller];
  }

  #isAllowed(tool: AgentTool): boolean {
    const { selection, settings, isAllowed } = this.#options;
    return isAllowed?.(tool.name) !== false && !isTakenAway(tool, selection, settings);
  }

  #isLoadedByModel({ name, isDeferred }: AgentTool): boolean {
    const isFound = isDeferred === true || this.#options.onDemand?.has(name) === true;
    return isFound && !this.#asked.has(name);
  }

  /** Whether a server's tool came after the first request, in a session that can search for it. */
  #isLate(tool: AgentTool): boolean {
    const isSearchable = this.#requested.has(this.#options.search.name);
    return isSearchable && this.sourceOf(tool) === "mcp" && !this.#requested.has(tool.name);
  }

  /** Declared tools come first, in their original order, because prompt caches depend on it. */
  #inOrder(tools: readonly AgentTool[]): readonly AgentTool[] {
    const last = this.#requested.size;
    const placeOf = ({ name }: AgentTool) => this.#requested.get(name) ?? last;
    const isSorted = tools.every((tool, index) => {
      const before = tools[index - 1];
      return before === undefined || placeOf(before) <= placeOf(tool);
    });
    return isSorted ? tools : tools.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

/** The client's tools replace those of the same name, or come last. */
function withHostTools(tools: readonly AgentTool[], host: readonly AgentTool[]): AgentTool[] {
  const own = new Map(host.map((tool) => [tool.name, tool]));
  const names = new Set(tools.map(({ name }) => name));
  return [
    ...tools.map((tool) => own.get(tool.name) ?? tool),
    ...host.filter(({ name }) => !names.has(name)),
  ];
}

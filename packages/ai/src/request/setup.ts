/** The types of a wire format that {@link PrefixWire} uses. */
export interface WireShapes {
  /** A message of the user or the model. */
  readonly turn: object;
  /** A change of instructions, tools or effort between two messages. */
  readonly change: object;
  readonly tool: object;
  readonly effort: string;
}

/** The roles that OpenAI's formats use for instructions. */
type InstructionRole = "system" | "developer";

/** What the model reads besides the messages, without cache marks. */
export interface Setup<Shapes extends WireShapes> {
  readonly system: string;
  /** The role of instruction messages, if the format has two for them. */
  readonly role?: InstructionRole;
  readonly tools: readonly Shapes["tool"][];
  readonly effort: Shapes["effort"] | undefined;
}

/** Features of a model beyond the plain format. */
export interface Features {
  /** Whether it refuses thinking made for another prefix unless asked to drop it. */
  readonly bindsThinking: boolean;
  /** The changes that it can read between two messages. */
  readonly appends: {
    readonly system: boolean;
    /** `added`: tools can only be added, not removed or changed. */
    readonly tools: boolean | "added";
    readonly effort: boolean;
  };
}

/** How a wire format expresses what {@link Prefixes} appends. */
export interface PrefixWire<Shapes extends WireShapes> {
  nameOf(tool: Shapes["tool"]): string;
  /** The blocks that change instructions and tools, placed after a user message; empty without a change. */
  changes(
    first: Setup<Shapes>,
    from: Setup<Shapes>,
    to: Setup<Shapes>,
  ): readonly Shapes["change"][];
  /** The message that sets another effort for the user message that follows it. */
  effort(effort: Shapes["effort"]): Shapes["change"];
  /** Whether a new effort may apply from this turn on. */
  startsTurn(turn: Shapes["turn"] | undefined): boolean;
  /** The signatures of the turn's thinking, if the model binds thinking. */
  signaturesOf(turn: Shapes["turn"]): readonly string[];
  /** Undefined if the turn contains nothing else. */
  withoutThinking(turn: Shapes["turn"]): Shapes["turn"] | undefined;
}

/** Whether the change from one setup to another can be expressed between two messages. */
export function canAppend<Shapes extends WireShapes>(
  wire: PrefixWire<Shapes>,
  from: Setup<Shapes>,
  to: Setup<Shapes>,
  { appends }: Features,
): boolean {
  if (!appends.system && from.system !== to.system) return false;
  if (appends.tools === true) return true;
  const { removed, added } = toolChanges(wire, from, to);
  if (removed.length === 0 && added.length === 0) return true;
  return appends.tools === "added" && removed.length === 0 && from.tools.length > 0;
}

/** The removed and added tools; a tool with a new definition is both. */
export function toolChanges<Shapes extends WireShapes>(
  wire: Pick<PrefixWire<Shapes>, "nameOf">,
  from: Pick<Setup<Shapes>, "tools">,
  to: Pick<Setup<Shapes>, "tools">,
): { readonly removed: readonly Shapes["tool"][]; readonly added: readonly Shapes["tool"][] } {
  const textsOf = ({ tools }: Pick<Setup<Shapes>, "tools">) =>
    new Map(tools.map((tool) => [wire.nameOf(tool), JSON.stringify(tool)]));
  const [before, after] = [textsOf(from), textsOf(to)];
  const isSame = (tool: Shapes["tool"]): boolean =>
    before.get(wire.nameOf(tool)) === after.get(wire.nameOf(tool));
  return {
    removed: from.tools.filter((tool) => !isSame(tool)),
    added: to.tools.filter((tool) => !isSame(tool)),
  };
}

/** The text that gives a model new instructions. */
export function changedInstructions(system: string): string {
  return system === ""
    ? "The instructions given so far no longer apply."
    : `The instructions have changed. These replace all earlier ones:\n\n${system}`;
}

/** The types of a wire format that {@link PrefixWire} connects. */
export interface WireShapes {
  /** A message of the user's or the model's. */
  readonly turn: object;
  /** A change of instructions, tools or effort between two messages. */
  readonly change: object;
  readonly tool: object;
  readonly effort: string;
}

/** How OpenAI's formats name the author of instructions. */
type InstructionRole = "system" | "developer";

/** What the model reads beside the messages, without marks for the cache. */
export interface Setup<Shapes extends WireShapes> {
  readonly system: string;
  /** Of the messages that give instructions, where the format has two for them. */
  readonly role?: InstructionRole;
  readonly tools: readonly Shapes["tool"][];
  readonly effort: Shapes["effort"] | undefined;
}

/** What a model takes beyond the plain format. */
export interface Features {
  /** It refuses thinking that was made under another prefix, unless asked to drop it. */
  readonly bindsThinking: boolean;
  /** Changes that it reads between two messages. */
  readonly appends: {
    readonly system: boolean;
    /** `added`: further tools, but none is taken away or changed. */
    readonly tools: boolean | "added";
    readonly effort: boolean;
  };
}

/** How a wire format writes what {@link Prefixes} appends. */
export interface PrefixWire<Shapes extends WireShapes> {
  nameOf(tool: Shapes["tool"]): string;
  /** What changes instructions and tools, to be put after a user message; empty without a change. */
  changes(
    first: Setup<Shapes>,
    from: Setup<Shapes>,
    to: Setup<Shapes>,
  ): readonly Shapes["change"][];
  /** What sets another effort for the user message that follows. */
  effort(effort: Shapes["effort"]): Shapes["change"];
  /** Whether another effort may hold from this turn on. */
  startsTurn(turn: Shapes["turn"] | undefined): boolean;
  /** Of the turn's thinking, where the model binds it. */
  signaturesOf(turn: Shapes["turn"]): readonly string[];
  /** Undefined when nothing else is in it. */
  withoutThinking(turn: Shapes["turn"]): Shapes["turn"] | undefined;
}

/** Whether the change from one setup to another can be said between two messages. */
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

/** The tools that go and those that come; one with another definition does both. */
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

/** The text with which a model receives other instructions than before. */
export function changedInstructions(system: string): string {
  return system === ""
    ? "The instructions given so far no longer apply."
    : `The instructions have changed. These replace all earlier ones:\n\n${system}`;
}
